"""Reading a whole trace file: open, recognise, take row by row, select.

The file is a stream and the rows are few bytes each; what is kept is bounded by a number of rows and a number of prompt
pieces, and a note says when a file has more. A bad row costs itself only.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from scenarios.fields import shortened
from scenarios.readers.detection import Recognised, recognise
from scenarios.readers.errors import ReadError, RowError
from scenarios.readers.format import Format, Row
from scenarios.readers.records import BlankLines
from scenarios.readers.selection import Selection, draw_arrivals, select
from scenarios.readers.source import open_lines
from scenarios.readers.trace_file import Rejection, TraceFile

MAX_ROWS = 1_000_000
MAX_PIECES = 10_000_000
"""Runs and token ids of all prompts together."""
_PROGRESS_ROWS = 4096


def read(
    source: Path | bytes | BinaryIO,
    *,
    name: str = "",
    format: str = "auto",
    first: int | None = None,
    window: tuple[float, float] | None = None,
    rate: float = 1.0,
    qps: float | None = None,
    filter: Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> TraceFile:
    """The requests of a trace file, in order of arrival, with an account of every row.

    `source` is a path, the bytes themselves, or an open binary file (read from its beginning where it can seek).
    `first` takes that many requests, `window` those that arrive in [from, to) seconds after the first row, `rate` divides
    all arrivals (2 doubles the load; waits between rounds stay), `filter` keeps rows with these column values. Files of
    lengths only get Poisson arrivals of `qps` a second. `progress(num_rows)` is called now and then and may raise to stop.
    Raises ReadError, one sentence, when the file or an option cannot be used at all.
    """
    selection = Selection(first, window, rate, qps)
    name = name or (Path(source).name if isinstance(source, (str, Path)) else "the file")
    label = shortened(name)
    blank = BlankLines()
    with open_lines(source, label) as lines:
        recognised = recognise(lines, format, filter or {}, blank)
        layout, table, _ = recognised
        if not layout.has_arrivals and qps is None:
            raise ReadError(
                f"{label} has lengths but no arrival times; say how many requests arrive per second with --qps, e.g. --qps 2."
            )
        trace_file = TraceFile(name, layout.name, block_size=layout.block_size, blank_lines=blank.numbers)
        rows, cut = _accepted_rows(recognised, trace_file, progress)
    if trace_file.num_rows == 0:
        raise ReadError(f"{label} has the header of {layout.name} but no rows.")
    trace_file.ignored_columns = [column.encode("utf-8", "replace").decode()[:100] for column in table.ignored]
    trace_file.notes = _notes(cut or lines.cut, blank, layout)
    if not layout.has_arrivals:
        trace_file.notes.append(
            f"The file has no arrivals: they are drawn, {qps:g} a second on average (Poisson, seed 0)."
        )
        draw_arrivals(rows, qps or 1.0)
    elif qps is not None:
        trace_file.notes.append(
            "The file has arrival times, so --qps is not used; --rate makes the load higher or lower."
        )
    select(rows, layout.ticks, selection, trace_file)
    if not trace_file.requests:
        trace_file.notes.append("No row of the file can be used.")
    return trace_file


def _accepted_rows(
    recognised: Recognised, trace_file: TraceFile, progress: Callable[[int], None] | None
) -> tuple[list[Row], str]:
    """All readable rows in file order, and the limit that ended the reading early ("" if none did)."""
    layout, table, records = recognised
    rows: list[Row] = []
    num_pieces = num_requests = 0
    cut = ""
    for line, record in records:
        if trace_file.num_rows == MAX_ROWS or num_requests >= MAX_ROWS:
            cut = f"{MAX_ROWS:,} rows or requests"
            break
        if num_pieces > MAX_PIECES:
            cut = f"{MAX_PIECES:,} block ids and token ids"
            break
        if progress is not None and trace_file.num_rows % _PROGRESS_ROWS == 0:
            progress(trace_file.num_rows)
        trace_file.num_rows += 1
        try:
            if isinstance(record, RowError):
                raise record
            values = table.pick(record)
            row = None if values is None else layout.parse(values, line, trace_file.num_rows - 1)  # type: ignore[arg-type]
        except RowError as error:
            trace_file.rejected.append(Rejection(line, error.reason, error.text))
            continue
        if row is not None:
            rows.append(row)
            num_requests += 1 + len(row.rounds)
            num_pieces += row.num_pieces + sum(later.num_pieces for later in row.rounds)
    rows.extend(layout.finish())
    return rows, cut


def _notes(cut: str, blank: BlankLines, layout: Format) -> list[str]:
    notes = layout.notes()
    if cut:
        notes.append(f"Only the first {cut} were read; the rest of the file is not used.")
    if blank.count > len(blank.numbers):
        notes.append(f"{blank.count:,} lines are blank; the first {len(blank.numbers):,} are listed.")
    return notes
