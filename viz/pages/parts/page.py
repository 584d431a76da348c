"""The frame of a page: its margins, the bar in the header line, the box for problems, the wait for a job.

The player owns the height of the window, so the controls of a page stand in the line of the navigation. Whatever comes
from a file, a link or a scenario is shown by `st.text` or inside a table, never as markup.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages.parts.jobs import Job, State

Result = TypeVar("Result")

PATIENCE = 0.6
"""Seconds that a page waits for a job before it shows how far it is."""

_MARKUP = re.compile(r"[\\\\`*_{}\[\]()<>#+\-.!|~:$&^=\"'/@]")

_CSS = f"<style>{Path(__file__).with_name('page.css').read_text(encoding='utf-8')}</style>"


def begin() -> None:
    """What every page says first: its style."""
    st.html(_CSS)


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


def result_of(
    job: Job[Result],
    what: str,
    again: Callable[[], Any],
    back: str,
    go_back: Callable[[], Any],
    stop: Callable[[], Any] | None = None,
) -> Result | None:
    """The result of a job, or None while the page shows how far it is, that it was stopped, or why it failed.

    what             names the work: "The run is being computed"
    again            forgets the job, so that the next run of the page starts it anew
    back, go_back    label and action of the one button that leads away from a failure
    stop             what the Stop button does instead of stopping this job alone
    """
    job.wait(PATIENCE)
    if job.state is State.DONE:
        return job.result
    if job.state is State.FAILED:
        problem(job.problem, back, go_back)
    elif job.state is State.STOPPED:
        problem("This run was ended before it was finished.", "Run again", again, tag="Stopped")
    else:
        _wait(job, what, stop or job.stop)
    return None


@st.fragment(run_every=0.4)
def _wait(job: Job[Any], what: str, stop: Callable[[], Any]) -> None:
    if job.ended:
        st.rerun()
    with st.container(key="wait"):
        note = job.note or ("waiting for its turn" if job.state is State.WAITING else "starting")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{what}: {note}", width="stretch")
            st.button("Stop", on_click=stop, key="stop")
        st.progress(job.fraction)
