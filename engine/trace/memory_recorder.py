"""The memory half of the recorder: what becomes of blocks, table entries and strips.

A row says everything about its key, so this half remembers who owns a block and how many tables name it when they are
several. Fills are exact at the end of a transaction and grow by themselves while their sequence decodes.

By far the most frequent transaction is a decoding sequence that gets its next block. It is noted in one short record
and becomes its four rows, many at a time, when the recorder is drained.

With a prefix cache a free block may still be known; then its state is `cached`, its fill that of a full block.
"""

from collections import Counter
from struct import Struct
from typing import Any

import numpy as np

from engine.trace.buffer import RowBuffer, clipped
from engine.trace.key_numbers import KeyNumbers
from engine.trace.listener import Listener
from engine.trace.track import HAPPENING_COLUMNS, HAPPENINGS, SPECS

_KIND = {name: number for number, name in enumerate(HAPPENINGS)}
_ALLOCATED = _KIND["allocated"]

_pack_block = Struct("<7i").pack
_pack_entry = Struct("<4i").pack
_pack_growth = Struct("<6i").pack


class MemoryRecorder(Listener):
    """`event` counts closed transactions; rows of the open one carry `event + 1`."""

    def __init__(self, block_size: int) -> None:
        self.event = 0
        self._block_size = block_size
        self._owner: dict[int, int] = {}
        self._shared: dict[int, int] = {}
        self._once_shared: set[int] = set()
        self._known: set[int] = set()
        self._cached: set[int] = set()
        self._strips: dict[int, tuple[int, int]] = {}
        self._key_numbers = KeyNumbers()
        self._happenings = RowBuffer(len(HAPPENING_COLUMNS))
        self._sequence_rows = RowBuffer(2 + len(SPECS["sequences"].columns))
        self._block_rows = RowBuffer(2 + len(SPECS["blocks"].columns))
        self._strip_rows = RowBuffer(2 + len(SPECS["strips"].columns))
        self._table_rows = RowBuffer(4)
        self._growths = RowBuffer(6)

    def drain_memory(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Rows of tables, blocks and strips, the new keys of tables, all happenings; everything is forgotten."""
        event, sequence, request, index, block, previous = self._growths.take().T
        one, none, size = np.ones_like(event), np.zeros_like(event), np.full_like(event, self._block_size)
        filled = (event, previous, one, one, sequence, size, none)
        opened = (event, block, one, one, sequence, none, one)
        grown = np.stack([np.stack(filled, 1), np.stack(opened, 1)], 1).reshape(-1, 7)
        happened = np.stack((event, one * _ALLOCATED, request, sequence, block, none - 1, one), 1)
        tables = _merged(np.stack((event, sequence, index, block), 1), self._table_rows.take())
        keys, new_keys = self._key_numbers.number(tables[:, 1:3])
        rows = {
            "tables": np.stack((tables[:, 0], keys, tables[:, 3]), 1),
            "blocks": _merged(grown, self._block_rows.take()),
            "strips": self._strip_rows.take(),
        }
        return rows, new_keys, _merged(happened, self._happenings.take())

    def allocated(self, seq: Any, blocks: list[int]) -> None:
        event, owner, index = self.event + 1, seq.index, len(seq.block_table)
        previous = seq.block_table[-1] if seq.rate else -1
        if previous in self._shared:
            self._block_rows.add(event, previous, 1, self._shared[previous], self._owner[previous], self._block_size, 0)
            self._block_rows.add(event, blocks[0], 1, 1, owner, 0, 1)
            self._table_rows.add(event, owner, index, blocks[0])
            self._happened("allocated", seq.group.index, owner, blocks[0], -1, 1)
            return
        if previous >= 0:
            growths = self._growths.data
            growths += _pack_growth(event, owner, seq.group.index, index, blocks[0], previous)
            return
        rows, entries = self._block_rows.data, self._table_rows.data
        for block in blocks:
            entries += _pack_entry(event, owner, index, block)
            rows += _pack_block(event, block, 1, 1, owner, 0, 0)
            index += 1
        self._happened("allocated", seq.group.index, owner, blocks[-1], -1, len(blocks))

    def copied(self, seq: Any, index: int, source: int, target: int, num_slots: int) -> None:
        event = self.event + 1
        self._table_rows.add(event, seq.index, index, target)
        self._one_reader_less(source, num_slots)
        self._block_rows.add(event, target, 1, 1, seq.index, num_slots, 0)
        self._happened("copied", seq.group.index, seq.index, source, target, num_slots)

    def forked(self, parent: Any, child: Any) -> None:
        event, size = self.event + 1, self._block_size
        computed = child.num_computed_tokens
        self._sequence(child)
        for index, block in enumerate(child.block_table):
            self._table_rows.add(event, child.index, index, block)
            self._shared[block] = ref_count = self._shared.get(block, 1) + 1
            fill = max(0, min(size, computed - index * size))
            owner = self._owner.setdefault(block, parent.index)
            self._block_rows.add(event, block, 1, ref_count, owner, fill, 0)
            self._happened("shared", child.group.index, child.index, block, amount=ref_count)
        if child.block_table and computed % size:
            self._once_shared.add(child.block_table[computed // size])
        elif child.index in self._strips:
            self._strip(child)

    def freed(self, seq: Any, table: list[int], freed: list[int]) -> None:
        event, owner = self.event + 1, seq.index
        entries, rows = self._table_rows.data, self._block_rows.data
        for index in range(len(table)):
            entries += _pack_entry(event, owner, index, -1)
        for block in freed:
            rows += _pack_block(event, block, *self._left_free(block))
        if self._owner:
            self._forget(freed)
        if len(freed) < len(table):
            gone = set(freed)
            for index, block in enumerate(table):
                if block not in gone:
                    fill = min(self._block_size, seq.num_computed_tokens - index * self._block_size)
                    self._one_reader_less(block, max(0, fill))
        self._happened("released", seq.group.index, seq.index, table[-1], amount=len(freed))

    def moved(self, group: Any, moved: list[tuple[int, int]]) -> None:
        event, size = self.event + 1, self._block_size
        kind = "moved_out" if moved[0][0] < moved[0][1] else "moved_in"
        source = {home: old for old, home in moved}
        readers = Counter(block for seq in group.sequences for block in seq.block_table)
        gone: Counter[int] = Counter()
        for old, home in moved:
            gone[old] += readers[home]
        left_free = [old for old, num_readers in gone.items() if self._let_go(old, num_readers)]
        for seq in group.sequences:
            for index, block in enumerate(seq.block_table):
                self._table_rows.add(event, seq.index, index, block)
                if block in source:
                    old, ref_count = source.pop(block), readers[block]
                    if ref_count > 1:
                        self._shared[block] = ref_count
                    writer = self._owner.get(old, seq.index)
                    self._owner[block] = owner = writer if ref_count > 1 else seq.index
                    fill = max(0, min(size, seq.num_computed_tokens - index * size))
                    self._block_rows.add(event, block, 1, ref_count, owner, fill, 0)
                    self._happened(kind, group.index, seq.index, old, block)
        self._forget(left_free)

    def hit(self, seq: Any, blocks: list[int]) -> None:
        event, owner, size = self.event + 1, seq.index, self._block_size
        for index, block in enumerate(blocks):
            self._table_rows.add(event, owner, index, block)
            if block in self._cached:
                self._cached.discard(block)
                self._owner[block], ref_count = owner, 1
            else:
                self._shared[block] = ref_count = self._shared.get(block, 1) + 1
            self._block_rows.add(event, block, 1, ref_count, self._owner[block], size, 0)
        self._happened("hit", seq.group.index, owner, blocks[-1], amount=len(blocks) * size)

    def registered(self, seq: Any, blocks: list[int]) -> None:
        if blocks:
            self._known.update(blocks)
            for block in blocks:
                self._owner.setdefault(block, seq.index)
            self._happened("cached", seq.group.index, seq.index, blocks[-1], amount=len(blocks))

    def evicted(self, blocks: list[int]) -> None:
        self._known.difference_update(blocks)
        self._cached.difference_update(blocks)
        for block in blocks:
            self._happened("evicted", -1, block=block)

    def emptied(self, blocks: list[int]) -> None:
        for block in blocks:
            self._block_rows.add(self.event + 1, block, 0, 0, -1, 0, 0)

    def reserved(self, seq: Any, start: int, size: int) -> None:
        self._strips[seq.index] = (start, size)
        self._strip(seq)
        self._happened("allocated", seq.group.index, seq.index, start, amount=size)

    def unreserved(self, seq: Any, size: int) -> None:
        start, _ = self._strips.pop(seq.index)
        self._strip_rows.add(self.event + 1, seq.index, -1, 0, 0, 0)
        self._happened("released", seq.group.index, seq.index, start, amount=size)

    def _sequence(self, seq: Any) -> None:
        self._sequence_rows.add(
            self.event + 1, seq.index, seq.status, seq.seat, seq.num_tokens, seq.num_computed_tokens, seq.rate
        )

    def _open_block(self, seq: Any, block: int, fill: int, rate: int) -> None:
        self._now_written_by(seq.index, block)
        self._block_rows.add(self.event + 1, block, 1, self._shared.get(block, 1), seq.index, fill, rate)

    def _left_free(self, block: int) -> tuple[int, int, int, int, int]:
        """The fields of a block without readers."""
        if block not in self._known:
            return 0, 0, -1, 0, 0
        self._cached.add(block)
        return 2, 0, -1, self._block_size, 0

    def _let_go(self, block: int, num_readers: int) -> bool:
        """So many tables less name a full block, or one that nobody else reads; returns whether it is free now."""
        left = self._shared.pop(block, 1) - num_readers
        if left <= 0:
            self._block_rows.add(self.event + 1, block, *self._left_free(block))
            return True
        if left > 1:
            self._shared[block] = left
        self._block_rows.add(self.event + 1, block, 1, left, self._owner[block], self._block_size, 0)
        return False

    def _one_reader_less(self, block: int, fill: int) -> None:
        ref_count = self._shared.pop(block) - 1
        if ref_count > 1:
            self._shared[block] = ref_count
        self._block_rows.add(self.event + 1, block, 1, ref_count, self._owner[block], fill, 0)

    def _fill(self, seq: Any, start: int) -> None:
        """The blocks that hold tokens from `start` on have been filled up to the computed tokens."""
        event, size, end, owner = self.event + 1, self._block_size, seq.num_computed_tokens, seq.index
        rows, shared = self._block_rows.data, self._shared
        for index in range(start // size, (end - 1) // size + 1):
            block = seq.block_table[index]
            self._now_written_by(owner, block)
            rows += _pack_block(event, block, 1, shared.get(block, 1), owner, min(size, end - index * size), 0)

    def _strip(self, seq: Any) -> None:
        self._strip_rows.add(self.event + 1, seq.index, *self._strips[seq.index], seq.num_computed_tokens, seq.rate)

    def _now_written_by(self, sequence: int, block: int) -> None:
        if block in self._owner:
            self._owner[block] = sequence

    def _forget(self, blocks: list[int]) -> None:
        self._once_shared.difference_update(blocks)
        for block in blocks:
            self._owner.pop(block, None)

    def _happened(
        self, kind: str, request: int, sequence: int = -1, block: int = -1, target: int = -1, amount: int = 0
    ) -> None:
        self._happenings.add(self.event + 1, _KIND[kind], request, sequence, block, target, clipped(amount))


def _merged(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rows of both in order of events; within an event `first` comes first."""
    rows = np.concatenate((first, second))
    return rows[np.argsort(rows[:, 0], kind="stable")]
