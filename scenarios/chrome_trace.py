"""Runs as Chrome trace events, to be opened in Perfetto (ui.perfetto.dev) or chrome://tracing.

Each run has two processes: the engine, with one slice a step and counters for memory and queue, and the requests, with
one track a sequence. Slices of a track follow each other and never overlap, because a viewer expects nesting. Times
are whole microseconds, so that the end of a slice is exactly the start of the next, and never negative.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, Any

import numpy as np

from engine.request import SequenceStatus
from engine.trace.holes import QUEUED
from engine.trace.rows import Track
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS

Event = dict[str, Any]
INSTANTS = ("rejected", "preempted", "copied", "written_in_place", "moved_out", "moved_in")
LABELS = {
    SequenceStatus.WAITING: "waiting",
    SequenceStatus.PREFILL: "prefill",
    SequenceStatus.DECODE: "decode",
    SequenceStatus.PREEMPTED: "preempted",
    SequenceStatus.SWAPPED: "swapped",
}


@dataclass(frozen=True, slots=True)
class Slice:
    """Something that a track does from `start` to `end`, in seconds."""

    track: str
    name: str
    start: float
    end: float
    args: Mapping[str, int] = field(default_factory=dict)


def write(traces: Mapping[str, Trace], file: IO[str]) -> None:
    """Write runs by name as one JSON object, one event a line."""
    file.write('{"displayTimeUnit": "ms", "traceEvents": [')
    separator = "\n"
    for number, (name, trace) in enumerate(traces.items()):
        for event in events(trace, name=name, first_pid=2 * number + 1):
            file.write(separator + json.dumps(event, allow_nan=False))
            separator = ",\n"
    file.write("\n]}\n")


def events(trace: Trace, *, name: str = "", first_pid: int = 1) -> Iterator[Event]:
    """All events of a run: process `first_pid` is the engine, `first_pid + 1` holds the requests."""
    clock = _Clock.of(trace)
    title = f"{name}: " if name else ""
    yield _metadata("process_name", first_pid, 0, f"{title}engine")
    yield from slice_events(_steps(trace), first_pid, clock.origin)
    yield from _counters(trace, first_pid, clock)
    yield _metadata("process_name", first_pid + 1, 0, f"{title}requests")
    tracks = _track_names(trace)
    yield from slice_events(_lives(trace, tracks, clock), first_pid + 1, clock.origin, tracks.values())
    threads = {sequence: number for number, sequence in enumerate(tracks, start=1)}
    yield from _instants(trace, first_pid + 1, clock, threads)


def slice_events(
    slices: Iterable[Slice], pid: int = 1, origin: float = 0.0, tracks: Iterable[str] = ()
) -> Iterator[Event]:
    """Slices as complete ("X") events; each track gets a thread id of its own, in the order of `tracks` and first use.

    Raises ValueError where two slices of a track overlap in part.
    """
    thread_ids: dict[str, int] = {}
    for track in tracks:
        thread_ids[track] = len(thread_ids) + 1
        yield _metadata("thread_name", pid, thread_ids[track], track)
    busy_until: dict[str, int] = {}
    for entry in slices:
        if entry.track not in thread_ids:
            thread_ids[entry.track] = len(thread_ids) + 1
            yield _metadata("thread_name", pid, thread_ids[entry.track], entry.track)
        start, end = _microseconds(entry.start - origin), _microseconds(entry.end - origin)
        if start < busy_until.get(entry.track, 0):
            raise ValueError(
                f"{entry.name!r} of {entry.track!r} begins at {start} us, before the slice before it ended."
            )
        busy_until[entry.track] = end
        if end > start:
            yield {"ph": "X", "pid": pid, "tid": thread_ids[entry.track], "name": entry.name, "ts": start} | {
                "dur": end - start,
                "args": dict(entry.args),
            }


@dataclass(frozen=True, slots=True)
class _Clock:
    """When an event of the control plane happens: before its step computes, or when the step's results are in."""

    trace: Trace
    origin: float

    @classmethod
    def of(cls, trace: Trace) -> "_Clock":
        return cls(trace, min([0.0, *_arrivals(trace).values(), *trace.times[:1, 0].tolist()]))

    def times(self, event: np.ndarray) -> np.ndarray:
        """Seconds: the start of the step for its schedule events, its end for the `scheduled` cut (what that step
        computed is there only then) and for its update events."""
        steps, num_steps = self.trace.steps, self.trace.num_steps
        if not num_steps:
            return np.zeros(len(event))
        starts, ends = self.trace.times.T
        step = np.searchsorted(steps["scheduled"], event, side="left")
        inside = np.minimum(step, num_steps - 1)
        planned = (step < num_steps) & (steps["begin"][inside] < event)
        updated = np.minimum(np.searchsorted(steps["updated"], event, side="left"), num_steps - 1)
        return np.where(
            planned & (event < steps["scheduled"][inside]), starts[inside], ends[np.where(planned, inside, updated)]
        )


def _steps(trace: Trace) -> Iterator[Slice]:
    columns = {
        "tokens": "num_scheduled_tokens",
        "sequences": "num_scheduled_sequences",
        "emitted": "num_emitted",
        "waiting": "num_waiting",
    }
    rows = zip(*(trace.steps[column].tolist() for column in columns.values()), strict=True)
    for step, ((start, end), row) in enumerate(zip(trace.times.tolist(), rows, strict=True)):
        yield Slice("steps", f"step {step}", start, end, dict(zip(columns, row, strict=True)))


def _counters(trace: Trace, pid: int, clock: _Clock) -> Iterator[Event]:
    """Counters change when a step starts and when one ends before a pause; a value that stays is not repeated."""
    starts, ends = trace.times.T
    pauses = np.flatnonzero(np.append(starts[1:] > ends[:-1], True)[: trace.num_steps])
    time = np.concatenate([starts, ends[pauses]])
    order = np.argsort(time, kind="stable")
    cuts = (trace.steps["scheduled"], trace.steps["updated"][pauses])
    for name, (track, value) in _counted(trace).items():
        level = np.concatenate([_sum_at(track, value, cut) for cut in cuts])[order]
        for i in np.flatnonzero(np.diff(level, prepend=-1) != 0).tolist():
            ts = _microseconds(float(time[order[i]]) - clock.origin)
            yield {"ph": "C", "pid": pid, "name": name, "ts": ts, "args": {name: int(level[i])}}


def _sum_at(track: Track, value: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """The sum of `value` over the rows that hold at each of the events `cuts`."""
    first = np.searchsorted(cuts, track.columns["event"], side="left")
    past = np.searchsorted(cuts, track.end, side="left")
    changes = np.bincount(first, value, len(cuts) + 1) - np.bincount(past, value, len(cuts) + 1)
    return np.cumsum(changes)[: len(cuts)].astype(np.int64)


def _counted(trace: Trace) -> dict[str, tuple[Track, np.ndarray]]:
    """Counter name -> a track and what each of its rows adds to the counter while it holds."""
    tracks, counted = trace.tracks, {}
    if "blocks" in tracks:
        counted["used blocks"] = (tracks["blocks"], tracks["blocks"].columns["state"] == BLOCK_STATES.index("used"))
    if "strips" in tracks:
        counted["used slots"] = (tracks["strips"], tracks["strips"].columns["size"])
    if "sequences" in tracks:
        running = np.isin(tracks["sequences"].columns["status"], (SequenceStatus.PREFILL, SequenceStatus.DECODE))
        counted["running sequences"] = (tracks["sequences"], running)
    if "requests" in tracks:
        counted["waiting requests"] = (tracks["requests"], np.isin(tracks["requests"].columns["status"], QUEUED))
    return counted


def _track_names(trace: Trace) -> dict[int, str]:
    """Sequence -> its request, and which of the samples it is; a name that occurs twice gets a number."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for index, request in enumerate(trace.requests):
        for sample in range(request["n"]):
            name = request["id"] if request["n"] == 1 else f"{request['id']} sample {sample + 1}"
            while name in taken:
                name = f"{name} (request {index + 1})"
            taken.add(name)
            names[request["first_sequence"] + sample] = name
    return names


def _arrivals(trace: Trace) -> dict[int, float]:
    """Sequence -> arrival of its request in seconds, where it is known."""
    return {
        request["first_sequence"] + sample: request["arrival_s"]
        for request in trace.requests
        for sample in range(request["n"])
        if request["arrival_s"] is not None and np.isfinite(request["arrival_s"])
    }


def _lives(trace: Trace, tracks: Mapping[int, str], clock: _Clock) -> Iterator[Slice]:
    """Per sequence what it did from when to when: waiting, prefill, decode ... An idle seat is one whose sequence has
    ended in a batch that goes on."""
    if "sequences" not in trace.tracks:
        return
    columns, end = trace.tracks["sequences"].columns, trace.tracks["sequences"].end
    order = np.argsort(columns["key"], kind="stable")
    order = order[end[order] > columns["event"][order]]
    values = [columns[name][order].tolist() for name in ("key", "status", "seat", "num_tokens")]
    rows = zip(*values, clock.times(columns["event"][order]).tolist(), strict=True)
    end_of_run = float(trace.times[-1, 1]) if trace.num_steps else 0.0
    known_at_end = trace.cut(event=trace.num_events).tracks["sequences"]["num_tokens"]
    arrival = _arrivals(trace)
    for key, life in groupby(rows, key=lambda row: row[0]):
        phases = [(label, next(group)) for label, group in groupby(life, key=lambda row: _label(row[1], row[2]))]
        begins = [time for _, (*_, time) in phases]
        begins[0] = min(begins[0], arrival.get(key, begins[0]))
        known = [num_tokens for _, (_, _, _, num_tokens, _) in phases]
        ends, afterwards = [*begins[1:], end_of_run], [*known[1:], int(known_at_end[key])]
        for (label, _), begin, finish, before, after in zip(phases, begins, ends, known, afterwards, strict=True):
            if label is not None and key in tracks:
                yield Slice(tracks[key], label, begin, max(begin, finish), {"output_tokens": max(after - before, 0)})


def _label(status: int, seat: int) -> str | None:
    if status == SequenceStatus.FINISHED and seat >= 0:
        return "idle seat"
    return LABELS.get(SequenceStatus(status)) if status in SequenceStatus._value2member_map_ else None


def _instants(trace: Trace, pid: int, clock: _Clock, threads: Mapping[int, int]) -> Iterator[Event]:
    happenings = trace.happenings
    kinds = [HAPPENINGS.index(kind) for kind in INSTANTS]
    chosen = np.flatnonzero(np.isin(happenings["kind"], kinds) & (happenings["request"] >= 0))
    columns = (happenings[name][chosen].tolist() for name in ("kind", "request", "sequence", "block", "amount"))
    for time, kind, request, sequence, block, amount in zip(
        clock.times(happenings["event"][chosen]).tolist(), *columns, strict=True
    ):
        thread = threads[sequence if sequence >= 0 else trace.requests[request]["first_sequence"]]
        event = {"ph": "i", "pid": pid, "tid": thread, "name": HAPPENINGS[kind], "s": "t"}
        yield event | {"ts": _microseconds(time - clock.origin), "args": {"block": block, "amount": amount}}


def _metadata(name: str, pid: int, tid: int, value: str) -> Event:
    return {"ph": "M", "pid": pid, "tid": tid, "name": name, "args": {"name": value}}


def _microseconds(seconds: float) -> int:
    return max(0, round(seconds * 1e6))
