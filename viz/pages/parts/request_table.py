"""One row a request of a finished run: what it asked for, what became of it, its times, and what a file measured.

On the page the first thousand rows; all of them in a CSV file. Ids come from users: they stay exact, except that a text
which a spreadsheet would take for a formula gets an apostrophe before it.
"""

import csv
import io
import re
from collections.abc import Mapping
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np
import streamlit as st

from engine.request import SequenceStatus
from engine.trace.endings import finish_reasons
from engine.trace.metrics import Metrics
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, REASONS, RESOURCES
from viz.pages.parts import page
from viz.pages.parts.runs import Finished
from viz.pages.parts.trace_tables import without_empty

MAX_ROWS = 1_000
MAX_ID = 60
FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
MEASURED = ("queue_s", "ttft_s", "tpot_s", "latency_s")
"""Times that a file may bring along, in seconds."""

STATUS = {
    SequenceStatus.PENDING: "not arrived",
    SequenceStatus.WAITING: "waiting",
    SequenceStatus.PREFILL: "running",
    SequenceStatus.DECODE: "running",
    SequenceStatus.PREEMPTED: "preempted",
    SequenceStatus.SWAPPED: "swapped out",
    SequenceStatus.FINISHED: "finished",
    SequenceStatus.REJECTED: "refused",
}
_NOUNS = {"none": "", "context": "tokens of context", "steps": "iterations"}

Ends = list[str | None]
"""Finish reasons of the samples of one request."""


def columns(trace: Trace, metrics: Metrics) -> dict[str, list[Any]]:
    """Column title -> values, one a request in the order of the trace; None where a time never happened."""
    figures, requests, ends = metrics.requests, trace.requests, _ends(trace)
    table: dict[str, list[Any]] = {
        "request": [request["id"] for request in requests],
        "arrival s": _times(figures.arrival),
        "prompt tokens": [request["prompt_len"] for request in requests],
        "output tokens": figures.num_output_tokens.tolist(),
        "asked for": [request["output_len"] * request["n"] for request in requests],
        "status": _status(trace, metrics, ends),
        "reason": _reasons(trace, ends),
        "first token after s": _times(figures.ttft),
        "latency s": _times(figures.latency),
        "latency per token s": _times(figures.normalized_latency),
        "preempted": figures.num_preemptions.tolist(),
    }
    for name in MEASURED:
        brought = [(request.get("measured") or {}).get(name) for request in requests]
        if any(value is not None for value in brought):
            table[f"measured {name.removesuffix('_s')} s"] = brought
    return table


def as_csv(table: Mapping[str, list[Any]]) -> bytes:
    """The table as UTF-8 with a byte order mark, as spreadsheets expect it; an empty cell for None."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(map(safe, table))
    writer.writerows(map(safe, row) for row in zip(*table.values(), strict=True))
    return text.getvalue().encode("utf-8-sig", errors="replace")


def safe(cell: Any) -> Any:
    """A text that a spreadsheet would run as a formula, made harmless; every other cell as it is."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_SIGNS) else cell


def show(run: str, finished: Finished) -> None:
    """The table with its download; the file is written when somebody asks for it."""
    num_requests = len(finished.trace.requests)
    if not num_requests:
        st.text("Nobody asked for anything: this run has no request.")
        return
    table = columns(finished.trace, finished.metrics)
    shown = {title: list(islice(values, MAX_ROWS)) for title, values in table.items()}
    shown["request"] = [_short(name) for name in shown["request"]]
    shown = without_empty(shown)
    of = (
        f"the first {MAX_ROWS:,} of {num_requests:,}; the file has all"
        if num_requests > MAX_ROWS
        else f"{num_requests:,}"
    )
    page.heading(f"Requests of this run ({of})")
    st.dataframe(shown, hide_index=True, key="requests", alt=f"Requests of run {run}, one a row")
    st.download_button(
        "Download as CSV",
        lambda: as_csv(table),
        file_name=f"{_file_name(run)}-requests.csv",
        mime="text/csv",
        key="requests-csv",
        on_click="ignore",
    )


def _status(trace: Trace, metrics: Metrics, ends: list[Ends]) -> list[str]:
    if "requests" in trace.tracks:
        codes = trace.cut(event=trace.num_events).tracks["requests"]["status"]
        told = [STATUS[SequenceStatus(code)] for code in codes.tolist()]
        return ["aborted" if "abort" in own else status for status, own in zip(told, ends, strict=True)]
    is_done = np.isfinite(metrics.requests.finish)
    known = zip(is_done, metrics.requests.rejected, strict=True)
    return ["finished" if done else "refused" if no else "not published" for done, no in known]


def _ends(trace: Trace) -> list[Ends]:
    """By request the finish reasons of its samples; none where the trace does not publish them."""
    if "sequences" not in trace.tracks:
        return [[] for _ in trace.requests]
    reasons = finish_reasons(trace)
    return [reasons[each["first_sequence"] : each["first_sequence"] + each["n"]] for each in trace.requests]


def _reasons(trace: Trace, ends: list[Ends]) -> list[str]:
    """Why each request ended: "stop", "length" or "abort", all of them where its samples differ; for a refused one the code
    of the decision, and the operands of its rule."""
    reasons = [", ".join(dict.fromkeys(filter(None, own))) for own in ends]
    chosen = trace.decisions["action"] == ACTIONS.index("reject")
    columns = (
        trace.decisions[key][chosen].tolist() for key in ("request", "reason", "resource", "needed", "available")
    )
    for request, reason, resource, needed, available in zip(*columns, strict=True):
        noun = _NOUNS.get(RESOURCES[resource], RESOURCES[resource])
        operands = f": needs {needed:,} {noun}, there are {available:,}" if noun else ""
        reasons[request] = REASONS[reason].replace("_", " ") + operands
    return reasons


def _times(values: np.ndarray) -> list[float | None]:
    return [round(value, 9) if isfinite(value) else None for value in values.tolist()]


def _short(name: str) -> str:
    return name if len(name) <= MAX_ID else name[: MAX_ID - 1] + "…"


def _file_name(run: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", run).strip("-")[:MAX_ID] or "run"
