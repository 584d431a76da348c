"""Which rows of a file run, and when: order of arrival, window, rate, first N, ids that occur twice.

Times count from the first row in use. A window is in seconds from the first accepted arrival of the file, before the
rate is applied; it and the limit take sessions by their first round, and later rounds stay directly behind it.
"""

import itertools
import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from engine.request import Prompt, Request, SamplingParams
from scenarios.readers.errors import ReadError, quoted
from scenarios.readers.format import Row
from scenarios.readers.trace_file import Rejection, TraceFile
from scenarios.request_fields import own_content

MAX_ARRIVAL = 10**9
MAX_ID = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """`first` requests, arrivals of `window` = (from, to) seconds, times divided by `rate`, `qps` where none exist."""

    first: int | None = None
    window: tuple[float, float] | None = None
    rate: float = 1.0
    qps: float | None = None

    def __post_init__(self) -> None:
        if self.first is not None and (isinstance(self.first, bool) or self.first < 1):
            raise ReadError(f"first is {quoted(self.first)}; it has to be at least 1 request.")
        for name, value in (("rate", self.rate), ("qps", self.qps)):
            if value is not None and not 1e-9 <= value <= 1e9:
                raise ReadError(f"{name} is {quoted(value)}; it has to be a number from 1e-9 to 1e9.")
        if self.window is not None and not 0 <= self.window[0] < self.window[1]:
            low, high = self.window
            raise ReadError(
                f"window is {quoted(low)}:{quoted(high)}; it goes from a time of at least 0 to a later one."
            )


def draw_arrivals(rows: Sequence[Row], qps: float, seed: int = 0) -> None:
    """Poisson arrivals in file order: exponential gaps of 1 / `qps` seconds on average, the first at 0."""
    source = random.Random(seed)
    time = 0.0
    for row in rows:
        row.time = Decimal(time)
        time += source.expovariate(qps)


def select(rows: list[Row], ticks: int, selection: Selection, trace_file: TraceFile) -> None:
    """Fills `requests` and `lines` of the trace file, and says in its notes and rejections what was not taken."""
    rows.sort(key=lambda row: row.time)
    rows = _without_far_ones(rows, ticks, selection.rate, trace_file)
    if selection.window is not None:
        rows = _in_window(rows, ticks, selection.window, trace_file.notes)
    origin = rows[0].time if rows else 0
    names = _Names()
    for row in itertools.islice(_in_order(rows), selection.first):
        arrival = _seconds(row.time - origin, ticks) / selection.rate
        trace_file.requests.append(_request(row, arrival, len(trace_file.requests), names))
        trace_file.lines.append(row.line)
    trace_file.notes += names.notes()
    num_requests = len(trace_file.requests)
    if num_later := sum(request.after is not None for request in trace_file.requests):
        trace_file.notes.append(
            f"Later rounds, each of which arrives when the one before it has ended: {num_later:,} of {num_requests:,}."
        )
    if selection.first is not None and num_requests < selection.first:
        trace_file.notes.append(
            f"Requests asked for: {selection.first:,}; requests that can be used: {num_requests:,}; none is repeated."
        )


def _in_order(rows: Sequence[Row]) -> Iterator[Row]:
    """Every row and its later rounds; a round is told by its `after`."""
    for row in rows:
        yield row
        before = row
        for later in row.rounds:
            later.after = before
            yield later
            before = later


def _request(row: Row, arrival: float, index: int, names: "_Names") -> Request:
    row.request_id = names.unique(row.request_id)
    prompt = Prompt(((own_content(index), 0, row.prompt),)) if isinstance(row.prompt, int) else row.prompt
    request = Request(row.request_id, arrival, prompt, _sampling(row.output_len))
    if row.after is not None:
        request.arrival_time, request.after, request.delay = 0.0, row.after.request_id, row.delay
    if row.measured:
        request.measured = row.measured
    return request


@lru_cache(maxsize=65_536)
def _sampling(output_len: int) -> SamplingParams:
    """One object for all requests of an output length: a million rows have few lengths."""
    return SamplingParams(max_tokens=output_len)


def _seconds(difference: int | Decimal, ticks: int) -> float:
    return float(difference / ticks)


def _without_far_ones(rows: list[Row], ticks: int, rate: float, trace_file: TraceFile) -> list[Row]:
    """The most rows (sorted by time) that one run can span; those before and after them are rejected."""
    limit = MAX_ARRIVAL * ticks * rate
    if not rows or rows[-1].time - rows[0].time <= limit:
        return rows
    first, past = longest(rows, limit)
    begin, end = rows[first].time, rows[past - 1].time
    for far in (*rows[:first], *rows[past:]):
        gap, side = (begin - far.time, "before the first") if far.time < begin else (far.time - end, "after the last")
        text = (
            f"the row arrives {_seconds(gap, ticks) / rate:,.0f} seconds {side} of the {past - first:,} rows in use"
            f"{f' at the rate {rate:g}' if rate != 1 else ''}; a run spans at most {MAX_ARRIVAL:,} seconds."
        )
        for line in dict.fromkeys(row.line for row in (far, *far.rounds)):
            trace_file.rejected.append(Rejection(line, "bad_time", text))
    trace_file.rejected.sort(key=lambda rejection: rejection.line)
    return rows[first:past]


def longest(rows: Sequence[Row], limit: float) -> tuple[int, int]:
    """(first, past) of the longest stretch of rows whose times differ by at most `limit`; the earliest of equal ones."""
    best = (0, 0)
    first = 0
    for number, row in enumerate(rows):
        while row.time - rows[first].time > limit:
            first += 1
        if number + 1 - first > best[1] - best[0]:
            best = (first, number + 1)
    return best


def _in_window(rows: list[Row], ticks: int, window: tuple[float, float], notes: list[str]) -> list[Row]:
    times = [_seconds(row.time - rows[0].time, ticks) for row in rows]
    low, high = (bisect_left(times, edge) for edge in window)
    since = f"; times count from the first of them, {times[low]:g} s after the start of the file" if low < high else ""
    notes.append(
        f"Arrivals in the window from {window[0]:g} to {window[1]:g} s: {high - low:,} of {len(rows):,}{since}."
    )
    return rows[low:high]


class _Names:
    """Ids as one line of text that nobody else in the file has: the second `a` becomes `a#2`."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}
        self._num_repeated = self._num_cut = 0

    def unique(self, name: str) -> str:
        if not name.isascii():
            name = name.encode("utf-8", "replace").decode()
        if len(name) > MAX_ID:
            name = name[:MAX_ID]
            self._num_cut += 1
        if name in self._used:
            self._num_repeated += 1
            name = self._free(name)
        self._used.add(name)
        return name

    def notes(self) -> list[str]:
        notes = []
        if self._num_cut:
            notes.append(f"Ids that were cut to {MAX_ID} characters: {self._num_cut:,}.")
        if self._num_repeated:
            notes.append(f"Requests whose id came before, and which got a number like a#2: {self._num_repeated:,}.")
        return notes

    def _free(self, name: str) -> str:
        for number in itertools.count(self._next.get(name, 2)):
            ending = f"#{number}"
            free = name[: MAX_ID - len(ending)] + ending
            if free not in self._used:
                self._next[name] = number + 1
                return free
        raise AssertionError("counting does not end")
