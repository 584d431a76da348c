"""Physical blocks and their reference counts.

A block is in the free list or has a count above 0, never both. The pool does not know whose a block is.
"""

from collections.abc import Iterable

from engine.kv.free_list import FreeList


class BlockPool:
    """Blocks first .. end - 1. Only blocks in use have a count, so an unlimited pool starts empty."""

    def __init__(self, order: str, first: int, end: int, script: tuple[int, ...] = ()) -> None:
        self.first = first
        self.size = end - first
        self.free_list = FreeList(order, first, end, script)
        self._ref_count: dict[int, int] = {}

    @property
    def num_free(self) -> int:
        return len(self.free_list)

    @property
    def num_used(self) -> int:
        return self.size - len(self.free_list)

    @property
    def used(self) -> dict[int, int]:
        """Reference count of every block in use."""
        return self._ref_count

    def ref_count(self, block: int) -> int:
        return self._ref_count.get(block, 0)

    def take(self, count: int) -> list[int]:
        """`count` blocks with a count of 1; the caller has checked `num_free`."""
        blocks = self.free_list.take(count)
        for block in blocks:
            self._ref_count[block] = 1
        return blocks

    def share(self, blocks: Iterable[int]) -> None:
        """One more table names each of these blocks."""
        for block in blocks:
            self._ref_count[block] += 1

    def release(self, blocks: Iterable[int]) -> list[int]:
        """One table less names each of these blocks, in the given order; returns those that became free."""
        counts = self._ref_count
        freed = []
        for block in blocks:
            count = counts[block]
            if count == 1:
                del counts[block]
                freed.append(block)
            else:
                counts[block] = count - 1
        self.free_list.put(freed)
        return freed

    def check(self) -> None:
        """Free and used blocks are the whole pool, each once."""
        assert self.num_free + len(self._ref_count) == self.size, "free + used is not the size of the pool"
        assert all(count > 0 for count in self._ref_count.values()), "a used block has no reader"
        if self.size < 100_000:
            free = self.free_list.ids()
            assert len(free) == len(set(free)) == self.num_free, "the free list names a block twice"
            assert not self._ref_count.keys() & set(free), "a block is free and used"
