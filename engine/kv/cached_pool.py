"""The pool of a prefix cache: a free block may still hold content that is known, until it is taken for something else.

Free blocks without content are handed out first, in the order of the free list; then the cached ones, least recently
freed first. With the list `all_at_tail` (vLLM before 0.23, nano-vllm) every returned block waits in one queue. A block
anywhere in that queue leaves it in constant time when it is hit.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from engine.kv.block_pool import BlockPool
from engine.kv.free_list import FreeList
from engine.kv.prefix_cache import KnownBlocks


class CachedFreeList:
    """Free ids of a pool. `evict` is called with the blocks that lose their content because they are taken."""

    def __init__(
        self,
        order: str,
        first: int,
        end: int,
        script: Sequence[int],
        known: KnownBlocks,
        evict: Callable[[list[int]], object],
    ) -> None:
        self._all_at_tail = order == "all_at_tail"
        self._unknown = FreeList("fifo" if self._all_at_tail else order, first, end, script)
        self._queue: OrderedDict[int, None] = OrderedDict()
        self._known = known
        self._evict = evict

    def __len__(self) -> int:
        return len(self._unknown) + len(self._queue)

    def take(self, count: int) -> list[int]:
        """The next `count` ids; the caller has checked that there are so many."""
        num_unknown = min(count, len(self._unknown))
        ids = self._unknown.take(num_unknown) if num_unknown else []
        if num_unknown == count:
            return ids
        pop, held = self._queue.popitem, self._known.held
        queued = [pop(last=False)[0] for _ in range(count - num_unknown)]
        evicted = [block for block in queued if block in held]
        if evicted:
            self._evict(evicted)
        return ids + queued

    def put(self, ids: Iterable[int]) -> None:
        """Return ids of one sequence; the first one given is the next of them to go."""
        queue = self._queue
        if self._all_at_tail:
            queue.update(dict.fromkeys(ids))
            return
        unknown = []
        for block in ids:
            if block in self._known.held:
                queue[block] = None
            else:
                unknown.append(block)
        if unknown:
            self._unknown.put(unknown)

    def remove(self, block: int) -> None:
        """A cached block is hit."""
        del self._queue[block]

    def cached(self, limit: int | None = None) -> list[int]:
        """Free blocks that hold content, the next one to be evicted first (at most `limit`)."""
        return list(islice((block for block in self._queue if block in self._known.held), limit))

    def make_plain(self, blocks: list[int]) -> None:
        """These cached blocks have lost their content: they go before the cached ones."""
        if not self._all_at_tail:
            for block in blocks:
                del self._queue[block]
            self._unknown.put(blocks)

    def ids(self, limit: int | None = None) -> list[int]:
        """Free ids, next one first (at most `limit`)."""
        return [*self._unknown.ids(limit), *islice(self._queue, limit)][:limit]


class CachedPool(BlockPool):
    """A block pool whose free blocks may be hit."""

    def __init__(
        self,
        order: str,
        first: int,
        end: int,
        script: tuple[int, ...],
        known: KnownBlocks,
        evict: Callable[[list[int]], object],
    ) -> None:
        super().__init__("fifo", first, end)
        self.free_list: CachedFreeList = CachedFreeList(order, first, end, script, known, evict)  # type: ignore[assignment]

    def num_free_of(self, blocks: Iterable[int]) -> int:
        """How many of these blocks would leave the free list if they were touched."""
        counts = self.used
        return sum(block not in counts for block in blocks)

    def touch(self, blocks: Iterable[int]) -> None:
        """One more table names each of these blocks, free ones included."""
        counts = self.used
        for block in blocks:
            count = counts.get(block, 0)
            if not count:
                self.free_list.remove(block)
            counts[block] = count + 1
