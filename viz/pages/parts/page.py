"""The frame of a page: its margins, the bar in the header line, the box for problems, the wait for a job.

The player owns the height of the window, so the controls of a page stand in the line of the navigation. Whatever comes
from a file, a link or a scenario is shown by `st.text` or inside a table, never as markup.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages.parts.jobs import Job, State

Result = TypeVar("Result")

AT_ONCE = 0.1
"""Seconds that a page waits for a job before it says that it is being computed."""
PATIENCE = 0.6
"""Seconds after which it also shows how far the job is, and how to stop it."""
_MISTAKE = "link mistake"

_MARKUP = re.compile(r"[\\\\`*_{}\[\]()<>#+\-.!|~:$&^=\"'/@]")

_CSS = f"<style>{Path(__file__).with_name('page.css').read_text(encoding='utf-8')}</style>"
_SCRIPTS = "".join(
    f"<script>{Path(__file__).with_name(name).read_text(encoding='utf-8')}</script>"
    for name in ("server_lost.js", "popover_focus.js", "page_top.js")
)

_OUTLINES = """<div class="outlines"><i></i><i></i><i></i><i></i><i></i></div>"""
"""Grid, tables, inspector, timeline, transport."""


def begin() -> None:
    """What every page says first: its style, what it does without its server, where the focus goes, and that it begins
    at its top."""
    st.html(_CSS)
    st.html(_SCRIPTS, unsafe_allow_javascript=True)


def bar() -> DeltaGenerator:
    """The controls of this page, in the line of the navigation."""
    return st.container(
        key="bar", horizontal=True, vertical_alignment="center", horizontal_alignment="right", wrap=False
    )


def plain(text: str) -> str:
    """Text for a label: Streamlit reads Markdown there, so every sign that could mean something is escaped."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def heading(text: str) -> None:
    with st.container(key=f"heading-{crc32(text.encode())}"):
        st.text(text)


def headline(text: str, remark: str = "") -> None:
    with st.container(key="headline"):
        st.text(text)
        if remark:
            st.text(remark)


def problem(
    sentence: str, back: str | None = None, go_back: Callable[[], Any] | None = None, tag: str = "Cannot show this"
) -> None:
    """One sentence in place of what cannot be shown, and one button that leads back."""
    number = crc32(sentence.encode())
    with st.container(key=f"problem-{number}", horizontal=True, vertical_alignment="center", wrap=False):
        with st.container(key=f"tag-{number}"):
            st.text(tag)
        st.text(sentence, width="stretch")
        if back and go_back:
            st.button(back, on_click=go_back, key=f"back-{number}")


def notice(name: str, tag: str, sentence: str, action: str, act: Callable[[], Any]) -> None:
    """One sentence beside a page that shows something all the same, with one button. It stands in the line of the
    navigation, in the place of the bar, so that the player keeps its height."""
    with st.container(key=f"notice-{name}", horizontal=True, vertical_alignment="center", wrap=False):
        with st.container(key=f"tag-of-{name}"):
            st.text(tag)
        st.text(sentence, width="stretch")
        st.button(action, on_click=act, key=f"act-on-{name}")


def remember_mistake(sentences: Sequence[str], shown: Any) -> None:
    """Keep what is wrong with the link, the first sentence of it, for as long as `shown` is on the page."""
    if sentences:
        others = {1: "", 2: " There is one more."}.get(len(sentences), f" There are {len(sentences) - 1} more.")
        st.session_state[_MISTAKE] = (shown, sentences[0][:1].upper() + sentences[0][1:] + others)


def link_mistake(shown: Any) -> None:
    """Say what is wrong with the link until somebody closes it, or until something else than `shown` is on the page."""
    state = st.session_state
    place, sentence = state.get(_MISTAKE) or (None, "")
    if sentence and place == shown:
        notice("link", "The link has a mistake", sentence, "Close", lambda: state.pop(_MISTAKE, None))


def popover(label: str, key: str) -> Any:
    """A popover of the bar that `close_popover(key)` closes in the next run of the page.

    Opening and closing it tells the server nothing: a click on a tab below would otherwise change two things at once, of
    which one belongs to a fragment. It is closed by another one in its place, since a new popover is a closed one.
    """
    return st.popover(label, key=f"popover-{key}-{st.session_state.get(_closed(key), 0)}", width="content")


def close_popover(key: str) -> None:
    st.session_state[_closed(key)] = st.session_state.get(_closed(key), 0) + 1


def _closed(key: str) -> str:
    return f"times {key} was closed"


def result_of(
    job: Job[Result],
    what: str,
    again: Callable[[], Any],
    back: str,
    go_back: Callable[[], Any],
    stop: Callable[[], Any] | None = None,
    failed: Callable[[str], Any] | None = None,
    is_player: bool = True,
    stopped: tuple[str, str] = ("This run was ended before it was finished.", "Run again"),
) -> Result | None:
    """The result of a job, or None while the page shows how far it is, that it was stopped, or why it failed.

    what             names the work: "The run is being computed"
    again            forgets the job, so that the next run of the page starts it anew
    back, go_back    label and action of the one button that leads away from a failure
    stop             what the Stop button does instead of stopping this job alone
    failed           is told why the job failed, instead of the reader
    is_player        whether the outlines of the player may stand where the result will
    stopped          what is said after Stop, and the label of `again`
    """
    slot = st.empty()
    if not job.wait(AT_ONCE):
        # as deep as a fragment lies, so that what `_wait` draws takes the place of all of it
        with slot.container(), st.container():
            _loading(job, what, None, is_player)
        if not job.wait(PATIENCE):
            with slot.container():
                _wait(job, what, stop or job.stop, is_player)
            return None
        slot.empty()
    if job.state is State.DONE:
        return job.result
    if job.state is State.FAILED:
        if failed is not None:
            failed(job.problem)
        else:
            problem(job.problem, back, go_back)
    else:
        sentence, label = stopped
        problem(sentence, label, again, tag="Stopped")
    return None


@st.fragment(run_every=0.4)
def _wait(job: Job[Any], what: str, stop: Callable[[], Any], is_player: bool) -> None:
    if job.ended:
        st.rerun()
    _loading(job, what, stop, is_player)


def _loading(job: Job[Any], what: str, stop: Callable[[], Any] | None, is_player: bool) -> None:
    """The sentence box with what is known so far, and the outlines of what will stand below it."""
    note = job.note or ("it waits for its turn" if job.state is State.WAITING else "it begins")
    with st.container(key=f"wait-{crc32(what.encode())}{'' if stop is None else '-long'}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{what}: {note}", width="stretch")
            if stop is not None:
                st.button("Stop", on_click=stop, key="stop")
        st.progress(job.fraction)
    if is_player:
        st.html(_OUTLINES)
