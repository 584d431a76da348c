"""Why every sequence of a run ended, read from its trace."""

import numpy as np

from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

FINISHED = 6
"""`status` of a sequence that has ended (`engine.request.SequenceStatus`)."""
_TOLD = {"stopped": "stop", "aborted": "abort"}


def finish_reasons(trace: Trace) -> list[str | None]:
    """By sequence "stop", "length" or "abort"; None for one that has not ended (or was refused)."""
    status = trace.cut(event=trace.num_events).tracks["sequences"]["status"]
    reasons: list[str | None] = ["length" if value == FINISHED else None for value in status.tolist()]
    for kind, reason in _TOLD.items():
        told = trace.happenings["kind"] == HAPPENINGS.index(kind)
        for sequence in trace.happenings["sequence"][np.flatnonzero(told)].tolist():
            reasons[sequence] = reason
    return reasons
