"""The answers of a live run as text, as far as they have come, in a popover: each can be stopped, the run can be saved."""

import streamlit as st

from viz.pages.parts import download, page
from viz.pages.parts.live_runs import LiveRun, LiveRuns, LiveState
from viz.pages.parts.live_serving import Answer
from viz.pages.parts.words import beginning

MAX_SHOWN = 30
"""Answers that are shown, the latest ones."""


def box(run: LiveRun, runs: LiveRuns) -> bool:
    """The popover; whether its button for the simulator was pressed."""
    with page.popover("Answers", "answers"):
        for answer in reversed(run.answers[-MAX_SHOWN:]):
            _answer(run, runs, answer)
        for sentence in run.refused[-MAX_SHOWN:]:
            st.text(f"Not taken: {sentence}")
        if len(run.answers) > MAX_SHOWN:
            st.text(f"The latest {MAX_SHOWN} of {len(run.answers):,} requests.")
        if not run.answers and not run.refused:
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


def _answer(run: LiveRun, runs: LiveRuns, answer: Answer) -> None:
    """Who asks what, what it is told, how far that is. Every line has its place before there is anything in it."""
    name = answer.request_id
    with st.container(key=f"answer-{name}", border=True):
        with st.container(key=f"asked-{name}", horizontal=True, vertical_alignment="center", wrap=False):
            st.text(name)
            st.text(beginning(answer.prompt), width="stretch")
            if not answer.status and not run.is_over:
                st.button("Stop", key=f"live-stop-{name}", on_click=runs.stop, args=(run, name))
        with st.container(key=f"told-{name}"):
            for text in answer.texts:
                st.text(text or "…")
        with st.container(key=f"times-{name}"):
            st.text(_times(answer))


def _times(answer: Answer) -> str:
    """ "28 tokens · first after 212 ms · finished after 4.1 s" """
    told = ["1 token" if answer.num_tokens == 1 else f"{answer.num_tokens:,} tokens"]
    if answer.ttft_s is not None:
        told.append(f"first after {answer.ttft_s * 1000:,.0f} ms")
    if not answer.status:
        told.append("going on")
    else:
        told.append(answer.status if answer.latency_s is None else f"{answer.status} after {answer.latency_s:,.1f} s")
    return " · ".join(told)
