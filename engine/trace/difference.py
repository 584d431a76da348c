"""The first difference of runs: where they part, and over which requests.

Runs of the same requests differ where the scheduled tokens of a request differ, or the requests that are admitted,
finished or preempted; which blocks they take never counts. The clock is the number of the step, or time, where each run
stands in the step that contains the moment. A run is read as a list of changes, a few for each row of its trace and none
for each step, and the changes of all runs are compared moment by moment.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.trace.owners import owners
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

CLOCKS = ("steps", "time")
KINDS = ("admitted", "preempted", "finished", "scheduled")
_HAPPENED = {"admitted": "admitted", "resumed": "admitted", "preempted": "preempted", "finished": "finished"}
_SCHEDULED = KINDS.index("scheduled")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that differs: a request is admitted (again), preempted or finished, or gets other tokens scheduled.

    amounts    by run: how many tokens are scheduled in this step, for the other kinds how often it happens
    """

    kind: str
    request: str
    amounts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one run stands: `step` is -1 before its first step and `num_steps` after its last one; the cut after `event`
    shows it. `time` is the start of the step, on the time clock the moment, in seconds."""

    step: int
    event: int
    time: float


@dataclass(frozen=True, slots=True)
class Difference:
    """`places` and the amounts of `parts` are in the order of the runs; parts go by kind, then by first arrival."""

    clock: str
    parts: tuple[Part, ...]
    places: tuple[Place, ...]

    @property
    def step(self) -> int:
        """The step on the step clock; on the time clock the furthest step in which a run stands."""
        return max(place.step for place in self.places)

    @property
    def time(self) -> float:
        """Seconds: the moment, on the step clock the earliest start of that step."""
        return min(place.time for place in self.places)


def first_difference(traces: Sequence[Trace], clock: str = "steps") -> Difference | None:
    """The first step, or moment, at which the runs are not all alike; None where they never part.

    Requests are known by their id. Raises ValueError for an unknown clock.
    """
    if clock not in CLOCKS:
        raise ValueError(f"There is no clock {clock!r}; choose {' or '.join(CLOCKS)}.")
    ids, numbers = _numbered(traces)
    changes = [_changes(trace, own, clock) for trace, own in zip(traces, numbers, strict=True)]
    run = np.repeat(np.arange(len(changes)), [len(own.at) for own in changes])
    at, thing, amount = (np.concatenate(columns) for columns in zip(*changes, strict=True))
    found = _parting(at, thing, amount, run, len(traces))
    if found is None:
        return None
    moment, things = found
    # happenings count at the moment alone, scheduled tokens are the sum of all changes so far
    counted = np.flatnonzero((at == moment) | (at < moment) & (thing % len(KINDS) == _SCHEDULED))
    counted = counted[np.isin(thing[counted], things)]
    amounts = np.zeros((len(things), len(traces)), np.int64)
    np.add.at(amounts, (np.searchsorted(things, thing[counted]), run[counted]), amount[counted])
    parts = [
        Part(KINDS[number % len(KINDS)], ids[number // len(KINDS)], tuple(row))
        for number, row in zip(things.tolist(), amounts.tolist(), strict=True)
    ]
    parts.sort(key=lambda part: KINDS.index(part.kind))
    is_over = parts[0].kind == parts[-1].kind == "finished"
    return Difference(clock, tuple(parts), tuple(_place(trace, moment, clock, is_over) for trace in traces))


def _parting(
    at: np.ndarray, thing: np.ndarray, amount: np.ndarray, run: np.ndarray, num_runs: int
) -> tuple[float, np.ndarray] | None:
    """The first moment at which the changes of the runs are not the same, and the things that differ there, ascending."""
    order = np.lexsort((thing, at))
    at, thing = at[order], thing[order]
    begins = np.flatnonzero((np.diff(at, prepend=np.nan) != 0) | (np.diff(thing, prepend=-1) != 0))
    group = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(at)))
    sums = np.zeros((len(begins), num_runs), np.int64)
    np.add.at(sums, (group, run[order]), amount[order])
    differing = begins[(sums != sums[:, :1]).any(axis=1)]
    if not len(differing):
        return None
    moment = at[differing[0]]
    return float(moment), thing[differing[at[differing] == moment]]


class _Changes(NamedTuple):
    """Changes of one run, in no order. `thing` is a request's number x 4 + kind; scheduled tokens change by `amount`,
    the other kinds happen that often; `at` is a step or a time."""

    at: np.ndarray
    thing: np.ndarray
    amount: np.ndarray


def _changes(trace: Trace, numbers: np.ndarray, clock: str) -> _Changes:
    scheduled, happened = _scheduled(trace, numbers, clock), _happened(trace, numbers, clock)
    return _Changes(*(np.concatenate(columns) for columns in zip(scheduled, happened, strict=True)))


def _scheduled(trace: Trace, numbers: np.ndarray, clock: str) -> _Changes:
    """Where the scheduled tokens of a request rise and fall, from the growth of `num_computed_tokens` at the cuts."""
    if "sequences" not in trace.tracks:
        nothing = np.zeros(0, np.int64)
        return _Changes(nothing, nothing, nothing)
    sequence, first, past, num_tokens = _growth(trace)
    thing = numbers[owners(trace)[sequence]] * len(KINDS) + _SCHEDULED
    if clock == "steps":
        rises, falls = first, past
    else:
        starts, ends = trace.times[:, 0], trace.times[:, 1]
        stops = np.minimum(ends, np.append(starts[1:], np.inf))
        # nothing is scheduled in a gap between two steps
        gaps = np.flatnonzero(stops[:-1] < starts[1:])
        before, inside = np.searchsorted(gaps, first), np.searchsorted(gaps, past - 1)
        segment = np.repeat(np.arange(len(first)), inside - before)
        gap = gaps[np.arange(len(segment)) - np.repeat(np.cumsum(inside - before) - inside, inside - before)]
        rises = np.concatenate((starts[first], starts[gap + 1]))
        falls = np.concatenate((stops[past - 1], stops[gap]))
        thing, num_tokens = (np.concatenate((column, column[segment])) for column in (thing, num_tokens))
    return _Changes(
        np.concatenate((rises, falls)), np.concatenate((thing, thing)), np.concatenate((num_tokens, -num_tokens))
    )


def _growth(trace: Trace) -> tuple[np.ndarray, ...]:
    """sequence, first, past, num_tokens: in each of the steps first..past-1 a sequence computes that many tokens."""
    track, scheduled = trace.tracks["sequences"], trace.steps["scheduled"]
    assert track.ticks is not None, "the sequences track has ramps"
    rows = np.flatnonzero(track.end > track.columns["event"])
    rows = rows[np.argsort(track.columns["key"][rows], kind="stable")]
    key, event = track.columns["key"][rows], track.columns["event"][rows]
    value, rate = (track.columns[name][rows].astype(np.int64) for name in ("num_computed_tokens", "rate"))
    ticks = track.ticks[rows].astype(np.int64)
    ticks_at_end = np.searchsorted(scheduled, track.end[rows], side="left")
    value_at_end = value + rate * (ticks_at_end - ticks)
    jump = value - np.where(np.diff(key, prepend=-1) != 0, 0, np.roll(value_at_end, 1))
    # only what grows in the event of a cut was scheduled: other rows say that computed tokens are lost, or inherited
    is_cut = (ticks > 0) & (scheduled[ticks - 1] == event) if len(scheduled) else np.zeros(len(rows), bool)
    jumps, ramps = is_cut & (jump > 0), (rate > 0) & (ticks_at_end > ticks)
    return (
        np.concatenate((key[jumps], key[ramps])),
        np.concatenate((ticks[jumps] - 1, ticks[ramps])),
        np.concatenate((ticks[jumps], ticks_at_end[ramps])),
        np.concatenate((jump[jumps], rate[ramps])),
    )


def _happened(trace: Trace, numbers: np.ndarray, clock: str) -> _Changes:
    kind_of = np.array([KINDS.index(_HAPPENED[name]) if name in _HAPPENED else -1 for name in HAPPENINGS])
    happenings, steps = trace.happenings, trace.steps
    kind = kind_of[happenings["kind"]]
    chosen = np.flatnonzero((kind >= 0) & (happenings["request"] >= 0))
    event = happenings["event"][chosen]
    step = np.searchsorted(steps["scheduled"], event, side="left")
    updating = np.append(steps["begin"], trace.num_events)[step] >= event
    step[updating] = np.searchsorted(steps["updated"], event[updating], side="left")
    at = step
    if clock == "time":
        end = trace.times[-1, 1] if trace.num_steps else 0.0
        starts, ends = (np.append(trace.times[:, column], end) for column in (0, 1))
        at = np.where(updating, ends[step], starts[step])
    thing = numbers[happenings["request"][chosen]] * len(KINDS) + kind[chosen]
    return _Changes(at, thing, np.ones(len(chosen), np.int64))


def _place(trace: Trace, moment: float, clock: str, is_over: bool) -> Place:
    """Where a run stands. What a step has finished is shown by its `updated` cut, all else by the `scheduled` one."""
    if clock == "time":
        frame = trace.cut(time=moment)
        is_done = not trace.num_steps or moment >= trace.times[-1, 1]
        return Place(trace.num_steps if is_done else frame.step, frame.event, moment)
    step = int(moment)
    if step >= trace.num_steps:
        return Place(trace.num_steps, trace.num_events, float(trace.times[-1, 1]) if trace.num_steps else 0.0)
    event = int(trace.steps["updated" if is_over else "scheduled"][step])
    return Place(step, event, float(trace.times[step, 0]))


def _numbered(traces: Sequence[Trace]) -> tuple[list[str], list[np.ndarray]]:
    """The ids of all requests, and by run the number of each of its requests among them; a repeated id counts on."""
    known: dict[tuple[str, int], int] = {}
    numbers = []
    for trace in traces:
        seen: Counter[str] = Counter()
        own = []
        for request in trace.requests:
            own.append(known.setdefault((request["id"], seen[request["id"]]), len(known)))
            seen[request["id"]] += 1
        numbers.append(np.array(own, np.int64))
    return [id_ for id_, _ in known], numbers
