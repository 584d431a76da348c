"""The zero-hit doctor: what each request of a run found in the prefix cache, and the one fact that kept it from more.

Of L tokens that are looked up whole pages of the first L - 1 may be found, because the last one has to be computed. Every
admission of a preempted request looks again, then for its answer so far as well. Pages are blocks of the paged manager
and pages of the radix tree. It knows the trace and nothing else; the reasons stand in `diagnosis`.
"""

from dataclasses import replace

import numpy as np

from engine.trace.admissions import Admission, admissions
from engine.trace.cache_replay import CacheReplay, replay_of
from engine.trace.contents import Contents
from engine.trace.diagnosis import REASONS, Diagnosis, Progress, of_admission
from engine.trace.prompts import first_tokens, is_published, sequence_symbols
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

__all__ = ["REASONS", "Diagnosis", "Progress", "caused_by", "diagnose", "frame_name"]


def diagnose(trace: Trace, progress: Progress | None = None) -> list[tuple[Diagnosis, ...]]:
    """For each request, in the order of the trace, its admissions in order; one that says why for who has none.
    `progress` counts admissions."""
    told = admissions(trace)
    replay, contents = replay_of(trace), Contents(trace, told)
    found: list[list[Diagnosis]] = [[] for _ in trace.requests]
    waiting: list[tuple[Diagnosis, int]] = []
    for number, admission in enumerate(told):
        if progress is not None:
            progress(number, len(told))
        diagnosis = _diagnosis(trace, admission, contents, replay)
        found[admission.request].append(diagnosis)
        if diagnosis.blocking < 0 and replay is not None:
            place = diagnosis.hit // replay.page_size
            prefix = replay.chain(admission.sequence, place + 1)[place]
            replay.watched.setdefault(prefix, None)
            waiting.append((diagnosis, prefix))
    if waiting and replay is not None:
        replay.advance(trace.num_events)
        for diagnosis, prefix in waiting:
            event = replay.watched[prefix]
            blocking = diagnosis.event if event is None else event
            found[diagnosis.request][diagnosis.number] = replace(diagnosis, blocking=blocking)
    nobody = (Diagnosis(number, "not_admitted", request["prompt_len"]) for number, request in enumerate(trace.requests))
    return [tuple(own) or (none,) for own, none in zip(found, nobody, strict=True)]


def _diagnosis(trace: Trace, admission: Admission, contents: Contents, replay: CacheReplay | None) -> Diagnosis:
    entry = trace.requests[admission.request]
    if not is_published(entry):
        own = {name: getattr(admission, name) for name in ("number", "event", "sequence", "hit")}
        return Diagnosis(admission.request, "not_published", admission.num_tokens, blocking=admission.event, **own)
    if replay is not None:
        replay.advance(admission.event - 1)
    contents.advance(admission.event - 1)
    content = sequence_symbols(entry, max(admission.sequence - entry["first_sequence"], 0))
    symbols = first_tokens(content, admission.num_tokens)
    diagnosis = of_admission(admission, symbols, trace.header["block_size"], contents, replay)
    contents.enter(admission.request)
    return diagnosis


def frame_name(trace: Trace, event: int) -> str:
    """The frame of an event as a link names it: `12` where it ends the schedule of step 12, else `12.3`."""
    step = max(trace.step_of(max(event, 1)), 0)
    if not trace.num_steps:
        return "0"
    begin, scheduled, update_begin, updated = (
        int(trace.steps[name][step]) for name in ("begin", "scheduled", "update_begin", "updated")
    )
    if event == scheduled or not (begin < event <= scheduled or update_begin < event <= updated):
        return str(step)
    return f"{step}.{event - begin if event <= scheduled else scheduled - begin + event - update_begin}"


def caused_by(trace: Trace, event: int) -> int:
    """The request for which memory was taken in that event, -1 where nobody is named."""
    columns = trace.happenings
    rows = slice(*np.searchsorted(columns["event"], (event, event + 1)))
    requests = columns["request"][rows]
    kinds = columns["kind"][rows]
    for kind in ("preempted", "evicted", "allocated", "hit"):
        named = requests[(kinds == HAPPENINGS.index(kind)) & (requests >= 0)]
        if len(named):
            return int(named[0])
    return -1
