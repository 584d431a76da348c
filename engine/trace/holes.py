"""External fragmentation: free slots of contiguous memory that the head of the queue cannot use.

They count in every step in which the head would fit into all free slots together but not into the holes as they lie.
Which request is the head, what it asks for and where the holes are is read from the rows of the trace.
"""

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from engine.trace.owners import owners
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, REASONS

QUEUED = (1, 4, 5)
"""Statuses of a request that stands in the queue: waiting, preempted, swapped."""


def external_slots(trace: Trace, capacity: int) -> np.ndarray:
    """float64 [num_steps]: free slots at the `scheduled` cut while the head of the queue does not fit, else 0."""
    external = np.zeros(trace.num_steps)
    if "requests" not in trace.tracks:
        return external
    heads, size = _heads(trace), _strip_sizes(trace)
    if not (heads >= 0).any():
        return external
    for step, holes in enumerate(_holes(trace, capacity)):
        head = heads[step]
        if head < 0 or size[head] == 0:
            continue
        free, num_strips = sum(holes), trace.requests[head]["n"]
        if num_strips * size[head] <= free and sum(hole // size[head] for hole in holes) < num_strips:
            external[step] = free
    return external


def _strip_sizes(trace: Trace) -> np.ndarray:
    """By request the slots of each of its strips: those it got, or those it asked for in vain; 0 if it never asked."""
    track, decisions = trace.tracks["strips"], trace.decisions
    samples = np.array([request["n"] for request in trace.requests], np.int64)
    size = np.zeros(len(samples), np.int64)
    np.maximum.at(size, owners(trace)[track.columns["key"]], track.columns["size"])
    skipped, no_room = ACTIONS.index("skip"), REASONS.index("no_block")
    refused = (decisions["action"] == skipped) & (decisions["reason"] == no_room) & (decisions["request"] >= 0)
    request = decisions["request"][refused]
    np.maximum.at(size, request, decisions["needed"][refused] // np.maximum(samples[request], 1))
    return size


def _heads(trace: Trace) -> np.ndarray:
    """int [num_steps]: the request of the lowest rank in the queue at the `scheduled` cut, -1 where nobody waits."""
    track, scheduled = trace.tracks["requests"], trace.steps["scheduled"]
    queued = np.flatnonzero(np.isin(track.columns["status"], QUEUED))
    first = np.searchsorted(scheduled, track.columns["event"][queued], side="left")
    past = np.searchsorted(scheduled, track.end[queued], side="left")
    entries = zip(
        first.tolist(),
        past.tolist(),
        track.columns["rank"][queued].tolist(),
        track.columns["key"][queued].tolist(),
        strict=True,
    )
    coming = sorted(entries, reverse=True)
    heads = np.full(trace.num_steps, -1)
    queue: list[tuple[int, int, int]] = []
    for step in range(trace.num_steps):
        while coming and coming[-1][0] <= step:
            _, past_step, rank, request = coming.pop()
            heappush(queue, (rank, request, past_step))
        while queue and queue[0][2] <= step:
            heappop(queue)
        if queue:
            heads[step] = queue[0][1]
    return heads


def _holes(trace: Trace, capacity: int) -> Iterator[list[int]]:
    """Step by step the sizes of the holes at the `scheduled` cut, by address."""
    columns = trace.tracks["strips"].columns
    rows = list(zip(*(columns[name].tolist() for name in ("event", "key", "start", "size")), strict=True))
    strips: dict[int, tuple[int, int]] = {}
    holes, row = [capacity], 0
    for cut in trace.steps["scheduled"].tolist():
        moved = False
        while row < len(rows) and rows[row][0] <= cut:
            _, key, start, size = rows[row]
            row += 1
            if strips.get(key, (-1, 0)) != (start, size):
                moved = True
                strips[key] = (start, size)
        if moved:
            strips = {key: strip for key, strip in strips.items() if strip[1]}
            taken = sorted(strips.values())
            begins = [*(start for start, _ in taken), capacity]
            ends = [0, *(start + size for start, size in taken)]
            holes = [begin - end for begin, end in zip(begins, ends, strict=True) if begin > end]
        yield holes
