"""The zero-hit doctor at work in the background: what it finds is kept by the content of the run, for all sessions.

A long run takes seconds; the page shows how far it is and lets it be stopped, like any other job.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from engine.trace.diagnosis import Diagnosis
from engine.trace.doctor import diagnose
from engine.trace.hash_cache import MetBlock, met_blocks
from engine.trace.trace import Trace
from viz.pages.parts import doctor_words as say
from viz.pages.parts import page
from viz.pages.parts.jobs import Job, Report
from viz.pages.parts.visitor import shared

MAX_KEPT = 16
"""Runs whose diagnoses are kept."""
MAX_CHAINS = 64
"""Admissions whose blocks are kept."""

Diagnoses = list[tuple[Diagnosis, ...]]


def diagnoses(trace: Trace) -> Diagnoses | None:
    """By request its admissions; None while the page shows how far that is."""
    return _result(shared(_diagnoses, trace.run_id, trace), "comparing")


def chain(trace: Trace, diagnosis: Diagnosis) -> list[MetBlock] | None:
    """The blocks that an admission looked up; None while the page shows how far that is."""
    name = (trace.run_id, diagnosis.request, diagnosis.number)
    return _result(shared(_chain, name, trace, diagnosis), "reading")


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False, on_release=Job.stop)
def _diagnoses(run_id: str, _trace: Trace) -> Job[Diagnoses]:
    return Job(lambda report: diagnose(_trace, _counting(report, "compared")))


@st.cache_resource(max_entries=MAX_CHAINS, show_spinner=False, on_release=Job.stop)
def _chain(name: tuple[str, int, int], _trace: Trace, _diagnosis: Diagnosis) -> Job[list[MetBlock]]:
    return Job(lambda report: met_blocks(_trace, _diagnosis, _counting(report, "looked_up")))


def _counting(report: Report, note: str) -> Callable[[int, int], None]:
    text = say.words()[note]
    return lambda done, number: report(done / max(number, 1), text.format(done=done, all=number))


def _result(job: Job[Any], what: str) -> Any:
    words = say.words()
    return page.result_of(
        job,
        words[what],
        again=job.ask_again,
        back=words["again"],
        go_back=job.ask_again,
        is_player=False,
        stopped=(words["stopped"], words["again"]),
    )
