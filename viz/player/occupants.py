"""What stood before an event: who sat in a seat, how many tokens a sequence had. Reasons of what the event did."""

import numpy as np

from engine.trace.trace import Trace
from viz.player.vocabulary import VOCABULARY

FINISHED = VOCABULARY["statuses"].index("FINISHED")


def previous_occupants(trace: Trace, sequences: np.ndarray, events: np.ndarray) -> np.ndarray:
    """For each sequence that took its seat at an event: the sequence that had this seat before it, or -1."""
    columns = trace.tracks["sequences"].columns
    seats, keys, at = columns["seat"], columns["key"], columns["event"]
    seated = np.flatnonzero(seats >= 0)
    order = seated[np.lexsort((at[seated], seats[seated]))]
    starts = np.ones(len(order), bool)
    starts[1:] = (seats[order][1:] != seats[order][:-1]) | (keys[order][1:] != keys[order][:-1])
    taken = order[starts]
    before = np.full(len(taken), -1, np.int64)
    same_seat = np.zeros(len(taken), bool)
    same_seat[1:] = seats[taken][1:] == seats[taken][:-1]
    before[same_seat] = keys[taken][np.flatnonzero(same_seat) - 1]
    found = {(int(k), int(e)): int(b) for k, e, b in zip(keys[taken], at[taken], before, strict=True)}
    return np.array([found.get(pair, -1) for pair in zip(sequences.tolist(), events.tolist(), strict=True)], np.int64)


def num_seated(trace: Trace, events: np.ndarray) -> np.ndarray:
    """Sequences with a seat just after each event."""
    columns = trace.tracks["sequences"].columns
    order = np.lexsort((columns["event"], columns["key"]))
    seated = columns["seat"][order] >= 0
    before = np.zeros(len(order), bool)
    before[1:] = seated[:-1] & (columns["key"][order][1:] == columns["key"][order][:-1])
    by_event = np.argsort(columns["event"][order], kind="stable")
    change = (seated.astype(np.int64) - before)[by_event]
    upto = np.concatenate(([0], np.cumsum(change)))
    return upto[np.searchsorted(columns["event"][order][by_event], events, side="right")]


def known_before(trace: Trace, requests: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Known tokens of each request just before an event at which it is admitted, for the first time or again: its prompt
    once, and what each of its unfinished samples has written on top of it."""
    first, samples, prompt = (
        np.array([each[name] for each in trace.requests], np.int64)[requests]
        for name in ("first_sequence", "n", "prompt_len")
    )
    known = prompt.copy()
    for sample in range(int(samples.max(initial=0))):
        sequences = first + np.minimum(sample, samples - 1)
        is_known = (sample < samples) & (before(trace, "status", sequences, events) != FINISHED)
        known += np.where(is_known, np.maximum(0, before(trace, "num_tokens", sequences, events) - prompt), 0)
    return known


def tokens_before(trace: Trace, sequences: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Computed tokens of each sequence just before an event."""
    return before(trace, "num_computed_tokens", sequences, events)


def before(trace: Trace, field: str, sequences: np.ndarray, events: np.ndarray) -> np.ndarray:
    """A field of each sequence just before an event."""
    track = trace.tracks["sequences"]
    columns, ticks = track.columns, track.ticks
    assert ticks is not None, "computed tokens are a ramp"
    if not track.num_rows:
        return np.zeros(len(events), np.int64)
    place = (columns["key"].astype(np.int64) << 32) | columns["event"]
    order = np.argsort(place)
    found = np.searchsorted(place[order], (sequences.astype(np.int64) << 32) | events) - 1
    rows = order[np.maximum(found, 0)]
    passed = np.searchsorted(trace.steps["scheduled"], events - 1, side="right") - ticks[rows]
    values = columns[field][rows] + (columns["rate"][rows] * passed if field in track.spec.ramps else 0)
    return np.where((found >= 0) & (columns["key"][rows] == sequences), values, 0)
