"""The memory half of the recorder: what becomes of blocks, table entries and strips.

A row says everything about its key, so this half remembers who owns a block and how many tables name it when they are
several. Fills are exact at the end of a transaction and grow by themselves while their sequence decodes.
"""

from struct import Struct
from typing import Any

from engine.trace.buffer import RowBuffer, clipped
from engine.trace.listener import Listener
from engine.trace.track import HAPPENING_COLUMNS, HAPPENINGS, SPECS

_KIND = {name: number for number, name in enumerate(HAPPENINGS)}
_ALLOCATED = _KIND["allocated"]

_pack_block = Struct("<7i").pack
_pack_entry = Struct("<3i").pack
_pack_key = Struct("<2i").pack
_pack_happening = Struct("<7i").pack


class MemoryRecorder(Listener):
    """`event` counts closed transactions; rows of the open one carry `event + 1`."""

    def __init__(self, block_size: int) -> None:
        self.event = 0
        self._block_size = block_size
        self._owner: dict[int, int] = {}
        self._shared: dict[int, int] = {}
        self._once_shared: set[int] = set()
        self._strips: dict[int, tuple[int, int]] = {}
        self._slots: dict[int, list[int]] = {}
        self._num_slots = 0
        self._keys = RowBuffer(2)
        self._happenings = RowBuffer(len(HAPPENING_COLUMNS))
        self._rows = {name: RowBuffer(2 + len(SPECS[name].columns)) for name in SPECS}
        self._sequence_rows = self._rows["sequences"]
        self._table_rows = self._rows["tables"]
        self._block_rows = self._rows["blocks"]
        self._strip_rows = self._rows["strips"]

    def allocated(self, seq: Any, blocks: list[int]) -> None:
        event, owner, rate, table = self.event + 1, seq.index, seq.rate, seq.block_table
        index = len(table)
        slots = self._slots.get(owner, ())
        if len(slots) < index + len(blocks):
            slots = self._slots_of(owner, index + len(blocks))
        rows, entries, owners = self._block_rows.data, self._table_rows.data, self._owner
        if rate:
            rows += _pack_block(event, table[-1], 1, 1, owner, self._block_size, 0)
        for block in blocks:
            entries += _pack_entry(event, slots[index], block)
            rows += _pack_block(event, block, 1, 1, owner, 0, rate)
            owners[block] = owner
            index += 1
        happenings = self._happenings.data
        happenings += _pack_happening(event, _ALLOCATED, seq.group.index, owner, blocks[-1], -1, len(blocks))

    def copied(self, seq: Any, index: int, source: int, target: int, num_slots: int) -> None:
        event = self.event + 1
        self._table_rows.add(event, self._slots[seq.index][index], target)
        self._owner[target] = seq.index
        self._one_reader_less(source, num_slots)
        self._block_rows.add(event, target, 1, 1, seq.index, num_slots, 0)
        self._happened("copied", seq.group.index, seq.index, source, target, num_slots)

    def forked(self, parent: Any, child: Any) -> None:
        event, size = self.event + 1, self._block_size
        computed = child.num_computed_tokens
        self._sequence(child)
        slots = self._slots_of(child.index, len(child.block_table))
        for index, block in enumerate(child.block_table):
            self._table_rows.add(event, slots[index], block)
            self._shared[block] = ref_count = self._shared.get(block, 1) + 1
            fill = max(0, min(size, computed - index * size))
            self._block_rows.add(event, block, 1, ref_count, self._owner[block], fill, 0)
            self._happened("shared", child.group.index, child.index, block, amount=ref_count)
        if child.block_table and computed % size:
            self._once_shared.add(child.block_table[computed // size])
        elif child.index in self._strips:
            self._strip(child)

    def freed(self, seq: Any, table: list[int], freed: list[int]) -> None:
        event = self.event + 1
        entries, rows = self._table_rows.data, self._block_rows.data
        for slot in self._slots[seq.index][: len(table)]:
            entries += _pack_entry(event, slot, -1)
        for block in freed:
            rows += _pack_block(event, block, 0, 0, -1, 0, 0)
        if self._once_shared:
            self._once_shared.difference_update(freed)
        if len(freed) < len(table):
            gone = set(freed)
            for index, block in enumerate(table):
                if block not in gone:
                    fill = min(self._block_size, seq.num_computed_tokens - index * self._block_size)
                    self._one_reader_less(block, max(0, fill))
        self._happened("released", seq.group.index, seq.index, table[-1], amount=len(freed))

    def moved(self, group: Any, moved: dict[int, int]) -> None:
        event, size = self.event + 1, self._block_size
        kind = "moved_out" if next(iter(moved)) < next(iter(moved.values())) else "moved_in"
        new = {home: old for old, home in moved.items()}
        for seq in group.sequences:
            for index, block in enumerate(seq.block_table):
                self._table_rows.add(event, self._slots[seq.index][index], block)
                old = new.pop(block, None)
                if old is not None:
                    ref_count = self._shared.pop(old, 1)
                    if ref_count > 1:
                        self._shared[block] = ref_count
                    owner = self._owner[block] = self._owner[old]
                    fill = max(0, min(size, seq.num_computed_tokens - index * size))
                    self._block_rows.add(event, old, 0, 0, -1, 0, 0)
                    self._block_rows.add(event, block, 1, ref_count, owner, fill, 0)
                    self._happened(kind, group.index, seq.index, old, block)

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
        self._owner[block] = seq.index
        self._block_rows.add(self.event + 1, block, 1, self._shared.get(block, 1), seq.index, fill, rate)

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
            self._owner[block] = owner
            rows += _pack_block(event, block, 1, shared.get(block, 1), owner, min(size, end - index * size), 0)

    def _strip(self, seq: Any) -> None:
        self._strip_rows.add(self.event + 1, seq.index, *self._strips[seq.index], seq.num_computed_tokens, seq.rate)

    def _slots_of(self, sequence: int, count: int) -> list[int]:
        """Row keys of the first `count` table entries of a sequence; new ones are numbered on."""
        slots = self._slots.get(sequence)
        if slots is None:
            slots = self._slots[sequence] = []
        keys = self._keys.data
        for index in range(len(slots), count):
            keys += _pack_key(sequence, index)
            slots.append(self._num_slots)
            self._num_slots += 1
        return slots

    def _happened(
        self, kind: str, request: int, sequence: int = -1, block: int = -1, target: int = -1, amount: int = 0
    ) -> None:
        self._happenings.add(self.event + 1, _KIND[kind], request, sequence, block, target, clipped(amount))
