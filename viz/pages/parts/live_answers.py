"""The answers of a live run as text, as far as they have come, in a popover: each can be stopped, the run can be saved."""

from collections.abc import Mapping

import streamlit as st

from viz.pages.parts import download, page
from viz.pages.parts.live_runs import LiveRun, LiveRuns, LiveState
from viz.pages.parts.live_serving import Answer, Ask
from viz.pages.parts.words import beginning, counted, named

MAX_SHOWN = 30
"""Answers that are shown, the latest ones."""
HUES = "ABCDE"


def box(run: LiveRun, runs: LiveRuns) -> bool:
    """The popover; whether its button for the simulator was pressed."""
    with page.popover("Answers", "answers"):
        coming = run.coming
        hues = _hues(run)
        for name, ask in reversed(coming.items()):
            if ask is not None:
                _answer(run, runs, Answer(name, ask.prompt, (), 0, "", None, None), coming, "")
        for answer in reversed(run.answers[-MAX_SHOWN:]):
            _answer(run, runs, answer, coming, hues.get(answer.request_id, ""))
        for sentence in run.refused[-MAX_SHOWN:]:
            st.text(f"Not taken: {sentence}")
        if len(run.answers) > MAX_SHOWN:
            st.text(f"The latest {MAX_SHOWN} of {len(run.answers):,} requests.")
        if not run.answers and not run.refused and not coming:
            st.text("Nobody has been answered yet.")
        if run.state not in (LiveState.IDLE, LiveState.ENDED):
            return False
        with st.container(horizontal=True, key="live-after"):
            st.download_button(
                "Saved run (.kvscope)",
                lambda: download.saved_run(run.trace or run.arriving.trace()),
                "live.kvscope",
                "application/octet-stream",
                key="live-download",
                on_click="ignore",
            )
            return st.button("Replay by the simulator", key="live-replay")


def _hues(run: LiveRun) -> dict[str, str]:
    """The colours that the player gives to the requests, where it gives one to each: there are five at most, and no tree,
    whose branches are coloured instead."""
    answers = run.answers
    if "nodes" in run.arriving.header["tracks"] or len(answers) > len(HUES) or any(len(a.texts) > 1 for a in answers):
        return {}
    return {answer.request_id: hue for answer, hue in zip(answers, HUES, strict=False)}


def soon(run: LiveRun) -> str:
    """What is done after the step that runs now, which may take long; empty where nothing is."""
    if run.closing and not run.is_over:
        return "The run ends after this step"
    if run.state is not LiveState.RUNNING or not run.answers:
        return ""
    coming = run.coming
    taken, stopped = ([name for name in coming if (coming[name] is not None) is is_new] for is_new in (True, False))
    if taken:
        return f"{named(taken, 'is', 'are')} taken in after this step"
    return f"{named(stopped, 'stops', 'stop')} after this step" if stopped else ""


def _answer(run: LiveRun, runs: LiveRuns, answer: Answer, coming: Mapping[str, Ask | None], hue: str) -> None:
    """Who asks what, what it is told, how far that is. Every line has its place before there is anything in it."""
    name = answer.request_id
    with st.container(key=f"answer-{name}", border=True):
        with st.container(key=f"asked-{name}", horizontal=True, vertical_alignment="center", wrap=False):
            with st.container(key=f"{f'owner-{hue}' if hue else 'name'}-{name}"):
                st.text(name)
            st.text(beginning(answer.prompt), width="stretch")
            if not answer.status and not run.is_over and name not in coming:
                st.button("Stop", key=f"live-stop-{name}", on_click=runs.stop, args=(run, name))
        with st.container(key=f"told-{name}"):
            for text in answer.texts or ("",):
                st.text(text or "…")
        with st.container(key=f"times-{name}"):
            st.text(_awaited(run, coming[name]) if name in coming and not answer.status else _times(answer))


def _awaited(run: LiveRun, ask: Ask | None) -> str:
    """What becomes of a request that is to be taken in or stopped."""
    what = "is taken in" if ask is not None else "stops"
    return f"{what} after this step" if run.state is LiveState.RUNNING else f"{what} when this run has its turn"


def _times(answer: Answer) -> str:
    """ "28 tokens · first after 212 ms · finished after 4.1 s" """
    told = [counted(answer.num_tokens, "token")]
    if answer.ttft_s is not None:
        told.append(f"first after {answer.ttft_s * 1000:,.0f} ms")
    if not answer.status:
        told.append("going on")
    else:
        told.append(answer.status if answer.latency_s is None else f"{answer.status} after {answer.latency_s:,.1f} s")
    return " · ".join(told)
