"""What a prefix cache knew at each moment of a run, read off its trace: for blocks by their hash and for a radix tree.

A prefix is a number: all tokens up to the end of a page, equal numbers for equal tokens. The trace says which blocks
became known, which nodes were inserted, split and evicted; with the prompts it follows which prefixes these hold. A
prefix that is not known is new or was evicted, and then `gone` has the event.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.trace.owners import owners
from engine.trace.prompts import pages, sequence_symbols
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

_CACHED, _EVICTED, _INSERTED, _SPLIT = (HAPPENINGS.index(name) for name in ("cached", "evicted", "inserted", "split"))


class Known(NamedTuple):
    """`block` is the one that a look-up finds (-1: the pages of a tree), `request` left it there at `event`."""

    block: int
    request: int
    event: int


class CacheReplay:
    """`advance` moves on; `known` and `gone` then hold for that moment. `watched` prefixes get the event, or None so far,
    at which they become known next."""

    def __init__(self, trace: Trace) -> None:
        self.page_size: int = trace.header["block_size"]
        self.known: dict[int, Known] = {}
        self.gone: dict[int, int] = {}
        self.watched: dict[int, int | None] = {}
        self._requests = trace.requests
        self._owner = owners(trace).tolist()
        self._numbers: dict[tuple[int, object], int] = {}
        self._chains: dict[int, tuple[list[int], Iterator[tuple[object, ...]]]] = {}
        self._changes = _changes(trace)
        self._place = 0

    def advance(self, event: int) -> None:
        """Take in everything up to `event`."""
        while self._place < len(self._changes) and self._changes[self._place][0] <= event:
            self._take(self._changes[self._place])
            self._place += 1

    def chain(self, sequence: int, num_pages: int) -> list[int]:
        """The prefixes of a sequence that end with its first pages, at least so many."""
        if sequence not in self._chains:
            request = self._requests[self._owner[sequence]]
            symbols = sequence_symbols(request, sequence - request["first_sequence"])
            self._chains[sequence] = ([], pages(symbols, self.page_size))
        chain, rest = self._chains[sequence]
        while len(chain) < num_pages:
            key = (chain[-1] if chain else -1, next(rest))
            chain.append(self._numbers.setdefault(key, len(self._numbers)))
        return chain

    def hit(self, sequence: int, num_tokens: int) -> list[int]:
        """The leading known prefixes of the first tokens of a sequence."""
        limit = max(num_tokens, 0) // self.page_size
        found: list[int] = []
        while len(found) < limit and self.chain(sequence, len(found) + 1)[len(found)] in self.known:
            found.append(self.chain(sequence, len(found) + 1)[len(found)])
        return found

    def _take(self, change: tuple[int, ...]) -> None:
        raise NotImplementedError

    def _learn(self, prefix: int, known: Known) -> None:
        self.known[prefix] = known
        if self.watched.get(prefix, 0) is None:
            self.watched[prefix] = known.event

    def _lose(self, prefix: int, event: int) -> None:
        del self.known[prefix]
        self.gone[prefix] = event


class HashedReplay(CacheReplay):
    """Blocks by the hash of their tokens and all tokens before them. Of equal blocks `on_duplicate` says which one counts."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self._on_duplicate = trace.header["settings"].get("on_duplicate", "one")
        self._held: dict[int, int] = {}
        self._equal: defaultdict[int, dict[int, Known]] = defaultdict(dict)
        self._tables: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._table_rows = _table_rows(trace)
        self._row = 0

    def _take(self, change: tuple[int, ...]) -> None:
        event, kind, request, sequence, block, _, amount = change
        if kind == _EVICTED:
            self._forget(block, event)
        elif kind == _CACHED:
            self._fill_tables(event)
            self._register(sequence, block, amount, Known(block, request, event))

    def _fill_tables(self, event: int) -> None:
        """Tables as they are when the blocks of `event` become known: what it gives back is still there."""
        rows = self._table_rows
        while self._row < len(rows) and rows[self._row][0] <= event:
            at, sequence, index, block = rows[self._row]
            if block < 0 and at == event:
                break
            if block < 0:
                self._tables[sequence].pop(index, None)
            else:
                self._tables[sequence][index] = block
            self._row += 1

    def _register(self, sequence: int, last: int, amount: int, known: Known) -> None:
        """The last `amount` blocks up to `last` that can be new are new: those before were known or are equal to known ones."""
        table = self._tables[sequence]
        index = max((i for i, block in table.items() if block == last), default=-1)
        chain = self.chain(sequence, index + 1)
        new: list[tuple[int, int]] = []
        while index >= 0 and len(new) < amount:
            block = table.get(index, -1)
            is_first = chain[index] not in self.known or self._on_duplicate != "one"
            if block >= 0 and block not in self._held and is_first:
                new.append((block, chain[index]))
            index -= 1
        for block, prefix in reversed(new):
            self._held[block] = prefix
            own = known._replace(block=block)
            if prefix in self.known and self._on_duplicate == "keep_first":
                self._equal[prefix][block] = own
            else:
                self._learn(prefix, own)

    def _forget(self, block: int, event: int) -> None:
        prefix = self._held.pop(block, -1)
        if prefix < 0:
            return
        if prefix not in self.known or self.known[prefix].block != block:
            self._equal[prefix].pop(block, None)
        elif self._equal.get(prefix):
            equal = self._equal[prefix]
            self.known[prefix] = equal.pop(next(iter(equal)))
        else:
            self._lose(prefix, event)


class RadixReplay(CacheReplay):
    """The nodes of a radix tree and the prefixes that end in them."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self._prefixes: dict[int, list[int]] = {}
        self._end: dict[int, int] = {0: 0}
        nodes = trace.tracks["nodes"].columns
        columns = (nodes[name].tolist() for name in ("event", "key", "parent"))
        self._parent = {(event, node): parent for event, node, parent in zip(*columns, strict=True)}

    def _take(self, change: tuple[int, ...]) -> None:
        event, kind, request, sequence, lower, node, amount = change
        if kind == _EVICTED:
            for prefix in self._prefixes.pop(node, ()):
                self._lose(prefix, event)
        elif kind == _SPLIT:
            whole, num_pages = self._prefixes.get(lower, []), amount // self.page_size
            self._prefixes[node], self._prefixes[lower] = whole[:num_pages], whole[num_pages:]
            self._end[node] = self._end.get(lower, 0) - (len(whole) - num_pages) * self.page_size
        elif kind == _INSERTED and sequence >= 0:
            first = self._end.get(self._parent.get((event, node), 0), 0) // self.page_size
            end = first + amount // self.page_size
            self._prefixes[node] = self.chain(sequence, end)[first:end]
            self._end[node] = end * self.page_size
            for prefix in self._prefixes[node]:
                self._learn(prefix, Known(-1, request, event))


def replay_of(trace: Trace) -> CacheReplay | None:
    """The replay for the cache of a run; None for one without."""
    if "nodes" in trace.tracks:
        return RadixReplay(trace)
    has_blocks = "tables" in trace.tracks and trace.header["settings"].get("prefix_caching")
    return HashedReplay(trace) if has_blocks else None


def _changes(trace: Trace) -> list[tuple[int, ...]]:
    columns = trace.happenings
    chosen = np.isin(columns["kind"], (_CACHED, _EVICTED, _INSERTED, _SPLIT))
    return list(zip(*(column[chosen].tolist() for column in columns.values()), strict=True))


def _table_rows(trace: Trace) -> list[tuple[int, ...]]:
    """(event, sequence, index, block); in an event new entries come before those that are given back."""
    track = trace.tracks["tables"]
    assert track.keys is not None
    event, slot, block = (track.columns[name] for name in ("event", "key", "block"))
    order = np.lexsort((block < 0, event))
    sequence, index = track.keys[slot[order]].T
    return list(zip(*(c.tolist() for c in (event[order], sequence, index, block[order])), strict=True))
