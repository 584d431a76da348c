"""When the requests of a run were admitted, how long the text was that each admission looked up, and what it found.

A request that was preempted is admitted again, and looks up its prompt and what it has answered so far.
"""

from typing import NamedTuple

from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

_ADMITTED, _RESUMED, _HIT = (HAPPENINGS.index(name) for name in ("admitted", "resumed", "hit"))


class Admission(NamedTuple):
    """`sequence` looked up the first `num_tokens` of its tokens and found the first `hit` of them; `number` counts the
    admissions of a request from 0."""

    request: int
    number: int
    event: int
    sequence: int
    num_tokens: int
    hit: int


def admissions(trace: Trace) -> list[Admission]:
    """All of them in the order of their events."""
    found: dict[tuple[int, int], int] = {}
    counts = [0] * len(trace.requests)
    told: list[Admission] = []
    columns = (trace.happenings[name].tolist() for name in ("event", "kind", "request", "sequence", "amount"))
    for event, kind, request, sequence, amount in zip(*columns, strict=True):
        if kind == _HIT:
            found[event, request] = amount
        elif kind in (_ADMITTED, _RESUMED):
            told.append(Admission(request, counts[request], event, sequence, amount, 0))
            counts[request] += 1
    return [each._replace(hit=found.get((each.event, each.request), 0)) for each in told]
