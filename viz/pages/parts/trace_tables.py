"""Tables about a trace file: what was read of it, every row that was refused, and its requests beside their run.

Names and ids come from the file, so they are shown as text or in table cells, and a table is cut at a stated number of
rows.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine.request import Request
from scenarios.readers import TraceFile
from viz.pages.parts import page

MAX_ROWS = 1_000
MAX_ID = 60


def what_was_read(name: str, file: TraceFile) -> None:
    """The detected format, what became of the rows, and notes, in a few lines."""
    page.heading(name)
    st.text(
        f"Read as {file.format}. {file.num_rows:,} rows: {file.num_accepted:,} accepted ({len(file.requests):,} requests), "
        f"{len(file.rejected):,} rejected, {file.num_left_out:,} left out by the choice at the right."
    )
    for note in file.notes:
        st.text(note)
    if file.ignored_columns:
        st.text(f"Columns that were not needed: {', '.join(file.ignored_columns)[:500]}.")


def rejected_rows(file: TraceFile) -> None:
    """Line, code and sentence of every rejected row."""
    if not file.rejected:
        return
    page.heading("Rejected rows" + _first_of(len(file.rejected)))
    rejected = file.rejected[:MAX_ROWS]
    st.dataframe(
        {
            "line": [row.line for row in rejected],
            "code": [row.reason for row in rejected],
            "why": [row.text for row in rejected],
        },
        hide_index=True,
    )


def requests_of_file(file: TraceFile) -> None:
    page.heading("Requests" + _first_of(len(file.requests)))
    st.dataframe(_columns(file.requests[:MAX_ROWS]), hide_index=True)


def _columns(requests: Sequence[Request]) -> dict[str, list[Any]]:
    return {
        "request": [request.request_id[:MAX_ID] for request in requests],
        "arrival s": [None if request.after is not None else request.arrival_time for request in requests],
        "after": [(request.after or "")[:MAX_ID] for request in requests],
        "prompt tokens": [request.prompt.num_tokens for request in requests],
        "output tokens": [request.sampling.max_tokens for request in requests],
    }


def _first_of(count: int) -> str:
    return f" (the first {MAX_ROWS:,} of {count:,})" if count > MAX_ROWS else f" ({count:,})"
