"""Tables about an uploaded file: what was read of it, every row that was refused, and the requests that will run.

Names and ids come from the file, so they are shown as text or in table cells, and a table is cut at a stated number of
rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine.request import Request
from scenarios.readers import TraceFile
from scenarios.scenario import Scenario
from scenarios.source import Source
from viz.pages.parts import formats, page
from viz.pages.parts.runs import LANGUAGE
from viz.pages.parts.uploads import Upload
from viz.pages.parts.words import counted, on_screen

MAX_ROWS = 1_000
MAX_ID = 60


def what_was_read(upload: Upload, source: Source) -> None:
    """The kind of the file, what became of its rows or what it holds, and notes, in a few lines."""
    page.heading(upload.name)
    if source.file is not None:
        _trace_file(source.file)
    elif source.scenario is not None:
        _scenario(source.scenario)
    elif source.trace is not None:
        _saved_run(source)


def _trace_file(file: TraceFile) -> None:
    st.text(
        f"Read as {file.format}. {file.num_rows:,} rows: {file.num_accepted:,} accepted "
        f"({counted(len(file.requests), 'request')}), {len(file.rejected):,} rejected, {file.num_left_out:,} left out by the choice at the right."
    )
    roles = formats.roles(file.format)
    if roles:
        st.text(f"{roles[0].upper()}{roles[1:]}.")
    for note in file.notes:
        st.text(on_screen(note))
    if file.ignored_columns:
        st.text(f"Columns that were not needed: {', '.join(file.ignored_columns)[:500]}.")


def _scenario(scenario: Scenario) -> None:
    entries, noun = (scenario.ops, "operation") if scenario.ops is not None else (scenario.all_requests(), "request")
    title = scenario.title.get(LANGUAGE, scenario.name)
    st.text(f"A scenario file: {title}. {counted(len(entries), noun)}; it runs as {_listed(scenario)}.")
    st.text(scenario.story.get(LANGUAGE, ""))


def _listed(scenario: Scenario) -> str:
    return ", ".join(run.name for run in scenario.runs)


def _saved_run(source: Source) -> None:
    trace = source.trace
    assert trace is not None
    size = f"{counted(len(trace.requests), 'request')}, {counted(trace.num_steps, 'iteration')}"
    title = trace.header.get("title") or f"{source.name}, {source.run_name}"
    remark = trace.header.get("remark", "")
    st.text(f"A saved run: {title}. {f'{remark}. ' if remark else ''}{size}. It keeps its settings.")


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
            "why": [on_screen(row.text) for row in rejected],
        },
        hide_index=True,
    )


def requests_of_file(file: TraceFile) -> None:
    page.heading("Requests" + _first_of(len(file.requests)))
    st.dataframe(_columns(file.requests[:MAX_ROWS]), hide_index=True)


def _columns(requests: Sequence[Request]) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {
        "request": [request.request_id[:MAX_ID] for request in requests],
        "arrival s": [None if request.after is not None else request.arrival_time for request in requests],
        "after": [(request.after or "")[:MAX_ID] for request in requests],
        "prompt tokens": [request.prompt.num_tokens for request in requests],
        "output tokens": [request.sampling.max_tokens for request in requests],
    }
    return without_empty(table)


def without_empty(table: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns that say something."""
    return {title: values for title, values in table.items() if any(value not in (None, "") for value in values)}


def _first_of(count: int) -> str:
    return f" (the first {MAX_ROWS:,} of {count:,})" if count > MAX_ROWS else f" ({count:,})"
