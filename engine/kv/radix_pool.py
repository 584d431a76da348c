"""The pool under a radix tree: one pool for what is cached and what is running.

A block is in the free list, has readers, or is held by the tree alone. Blocks of the last kind are cached: they count as
free, because the tree gives them back as soon as somebody needs them.
"""

from collections.abc import Callable, Iterable

from engine.kv.block_pool import BlockPool


class RadixPool(BlockPool):
    """`stored` are the blocks that the tree holds, `num_cached` those of them that nobody reads. `evict` is called with
    the number of blocks that the free list lacks and has to `forget` as many, or more."""

    def __init__(
        self, order: str, first: int, end: int, script: tuple[int, ...], evict: Callable[[int], object]
    ) -> None:
        super().__init__(order, first, end, script)
        self.stored: set[int] = set()
        self.num_cached = 0
        self._evict = evict

    @property
    def num_empty(self) -> int:
        """Blocks that can be taken without an eviction."""
        return len(self.free_list)

    @property
    def num_free(self) -> int:
        return len(self.free_list) + self.num_cached

    @property
    def num_used(self) -> int:
        return len(self._ref_count)

    def take(self, count: int) -> list[int]:
        if count > len(self.free_list):
            self._evict(count - len(self.free_list))
        return super().take(count)

    def share(self, blocks: Iterable[int]) -> None:
        """One more table names each of these blocks, cached ones included."""
        counts = self._ref_count
        for block in blocks:
            count = counts.get(block, 0)
            self.num_cached -= not count
            counts[block] = count + 1

    def release(self, blocks: Iterable[int]) -> list[int]:
        """One table less names each of these blocks; returns those that nobody reads any more. The tree keeps its own."""
        counts, freed = self._ref_count, []
        for block in blocks:
            counts[block] -= 1
            if not counts[block]:
                del counts[block]
                freed.append(block)
        kept = [block for block in freed if block in self.stored]
        self.num_cached += len(kept)
        self.free_list.put(block for block in freed if block not in self.stored)
        return freed

    def store(self, blocks: Iterable[int]) -> None:
        """The tree holds these blocks, each of which has a reader, from now on."""
        self.stored.update(blocks)

    def forget(self, blocks: list[int]) -> None:
        """The tree gave up these blocks, which nobody reads."""
        self.stored.difference_update(blocks)
        self.num_cached -= len(blocks)
        self.free_list.put(blocks)

    def check(self) -> None:
        assert len(self.free_list) + len(self.stored | self._ref_count.keys()) == self.size, "a block is lost"
        assert self.num_cached == len(self.stored - self._ref_count.keys()), "the number of cached blocks is wrong"
        assert all(count > 0 for count in self._ref_count.values()), "a used block has no reader"
        if self.size < 100_000:
            free = self.free_list.ids()
            assert len(free) == len(set(free)) == len(self.free_list), "the free list names a block twice"
            assert not (self._ref_count.keys() | self.stored) & set(free), "a block is free and in use"
