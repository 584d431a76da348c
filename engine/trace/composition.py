"""What the KV memory of a finished run held, step by step: tokens, and the three kinds of waste.

A slot holds a token, is reserved (its owner will write it later), is internal waste (its owner never writes it) or lies
free or is external waste (`holes.py`). The split of unwritten slots needs the future, so it exists only for finished
runs. Memory is as at the `scheduled` cut of a step. Terms of the vLLM paper, section 3.1 and figure 2.
"""

from dataclasses import dataclass

import numpy as np

from engine.trace.holes import external_slots
from engine.trace.rows import Track
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES

KINDS = ("token", "reserved", "internal", "external", "free")


@dataclass(frozen=True, slots=True)
class Composition:
    """Slots of each kind by step, float64 [num_steps]; together they are `capacity` in every step.

    `durations` are the seconds of the steps and `idle` those between them, when all memory is free.
    """

    capacity: int
    token: np.ndarray
    reserved: np.ndarray
    internal: np.ndarray
    external: np.ndarray
    free: np.ndarray
    durations: np.ndarray
    idle: float

    def shares(self) -> dict[str, float | None]:
        """Time averages as fractions of the capacity; they add up to 1."""
        whole = self.capacity * (float(self.durations.sum()) + self.idle)
        sums = self._slot_seconds()
        sums["free"] += self.capacity * self.idle
        return {kind: sums[kind] / whole if whole else None for kind in KINDS}

    def shares_of_occupied(self) -> dict[str, float | None]:
        """The same without the free memory: of every slot that was taken or of no use to the queue."""
        sums = self._slot_seconds()
        whole = sum(sums[kind] for kind in KINDS[:-1])
        return {kind: sums[kind] / whole if whole else None for kind in KINDS[:-1]}

    def _slot_seconds(self) -> dict[str, float]:
        return {kind: float(getattr(self, kind) @ self.durations) for kind in KINDS}


def compose(trace: Trace) -> Composition:
    """The composition of a trace with blocks or strips; everything is free where it publishes neither."""
    durations = trace.times[:, 1] - trace.times[:, 0]
    elapsed = float(trace.times[-1, 1] - trace.times[0, 0]) if trace.num_steps else 0.0
    nothing = np.zeros(trace.num_steps)
    if "strips" in trace.tracks:
        track = trace.tracks["strips"]
        size = track.columns["size"]
        taken = _Tenures.of(track, size > 0, "used", trace.steps["scheduled"])
        token, written, occupied = taken.per_step(size, trace.num_steps)
        capacity = _capacity(trace, int((track.columns["start"] + size).max(initial=0)))
        external = external_slots(trace, capacity)
    elif "blocks" in trace.tracks:
        track = trace.tracks["blocks"]
        block_size = trace.header["block_size"]
        on_gpu = _pool_size(trace)
        used = track.columns["state"] == BLOCK_STATES.index("used")
        if on_gpu is not None:
            used &= track.columns["key"] < on_gpu
        taken = _Tenures.of(track, used, "fill", trace.steps["scheduled"])
        token, written, occupied = taken.per_step(np.full(track.num_rows, block_size), trace.num_steps)
        capacity = _capacity(trace, 1 + int(track.columns["key"].max(initial=-1))) * block_size
        external = nothing
    else:
        token = written = occupied = external = nothing
        capacity = 0
    return Composition(
        capacity=capacity,
        token=token,
        reserved=written - token,
        internal=occupied - written,
        external=external,
        free=capacity - occupied - external,
        durations=durations,
        idle=max(elapsed - float(durations.sum()), 0.0),
    )


def _pool_size(trace: Trace) -> int | None:
    pools = trace.header["pools"]
    return pools[0].get("size") if pools else None


def _capacity(trace: Trace, highest: int) -> int:
    size = _pool_size(trace)
    return highest if size is None else size


@dataclass(frozen=True, slots=True)
class _Tenures:
    """Rows of taken memory (blocks or strips) and how many slots get written until it is given back.

    rows       numbers of the rows; each holds in the steps first..past-1
    constant, rate   filled slots at step k are constant + rate * k
    written    filled slots at the end of the tenure that the row belongs to
    """

    rows: np.ndarray
    first: np.ndarray
    past: np.ndarray
    constant: np.ndarray
    rate: np.ndarray
    written: np.ndarray

    @classmethod
    def of(cls, track: Track, taken: np.ndarray, filled: str, scheduled: np.ndarray) -> "_Tenures":
        event, key, end = track.columns["event"], track.columns["key"], track.end
        rows = np.flatnonzero(taken & (end > event))
        rows = rows[np.argsort(key[rows], kind="stable")]
        event, key, end = event[rows], key[rows], end[rows]
        assert track.ticks is not None, "blocks and strips have ramps"
        ticks, rate = track.ticks[rows].astype(np.int64), track.columns["rate"][rows].astype(np.int64)
        first, past = np.searchsorted(scheduled, event, side="left"), np.searchsorted(scheduled, end, side="left")
        at_row = track.columns[filled][rows]
        at_end = at_row + rate * (past - ticks)
        starts = np.ones(len(rows), bool)
        starts[1:] = (key[1:] != key[:-1]) | (event[1:] != end[:-1])
        starts = np.flatnonzero(starts)
        most = np.maximum.reduceat(at_end, starts) if len(starts) else at_end
        written = np.repeat(most, np.diff(starts, append=len(rows)))
        return cls(rows, first, past, at_row + rate * (1 - ticks), rate, written)

    def per_step(self, size: np.ndarray, num_steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By step the slots filled, the slots that get written before they are given back, and the slots taken."""
        filled = self._sum(self.constant, num_steps) + self._sum(self.rate, num_steps) * np.arange(num_steps)
        return filled, self._sum(self.written, num_steps), self._sum(size[self.rows], num_steps)

    def _sum(self, value: np.ndarray, num_steps: int) -> np.ndarray:
        begins = np.bincount(self.first, value, minlength=num_steps + 1)
        ends = np.bincount(self.past, value, minlength=num_steps + 1)
        return np.cumsum(begins - ends)[:num_steps]
