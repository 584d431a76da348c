"""The zero-hit doctor: what each request of a run found in the prefix cache, and the one fact that kept it from more.

A prompt of L tokens may find whole pages of its first L - 1 tokens, because the last one has to be computed. It stops
before the first page that is not known, and that page has one of few reasons: nobody before had these tokens (nothing in
common, less than a page, another token at position k), or somebody had them and they were evicted, or they were not in
the cache yet. Pages are blocks of the paged manager and pages of the radix tree. It knows the trace and nothing else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from engine.trace.cache_replay import CacheReplay, replay_of
from engine.trace.prefix_trie import PrefixTrie
from engine.trace.prompts import Symbol, is_published, prompt_symbols, token_at
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

REASONS = (
    "not_published",  # the trace does not say what the prompt holds
    "not_admitted",  # it never ran
    "off",  # the run has no prefix cache; `possible` is what an unlimited one would have given
    "nothing",  # its first token is that of nobody before it
    "shorter",  # what it shares with somebody is shorter than a page
    "differs",  # all whole pages in common were found; the next token is another one
    "tail",  # as before, and some tokens more are shared, which fill no page
    "no_kv",  # the next page ends with the last token of an answer, which was sampled and never computed
    "last_token",  # everything is shared, but one token at least has to be computed
    "evicted",  # the next page was known and was evicted
    "not_yet",  # somebody before has the next page too, but it was not in the cache yet
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Tokens unless said otherwise; requests are numbers, -1 for none.

    event      of the admission, -1 without one
    hit        found; `sources` says who left it there: (request, tokens) in order of the prompt
    shared     longest common prefix with what anybody admitted before computed, the first of whom is `other`
    possible   whole pages of the shared part that may be found
    mine       token at position `shared`, None where the prompt ends; `theirs` the same of `other`
    blocking   the event to look at: the eviction, or when the page became known after all, else the admission
    """

    request: int
    reason: str
    prompt_len: int
    event: int = -1
    hit: int = 0
    sources: tuple[tuple[int, int], ...] = ()
    shared: int = 0
    other: int = -1
    possible: int = 0
    mine: Symbol | None = None
    theirs: Symbol | None = None
    blocking: int = -1


_KNOWN: "WeakKeyDictionary[Trace, list[Diagnosis]]" = WeakKeyDictionary()


def diagnose(trace: Trace) -> list[Diagnosis]:
    """One diagnosis for each request, in the order of the trace; asked for again, the same list."""
    if trace not in _KNOWN:
        _KNOWN[trace] = _diagnoses(trace)
    return _KNOWN[trace]


def _diagnoses(trace: Trace) -> list[Diagnosis]:
    replay = replay_of(trace)
    events, hits = _first_admissions(trace)
    found: dict[int, Diagnosis] = {}
    waiting: dict[int, int] = {}
    computed, written = PrefixTrie(), PrefixTrie()
    for r in sorted(events, key=events.__getitem__):
        request = trace.requests[r]
        if not is_published(request):
            continue
        if replay is not None:
            replay.advance(events[r] - 1)
        symbols = prompt_symbols(request)
        common = (*computed.longest(symbols), *written.longest(symbols))
        found[r] = _Case(trace, r, events[r], hits.get(r, 0), symbols, *common).diagnosis(replay)
        for answer in _answers(request):
            computed.add([*symbols, *answer[:-1]], r)
            if answer:
                written.add([*symbols, *answer], r)
        if found[r].reason == "not_yet" and replay is not None:
            place = found[r].hit // replay.page_size
            waiting[r] = replay.chain(request["first_sequence"], place + 1)[place]
            replay.watched.setdefault(waiting[r], None)
    if replay is not None:
        replay.advance(trace.num_events)
        for r, prefix in waiting.items():
            event = replay.watched[prefix]
            found[r] = replace(found[r], blocking=events[r] if event is None else event)
    return [
        found.get(r) or _without_case(trace, r, events.get(r, -1), hits.get(r, 0)) for r in range(len(trace.requests))
    ]


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


class _Case:
    """One request at its admission. `written` tokens, those of `writer`, would be shared if all answers were computed."""

    def __init__(
        self,
        trace: Trace,
        request: int,
        event: int,
        hit: int,
        symbols: list[Symbol],
        shared: int,
        other: int,
        written: int,
        writer: int,
    ) -> None:
        self.trace, self.request, self.event, self.hit = trace, request, event, hit
        self.symbols, self.shared, self.other = symbols, shared, other
        self.prompt_len: int = trace.requests[request]["prompt_len"]
        self.size: int = trace.header["block_size"]
        self.is_written = shared < hit + self.size <= written
        if self.is_written:
            self.other = writer
        self.mine = token_at(symbols, shared)

    def diagnosis(self, replay: CacheReplay | None) -> Diagnosis:
        reason, blocking = self._reason(replay)
        return Diagnosis(
            request=self.request,
            reason=reason,
            prompt_len=self.prompt_len,
            event=self.event,
            hit=self.hit,
            sources=self._sources(replay),
            shared=self.shared,
            other=self.other,
            possible=min(self.shared, max(self.prompt_len - 1, 0)) // self.size * self.size,
            mine=self.mine,
            theirs=self._theirs(),
            blocking=blocking,
        )

    def _reason(self, replay: CacheReplay | None) -> tuple[str, int]:
        if replay is None:
            return "off", self.event
        end = self.hit + self.size
        if self.is_written:
            return "no_kv", self.event
        if self.shared < end:
            if self.shared == self.hit:
                return ("differs" if self.hit else "nothing"), self.event
            return ("tail" if self.hit else "shorter"), self.event
        if end >= self.prompt_len:
            return "last_token", self.event
        prefix = replay.chain(self._sequence, end // self.size)[end // self.size - 1]
        return ("evicted", replay.gone[prefix]) if prefix in replay.gone else ("not_yet", -1)

    def _sources(self, replay: CacheReplay | None) -> tuple[tuple[int, int], ...]:
        if replay is None:
            return ()
        pages = (replay.known[prefix].request for prefix in replay.hit(self._sequence, self.hit))
        return tuple((request, self.size * sum(1 for _ in group)) for request, group in groupby(pages))

    def _theirs(self) -> Symbol | None:
        if self.other < 0:
            return None
        other = self.trace.requests[self.other]
        contents = [[*prompt_symbols(other), *answer] for answer in _answers(other)]
        return token_at(max(contents, key=self._num_common), self.shared)

    def _num_common(self, content: Iterable[Symbol]) -> int:
        trie = PrefixTrie()
        trie.add(list(content), 0)
        return trie.longest(self.symbols)[0]

    @property
    def _sequence(self) -> int:
        return int(self.trace.requests[self.request]["first_sequence"])


def _first_admissions(trace: Trace) -> tuple[dict[int, int], dict[int, int]]:
    """Request -> event of its first admission, and tokens that it found there."""
    columns = trace.happenings
    admitted, hit = (columns["kind"] == HAPPENINGS.index(kind) for kind in ("admitted", "hit"))
    pairs = zip(columns["request"][admitted].tolist(), columns["event"][admitted].tolist(), strict=True)
    events = dict(reversed(list(pairs)))
    found = zip(*(columns[name][hit].tolist() for name in ("event", "request", "amount")), strict=True)
    return events, {request: tokens for event, request, tokens in found if events.get(request) == event}


def _answers(request: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """The known answer of each sample as far as it was asked for; an empty one where none is known."""
    return [answer[: request["output_len"]] for answer in request.get("answer_ids", ((),))]


def _without_case(trace: Trace, request: int, event: int, hit: int) -> Diagnosis:
    reason = "not_published" if event >= 0 else "not_admitted"
    return Diagnosis(request, reason, trace.requests[request]["prompt_len"], event, hit, blocking=event)
