"""Who is who in a run, as the player says it: the name of a sequence, its hue, and when it held a place.

Up to five sequences alive together get a hue each, handed out like seats, the lowest free one first; else up to five
requests do; beyond that colour says state only, and everybody is "P", private. The same rule is `hues.js` in the player.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from engine.trace.owners import owners
from engine.trace.trace import Trace

HUES = ("A", "B", "C", "D", "E")
PREFILL, DECODE, SWAPPED, FINISHED = 2, 3, 5, 6
"""Numbers of the states in a trace: from PREFILL to SWAPPED a sequence has a place or waits to get it back."""

Life = tuple[int, int] | None


class People:
    """Names and hues of the sequences of one run."""

    def __init__(self, trace: Trace) -> None:
        self._requests = trace.requests
        self.request_of = owners(trace)
        self.hues = hues(trace)

    def name(self, sequence: int) -> str:
        """ "B", or "A2" for the second sample of A; "req-7.2" where the id ends in a digit."""
        request = self._requests[self.request_of[sequence]]
        if request["n"] < 2:
            return str(request["id"])
        dot = "." if request["id"][-1:].isdigit() else ""
        return f"{request['id']}{dot}{sequence - request['first_sequence'] + 1}"

    def request_name(self, sequence: int) -> str:
        return str(self._requests[self.request_of[sequence]]["id"])


def hues(trace: Trace) -> list[str]:
    """A hue for every sequence: "A" to "E", or "P" for all where more than five live together."""
    of_sequences = lives(trace)
    chosen = _assigned(of_sequences)
    if chosen is not None:
        return chosen
    spans = [range(r["first_sequence"], r["first_sequence"] + r["n"]) for r in trace.requests]
    by_request = _assigned([_joined([of_sequences[s] for s in span]) for span in spans])
    if by_request is None:
        return ["P"] * len(of_sequences)
    return [by_request[request] for request in owners(trace)]


def lives(trace: Trace) -> list[Life]:
    """First and last step of each sequence from its first place in the batch to the end of its last; None without one."""
    if "sequences" not in trace.tracks:
        return []
    track = trace.tracks["sequences"]
    shown = np.searchsorted(trace.steps["scheduled"], track.columns["event"], side="left")
    order = np.lexsort((track.columns["event"], track.columns["key"]))
    found: list[Life] = [None] * track.num_keys
    rows: dict[int, list[tuple[int, int]]] = {}
    for key, step, status in zip(
        *(column[order].tolist() for column in (track.columns["key"], shown, track.columns["status"])), strict=True
    ):
        lane = rows.setdefault(key, [])
        if lane and lane[-1][0] >= step:
            lane.pop()
        if step < trace.num_steps:
            lane.append((step, status))
    for key, lane in rows.items():
        ends = [after[0] - 1 for _, after in pairwise(lane)] + [trace.num_steps - 1]
        lived = [(step, end) for (step, status), end in zip(lane, ends, strict=True) if PREFILL <= status <= SWAPPED]
        found[key] = (lived[0][0], lived[-1][1]) if lived else None
    return found


def _joined(parts: Sequence[Life]) -> Life:
    known = [part for part in parts if part is not None]
    return (min(first for first, _ in known), max(last for _, last in known)) if known else None


def _assigned(of: Sequence[Life]) -> list[str] | None:
    """The lowest free hue for each life in order of its beginning; None when more than five overlap."""
    chosen, taken_until = ["P"] * len(of), [-1] * len(HUES)
    for first, i, last in sorted((life[0], i, life[1]) for i, life in enumerate(of) if life is not None):
        seat = next((seat for seat, until in enumerate(taken_until) if until < first), None)
        if seat is None:
            return None
        chosen[i], taken_until[seat] = HUES[seat], last
    return chosen
