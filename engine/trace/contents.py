"""What anybody had at a moment of a run: the prompts from their admission on, the answers token by token.

    a: prompt 1 2 3, answer 4 5 6        while a has known 1 2 3 4 5, somebody with 1 2 3 4 5 6 shares five tokens with it
                                         once a has ended: 1 2 3 4 5, the 6 was sampled and never computed

What has ended stands in a trie. What goes on is found by its prompt there, and its answer is compared as far as it is.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from engine.trace.admissions import Admission
from engine.trace.endings import FINISHED
from engine.trace.owners import owners
from engine.trace.prefix_trie import PrefixTrie, num_common
from engine.trace.prompts import Symbol, answer_symbols, first_tokens, prompt_symbols, sequence_symbols, without_first
from engine.trace.trace import Trace


class Common(NamedTuple):
    """Tokens shared with what `other` was the first to have; `written` would be shared with `writer` if the last tokens of
    answers were computed. -1 for nobody."""

    shared: int
    other: int
    written: int
    writer: int


class Contents:
    """`advance` moves on, `enter` takes in a request that is admitted; `common` then holds for that moment."""

    def __init__(self, trace: Trace, told: list[Admission]) -> None:
        self._requests = trace.requests
        self._resumed = {each.request for each in told if each.number}
        self._known = _KnownTokens(trace)
        self._ended = self._known.ended()
        self._place = 0
        self._entered: set[int] = set()
        self._computed, self._written = PrefixTrie(), PrefixTrie()
        self._owner = owners(trace).tolist()
        self._num_going: defaultdict[int, int] = defaultdict(int)

    def advance(self, event: int) -> None:
        """Everything up to `event` has happened."""
        while self._place < len(self._ended) and self._ended[self._place][0] <= event:
            _, sequence, num_tokens = self._ended[self._place]
            self._place += 1
            if self._owner[sequence] in self._entered:
                self._end(self._owner[sequence], sequence, num_tokens)

    def enter(self, request: int) -> None:
        """Its prompt is known from now on; a second time nothing is new."""
        if request in self._entered:
            return
        self._entered.add(request)
        entry = self._requests[request]
        if "answer_ids" in entry or request in self._resumed:
            self._num_going[request] = entry["n"]
            self._computed.open(prompt_symbols(entry), request)
        else:
            self._computed.add(prompt_symbols(entry), request)

    def common(self, symbols: list[Symbol], event: int) -> Common:
        """The longest prefix of `symbols` that anybody has at `event`."""
        match = self._computed.match(symbols)
        shared, other = match.num_tokens, match.owner
        rests: dict[int, list[Symbol]] = {}
        for request in match.begun:
            prompt_len = self._requests[request]["prompt_len"]
            if prompt_len not in rests:
                rests[prompt_len] = without_first(symbols, prompt_len)
            for answer in self._answers(request, event):
                length = prompt_len + num_common(answer, rests[prompt_len])
                if length > shared:
                    shared, other = length, request
        return Common(shared, other, *self._written.longest(symbols))

    def of(self, request: int, event: int) -> list[list[Symbol]]:
        """Prompt and answer so far of each of its samples at `event`."""
        prompt = prompt_symbols(self._requests[request])
        return [[*prompt, *answer] for answer in self._answers(request, event)]

    def _answers(self, request: int, event: int) -> list[list[Symbol]]:
        entry = self._requests[request]
        answers = []
        for sample in range(entry["n"]):
            count = self._known.count(entry["first_sequence"] + sample, event) - entry["prompt_len"]
            answers.append(first_tokens(answer_symbols(entry, sample), max(count, 0)))
        return answers

    def _end(self, request: int, sequence: int, num_tokens: int) -> None:
        entry = self._requests[request]
        if "answer_ids" in entry and num_tokens > entry["prompt_len"]:
            content = sequence_symbols(entry, sequence - entry["first_sequence"])
            self._computed.add(first_tokens(content, num_tokens - 1), request)
            self._written.add(first_tokens(content, num_tokens), request)
        if self._num_going[request]:
            self._num_going[request] -= 1
            if not self._num_going[request]:
                self._computed.close(request)


class _KnownTokens:
    """How many tokens each sequence knows at an event, those of its prompt included; 0 where the trace does not say."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        track = trace.tracks.get("sequences")
        self._first = np.zeros(1, np.int64)
        if track is None or track.ticks is None:
            return
        columns = track.columns
        order = np.lexsort((columns["event"], columns["key"]))
        self._first = np.searchsorted(columns["key"][order], np.arange(track.num_keys + 1))
        self._event = columns["event"][order]
        self._value, self._rate = columns["num_tokens"][order], columns["rate"][order]
        self._status, self._key = columns["status"][order], columns["key"][order]
        self._ticks = track.ticks[order]

    def count(self, sequence: int, event: int) -> int:
        if not 0 <= sequence < len(self._first) - 1:
            return 0
        first, end = self._first[sequence : sequence + 2]
        row = first + int(np.searchsorted(self._event[first:end], event, side="right")) - 1
        if row < first:
            return 0
        passed = self._trace.ticks(event) - int(self._ticks[row])
        return int(self._value[row]) + int(self._rate[row]) * passed

    def ended(self) -> list[tuple[int, int, int]]:
        """(event, sequence, tokens) of all ends, in order."""
        if len(self._first) == 1:
            return []
        rows = np.flatnonzero(self._status == FINISHED)
        _, firsts = np.unique(self._key[rows], return_index=True)
        columns = (column[rows[firsts]].tolist() for column in (self._event, self._key, self._value))
        return sorted(zip(*columns, strict=True))
