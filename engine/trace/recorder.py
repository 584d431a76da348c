"""Turns what the control plane does into the rows of a trace.

One row for every new value of a key, never one for a decoded token: sequences and open blocks are ramps. A row says
everything about its key, so the recorder remembers who owns a block and how many tables name it when they are several.
"""

from struct import Struct
from typing import Any

import numpy as np

from engine.trace.buffer import RowBuffer, clipped
from engine.trace.chunk import Chunk
from engine.trace.listener import Listener
from engine.trace.trace import Trace
from engine.trace.track import (
    ACTIONS,
    DECISION_COLUMNS,
    HAPPENING_COLUMNS,
    HAPPENINGS,
    REASONS,
    RESOURCES,
    SPECS,
    STEP_COLUMNS,
)

_KIND = {name: number for number, name in enumerate(HAPPENINGS)}
_ACTION = {name: number for number, name in enumerate(ACTIONS)}
_REASON = {name: number for number, name in enumerate(REASONS)}
_RESOURCE = {name: number for number, name in enumerate(RESOURCES)}
_ALLOCATED = _KIND["allocated"]
_SEAL_AT = 4_000_000

_pack_block = Struct("<7i").pack
_pack_entry = Struct("<3i").pack
_pack_key = Struct("<2i").pack
_pack_happening = Struct("<7i").pack


class Recorder(Listener):
    """Records one run. `header` describes it (see `Trace`); `drain` gives what is new, `trace` the whole.

    `event` counts closed transactions; rows of the open one carry `event + 1`.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.event = 0
        self._chunks: list[Chunk] = []
        self._block_size = header["block_size"]
        self._owner: dict[int, int] = {}
        self._shared: dict[int, int] = {}
        self._once_shared: set[int] = set()
        self._strips: dict[int, tuple[int, int]] = {}
        self._slots: dict[int, list[int]] = {}
        self._num_slots = 0
        self._ranges: dict[int, tuple[int, ...]] = {}
        self._boundary = 0
        self._rows = {name: RowBuffer(2 + len(SPECS[name].columns)) for name in SPECS}
        self._keys = RowBuffer(2)
        self._steps = RowBuffer(len(STEP_COLUMNS))
        self._times: list[tuple[float, float]] = []
        self._happenings = RowBuffer(len(HAPPENING_COLUMNS))
        self._decisions = RowBuffer(len(DECISION_COLUMNS))
        self._requests: list[dict[str, Any]] = []
        self._sequence_rows = self._rows["sequences"]
        self._table_rows = self._rows["tables"]
        self._block_rows = self._rows["blocks"]
        self._strip_rows = self._rows["strips"]

    def close(self) -> None:
        self.event += 1

    def drain(self) -> Chunk:
        """Everything since the last call, and forget it."""
        tracks = self.header["tracks"]
        chunk = Chunk(
            num_events=self.event,
            requests=self._requests,
            rows={name: self._rows[name].take() for name in tracks},
            keys={"tables": self._keys.take()} if "tables" in tracks else {},
            steps=self._steps.take(),
            times=np.array(self._times, dtype=np.float64).reshape(-1, 2),
            happenings=self._happenings.take(),
            decisions=self._decisions.take(),
        )
        self._requests, self._times = [], []
        return chunk

    def trace(self) -> Trace:
        """The whole run so far."""
        self._chunks.append(self.drain())
        return Trace.of(self.header, self._chunks)

    # requests and sequences

    def arrived(self, group: Any) -> None:
        request = group.request
        entry = {
            "id": request.request_id,
            "prompt_len": group.prompt_len,
            "output_len": request.sampling.max_tokens,
            "n": len(group.sequences),
            "arrival_s": request.arrival_time,
            "tenant": request.tenant,
            "priority": request.priority,
            "first_sequence": group.sequences[0].index,
            "after": request.after,
        }
        if request.measured:
            entry["measured"] = request.measured
        self._requests.append(entry)
        self._group(group)
        self._happened("arrived", group.index, amount=group.prompt_len)

    def rejected(self, group: Any, reason: str, resource: str, needed: int, available: int) -> None:
        self._happened("rejected", group.index, amount=needed)
        self._decided("reject", reason, group.index, resource, needed, available)

    def admitted(self, group: Any, num_tokens: int, resumed: bool) -> None:
        self._group(group)
        self._happened("resumed" if resumed else "admitted", group.index, group.lead.index, amount=num_tokens)
        self._decided("admit", "fits", group.index)

    def skipped(self, group: Any, reason: str, resource: str, needed: int, available: int, other: int) -> None:
        self._decided("skip", reason, group.index, resource, needed, available, other)

    def oversized(self, group: Any, needed: int, available: int) -> None:
        self._decided("oversize", "alone", group.index, "tokens", needed, available)

    def preempted(self, group: Any, cause: Any, lost: int, available: int) -> None:
        self._group(group)
        self._happened("preempted", group.index, group.lead.index, amount=lost)
        self._decided("preempt", "no_block", group.index, self.header["resource"], 1, available, cause.index)

    def finished(self, seq: Any) -> None:
        self._sequence(seq)
        if seq.index in self._strips:
            self._strip(seq)

    def completed(self, group: Any) -> None:
        self._request(group)
        amount = sum(seq.num_output_tokens for seq in group.sequences)
        self._happened("finished", group.index, group.lead.index, amount=amount)

    def unseated(self, seq: Any) -> None:
        self._sequence(seq)

    def stopped(self, limit: int) -> None:
        self._decided("stop", "step_limit", -1, "steps", limit + 1, limit)

    def started(self, seq: Any) -> None:
        computed = seq.num_computed_tokens
        self._sequence_rows.add(self.event + 1, seq.index, seq.status, seq.seat, seq.num_tokens, computed, 1)
        if seq.block_table:
            block = seq.block_table[computed // self._block_size]
            self._open_block(seq, block, computed % self._block_size, 1)
            if block in self._once_shared:
                self._once_shared.discard(block)
                self._happened("written_in_place", seq.group.index, seq.index, block)
        elif seq.index in self._strips:
            self._strip_rows.add(self.event + 1, seq.index, *self._strips[seq.index], computed, 1)

    def paused(self, seq: Any) -> None:
        self._sequence(seq)
        last = seq.num_computed_tokens - 1
        if seq.block_table:
            block = seq.block_table[last // self._block_size]
            self._open_block(seq, block, last % self._block_size + 1, 0)
        elif seq.index in self._strips:
            self._strip(seq)

    # steps

    def advanced(
        self, batch: Any, jumps: list[tuple[Any, int]], num_running: int, num_waiting: int, num_used: int
    ) -> None:
        for seq, num_tokens in jumps:
            self._sequence(seq)
            if seq.block_table:
                self._fill(seq, seq.num_computed_tokens - num_tokens)
            elif seq.index in self._strips:
                self._strip(seq)
        self._happened("advanced", -1, amount=batch.num_tokens)
        self._ranges[batch.step] = (
            self._boundary,
            self.event + 1,
            clipped(batch.num_tokens),
            len(batch.steady) + len(batch.planned),
            num_running,
            num_waiting,
            num_used,
            batch.num_emitted,
        )
        self._boundary = self.event + 1

    def updated(self, batch: Any, start: float, end: float) -> None:
        begin, scheduled, *counts = self._ranges.pop(batch.step)
        self._steps.add(begin, scheduled, self._boundary, self.event, *counts)
        self._times.append((start, end))
        self._boundary = self.event
        if len(self._block_rows.data) > _SEAL_AT:
            self._chunks.append(self.drain())

    # memory

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

    # rows

    def _group(self, group: Any) -> None:
        self._request(group)
        for seq in group.sequences:
            self._sequence(seq)

    def _request(self, group: Any) -> None:
        self._rows["requests"].add(self.event + 1, group.index, group.status, group.rank, group.num_preemptions)

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

    def _decided(
        self,
        action: str,
        reason: str,
        request: int,
        resource: str = "none",
        needed: int = 0,
        available: int = 0,
        other: int = -1,
    ) -> None:
        codes = (_ACTION[action], _REASON[reason], request, _RESOURCE[resource])
        self._decisions.add(self.event + 1, *codes, clipped(needed), clipped(available), other)
