"""The leaves of a radix tree that may be evicted, in the order of an eviction policy.

A binary heap whose nodes know their place in it, so that a leaf that was used can move and one that is locked can leave
from the middle. It knows no tree: whoever owns the nodes says which of them are leaves without a lock.
"""

from typing import Any

from engine.kv.eviction import EvictionPolicy
from engine.kv.radix_node import RadixNode


class LeafHeap:
    """Every operation takes O(log n) steps, and nothing stale is ever in the heap. `num_steps` counts the steps."""

    def __init__(self, policy: EvictionPolicy) -> None:
        self.policy = policy
        self.num_steps = 0
        self._entries: list[tuple[Any, int, int, RadixNode]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def in_order(self) -> list[RadixNode]:
        """All leaves, the next to go first. Sorts them: for a look, not for an eviction."""
        return [entry[3] for entry in sorted(self._entries)]

    def add(self, node: RadixNode) -> None:
        self._entries.append(self._entry(node))
        self._rise(len(self._entries) - 1)

    def used(self, node: RadixNode) -> None:
        """The node's ages or counts have changed; no matter if it is not in the heap."""
        if node.heap_index >= 0:
            self._put(node.heap_index, self._entry(node))

    def discard(self, node: RadixNode) -> None:
        """Take the node out if it is in."""
        index = node.heap_index
        if index < 0:
            return
        node.heap_index = -1
        last = self._entries.pop()
        if last[3] is not node:
            self._put(index, last)

    def pop(self) -> RadixNode:
        """The next to go. Raises IndexError when there is none."""
        node = self._entries[0][3]
        self.discard(node)
        return node

    def clear(self) -> None:
        self._entries.clear()

    def check(self) -> None:
        """Keys are up to date and in heap order. Raises AssertionError."""
        for index, entry in enumerate(self._entries):
            assert entry[3].heap_index == index, "a leaf does not know its place in the heap"
            assert entry == self._entry(entry[3]), "a leaf was used without telling the heap"
            assert index == 0 or self._entries[(index - 1) // 2] < entry, "the heap is out of order"

    def _entry(self, node: RadixNode) -> tuple[Any, int, int, RadixNode]:
        return self.policy(node), node.last_access, node.number, node

    def _put(self, index: int, entry: tuple[Any, int, int, RadixNode]) -> None:
        """Write an entry to a place and move it where it belongs."""
        self._entries[index] = entry
        if index and entry < self._entries[(index - 1) // 2]:
            self._rise(index)
        else:
            self._sink(index)

    def _rise(self, index: int) -> None:
        entries = self._entries
        entry = entries[index]
        while index:
            self.num_steps += 1
            above = (index - 1) // 2
            if entries[above] < entry:
                break
            entries[index] = entries[above]
            entries[index][3].heap_index = index
            index = above
        entries[index] = entry
        entry[3].heap_index = index

    def _sink(self, index: int) -> None:
        entries = self._entries
        entry, end = entries[index], len(entries)
        below = 2 * index + 1
        while below < end:
            self.num_steps += 1
            if below + 1 < end and entries[below + 1] < entries[below]:
                below += 1
            if entry < entries[below]:
                break
            entries[index] = entries[below]
            entries[index][3].heap_index = index
            index, below = below, 2 * below + 1
        entries[index] = entry
        entry[3].heap_index = index
