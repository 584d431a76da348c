"""What a request, an eviction, a look-up touches does not grow with the cache: counted, not timed.

An operation is a line of the cache that runs, or an entry of one of its tables that somebody goes through: a scan of all
blocks or all leaves would show, in Python or inside `sorted` and `list`.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from math import log2
from typing import Any

import pytest

from engine.kv import hashed
from tests.bench.cache_sizes import SHAPES, FullCache

TREE, HASHED, ONE_QUEUE = SHAPES
FOLDER = hashed.__file__.rpartition("hashed")[0]
NUM_PROMPTS = 20


class Tally:
    """How often something was gone through or run."""

    def __init__(self) -> None:
        self.count = 0

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        self.count += 1
        return self.trace

    def watched(self, table: Any) -> Any:
        """The same dict (ordered if it was), list or set, which counts the entries that somebody goes through."""
        tally = self

        class Watched(type(table)):
            def __iter__(self) -> Iterator:
                for entry in super().__iter__():
                    tally.count += 1
                    yield entry

            def keys(self) -> Iterator:
                return iter(self)

            def values(self) -> Iterator:
                return (self[key] for key in self)

            def items(self) -> Iterator:
                return ((key, self[key]) for key in self)

            def sort(self, **how: Any) -> None:
                self[:] = sorted(self, **how)

            def __sub__(self, others: Any) -> set:
                return {entry for entry in self if entry not in others}

        return Watched(table)

    def of(self, action: Callable[[], object]) -> int:
        """Operations of one call."""
        before = self.count
        outer = sys.gettrace()
        sys.settrace(self.trace)
        try:
            action()
        finally:
            sys.settrace(outer)
        return self.count - before


def watched_cache(shape: Any, size: int) -> tuple[FullCache, Tally]:
    """A full cache whose tables are watched."""
    cache, tally = FullCache(shape, size), Tally()
    if shape is TREE:
        pool, leaves = cache.kv.pool, cache.kv.tree._leaves
        pool.stored = tally.watched(pool.stored)
        leaves._entries = tally.watched(leaves._entries)
    else:
        known, free = cache.kv.known, cache.kv.pool.free_list
        known.held = tally.watched(known.held)
        known._prefixes = tally.watched(known._prefixes)
        free._queue = tally.watched(free._queue)
    return cache, tally


def most_of_a_request(shape: Any, size: int) -> int:
    cache, tally = watched_cache(shape, size)
    return max(tally.of(lambda prompt=prompt: cache.serve([prompt])) for prompt in cache.prompts(NUM_PROMPTS))


def test_a_scan_is_counted_wherever_it_runs() -> None:
    tally = Tally()
    table = tally.watched(OrderedDict.fromkeys(range(50)))
    for scan in (list, sorted, set, lambda t: list(t.items()), lambda t: dict(t), lambda t: 7 in list(t)):
        assert tally.of(lambda scan=scan: scan(table)) >= 50
    heap, stored = tally.watched([*range(50)]), tally.watched({*range(50)})
    for scan in (lambda: min(heap), lambda: heap.sort(), lambda: sorted(stored), lambda: stored - {1}):
        assert tally.of(scan) >= 50
    assert tally.of(lambda: (7 in table, table.get(3), table.pop(5), len(table))) == 0
    assert tally.of(lambda: (heap[0], heap.append(7), heap.pop(), 7 in stored, stored.add(7), len(stored))) == 0
    assert tally.of(lambda: table.popitem(last=False)) <= 1


@pytest.mark.parametrize("shape", [HASHED, ONE_QUEUE], ids=lambda shape: shape.name)
def test_a_request_costs_as_many_operations_among_a_hundred_times_the_blocks(shape: Any) -> None:
    few, many = (most_of_a_request(shape, size) for size in (1_000, 100_000))
    assert few == many


def test_a_request_costs_more_in_a_larger_tree_only_by_the_depth_of_the_heap() -> None:
    """A step down the heap is a dozen lines at most; a request moves a few leaves in it."""
    few, many = (most_of_a_request(TREE, size) for size in (100, 10_000))
    assert many - few <= 100 * log2(10_000 / 100)
    assert many < 10_000


@pytest.mark.parametrize("shape", [HASHED, ONE_QUEUE], ids=lambda shape: shape.name)
def test_forgetting_three_blocks_touches_as_many_in_a_large_cache(shape: Any) -> None:
    counts = []
    for size in (1_000, 100_000):
        cache, tally = watched_cache(shape, size)
        counts.append(tally.of(lambda cache=cache: cache.kv.evict(3)))
    assert counts[0] == counts[1]
