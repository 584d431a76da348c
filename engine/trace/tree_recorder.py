"""The radix tree in the recorder: one row for every node that a transaction changed, written when it closes.

The tokens of the nodes go to one list that only grows, the token pool. A new node names its part of it; a split gives
the upper half the beginning of that part and the lower half the rest, so nothing is ever copied.
"""

from typing import Any

import numpy as np

from engine.trace.buffer import LARGEST, RowBuffer, clipped
from engine.trace.memory_recorder import MemoryRecorder
from engine.trace.track import SPECS

LOWEST = -(2**31)


class TreeRecorder(MemoryRecorder):
    """`_changed` are the nodes of the open transaction by number, `_first` where the tokens of each node begin."""

    def __init__(self, block_size: int) -> None:
        super().__init__(block_size)
        self._node_rows = RowBuffer(2 + len(SPECS["nodes"].columns))
        self._tokens = RowBuffer(2)
        self._num_tokens = 0
        self._first: dict[int, int] = {}
        self._changed: dict[int, Any] = {}

    def drain_tokens(self) -> np.ndarray:
        """int32 [n, 2]: token and slot of what was inserted since the last call."""
        return self._tokens.take()

    def drain_memory(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        rows, new_keys, happenings = super().drain_memory()
        return {**rows, "nodes": self._node_rows.take()}, new_keys, happenings

    def close_nodes(self) -> None:
        """Write the rows of the open transaction, which is about to close."""
        event = self.event + 1
        for number, node in self._changed.items():
            if node.parent is None:
                self._node_rows.add(event, number, -1, 0, 0, 0, 0)
                del self._first[number]
            else:
                counts = (len(node.key), node.lock_ref, clipped(node.last_access))
                self._node_rows.add(event, number, node.parent.number, self._first[number], *counts)
        self._changed.clear()

    def matched(self, seq: Any, node: Any, blocks: list[int]) -> None:
        for index, block in enumerate(blocks if seq is not None else ()):
            self._read_also_by(seq, index, block)
        self._happened("hit", *_names(seq), target=node.number, amount=len(blocks) * self._block_size)

    def stored(self, seq: Any, blocks: list[int]) -> None:
        self._known.update(blocks)
        for block in blocks:
            self._owner.setdefault(block, seq.index)

    def kept(self, blocks: list[int]) -> None:
        self._known.update(blocks)
        for block in blocks:
            self._block_rows.add(self.event + 1, block, *self._left_free(block))

    def merged(self, seq: Any, swapped: dict[int, int], freed: list[int]) -> None:
        for index, old in swapped.items():
            self._read_also_by(seq, index, seq.block_table[index])
            if old in freed:
                self._block_rows.add(self.event + 1, old, 0, 0, -1, 0, 0)
            else:
                self._one_reader_less(old, self._block_size)
        self._forget(freed)
        self._happened("released", seq.group.index, seq.index, next(iter(swapped.values())), amount=len(freed))

    def node_split(self, upper: Any, lower: Any) -> None:
        first = self._first[lower.number]
        self._first[upper.number], self._first[lower.number] = first, first + len(upper.key)
        self._changed[upper.number], self._changed[lower.number] = upper, lower
        self._happened("split", -1, block=lower.number, target=upper.number, amount=len(upper.key))

    def node_touched(self, node: Any) -> None:
        self._path_changed(node)

    def node_inserted(self, seq: Any, node: Any) -> None:
        self._changed[node.number] = node
        self._first[node.number] = self._num_tokens
        tokens = node.key
        if min(tokens) < LOWEST or max(tokens) > LARGEST:
            tokens = [max(clipped(token), LOWEST) for token in tokens]
        self._tokens.add_all(zip(tokens, node.slots, strict=True), len(tokens))
        self._num_tokens += len(node.key)
        self._happened("inserted", *_names(seq), target=node.number, amount=len(node.key))

    def node_evicted(self, seq: Any, node: Any, missing: int, free: int) -> None:
        self._changed[node.number] = node
        blocks = [slot // self._block_size for slot in node.slots[:: self._block_size]]
        self._known.difference_update(blocks)
        self._cached.difference_update(blocks)
        for block in blocks:
            self._block_rows.add(self.event + 1, block, 0, 0, -1, 0, 0)
        self._happened("evicted", *_names(seq), target=node.number, amount=len(node.key))

    def node_locked(self, seq: Any, node: Any, num_tokens: int) -> None:
        self._path_changed(node)
        self._happened("locked", *_names(seq), target=node.number, amount=num_tokens)

    def node_unlocked(self, seq: Any, node: Any, num_tokens: int) -> None:
        self._path_changed(node)
        self._happened("unlocked", *_names(seq), target=node.number, amount=num_tokens)

    def _path_changed(self, node: Any) -> None:
        while node.parent is not None:
            self._changed[node.number] = node
            node = node.parent

    def _read_also_by(self, seq: Any, index: int, block: int) -> None:
        """Entry `index` of the table of `seq` now names a full block that others read, or that the tree alone held."""
        self._table_rows.add(self.event + 1, seq.index, index, block)
        ref_count = 1
        if block in self._cached:
            self._cached.discard(block)
            self._owner[block] = seq.index
        else:
            self._shared[block] = ref_count = self._shared.get(block, 1) + 1
        self._block_rows.add(self.event + 1, block, 1, ref_count, self._owner[block], self._block_size, 0)


def _names(seq: Any) -> tuple[int, int]:
    """Index of the request and of the sequence, -1 without one."""
    return (-1, -1) if seq is None else (seq.group.index, seq.index)
