"""The zero-hit doctor below the player: for a chosen request what it found in the cache and the one fact that kept it
from more, at each of its admissions, with the way to the frame; beside it all requests in a table, as they were first
admitted. What is said stands in `doctor_words`, the work is done in `doctor_jobs`.
"""

from typing import Any

import streamlit as st

from engine.trace.doctor import Diagnosis, frame_name
from engine.trace.trace import Trace
from viz.pages.parts import doctor_jobs, hash_cache, jump, page
from viz.pages.parts import doctor_words as say
from viz.pages.parts.request_table import safe

MAX_ROWS = 1_000
TABLE = "doctor-table"
REQUEST = "doctor-request"
ADMISSION = "doctor-admission"

Admissions = tuple[Diagnosis, ...]
"""All of one request, at least one."""


def show(trace: Trace) -> None:
    """The whole section for one run."""
    words = say.words()
    page.heading(words["heading"])
    if not trace.requests:
        st.text(words["no_requests"])
        return
    diagnoses = doctor_jobs.diagnoses(trace)
    if diagnoses is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        wanted = st.text_input(
            words["find"], key="doctor-find", placeholder=words["find"], label_visibility="collapsed"
        )
        only_zero = st.toggle(words["only_zero"], key="doctor-zero")
        listed = [own for own in diagnoses if _is_wanted(trace, own[0], wanted, only_zero)]
        shown = listed[:MAX_ROWS]
        if not shown:
            st.text(words["nobody"])
            return
        if len(listed) > MAX_ROWS:
            st.text(words["first_of"].format(shown=MAX_ROWS, all=len(listed)))
        _table(trace, shown)
    with right:
        diagnosis = _admission(trace, _chosen(trace, shown))
        _explain(trace, diagnosis)
        hash_cache.show(trace, diagnosis)


def _is_wanted(trace: Trace, diagnosis: Diagnosis, name: str, only_zero: bool) -> bool:
    is_named = name.strip().lower() in str(trace.requests[diagnosis.request]["id"]).lower()
    return is_named and not (only_zero and (diagnosis.hit or diagnosis.reason == "not_admitted"))


def _chosen(trace: Trace, shown: list[Admissions]) -> Admissions:
    by_request = {own[0].request: own for own in shown}
    number = st.selectbox(
        say.words()["request"],
        list(by_request),
        format_func=lambda r: str(trace.requests[r]["id"])[: say.MAX_ID],
        key=REQUEST,
        label_visibility="collapsed",
    )
    return by_request.get(number, shown[0])


def _admission(trace: Trace, own: Admissions) -> Diagnosis:
    """One of the admissions of a request, the only one without asking."""
    if len(own) == 1:
        return own[0]
    number = st.selectbox(
        say.words()["admission"],
        range(len(own)),
        format_func=lambda number: say.admission(trace, own[number], len(own)),
        key=f"{ADMISSION}-{own[0].request}",
        label_visibility="collapsed",
    )
    return own[number or 0]


def _explain(trace: Trace, diagnosis: Diagnosis) -> None:
    found = say.what_was_found(trace, diagnosis)
    if found:
        st.text(found)
    st.text(say.why_not_more(trace, diagnosis))
    if diagnosis.blocking >= 0 and st.button(say.button(trace, diagnosis), key="doctor-go"):
        jump.to(frame_name(trace, diagnosis.blocking))


def _table(trace: Trace, shown: list[Admissions]) -> None:
    """One row a request; choosing a row chooses the request."""

    def choose() -> None:
        rows = st.session_state[TABLE].selection.rows
        if rows:
            st.session_state[REQUEST] = shown[rows[0]][0].request

    st.dataframe(
        columns(trace, shown),
        hide_index=True,
        key=TABLE,
        on_select=choose,
        selection_mode="single-row",
        alt=say.words()["heading"],
    )


def columns(trace: Trace, requests: list[Admissions]) -> dict[str, list[Any]]:
    """Column title -> cells, one for each request as it was first admitted."""
    rows = [
        (
            safe(str(trace.requests[d.request]["id"])[: say.MAX_ID]),
            trace.requests[d.request]["prompt_len"],
            sum(each.event >= 0 for each in own),
            d.hit,
            d.possible,
            say.short_reason(trace, d),
            say.iteration(trace, d.blocking) if d.blocking >= 0 else None,
        )
        for own in requests
        for d in own[:1]
    ]
    return {title: list(cells) for title, cells in zip(say.words()["columns"], zip(*rows, strict=True), strict=True)}
