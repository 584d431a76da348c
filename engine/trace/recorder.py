"""Turns what the control plane does into the rows of a trace.

One row for every new value of a key, never one for a decoded token: sequences and open blocks are ramps. The recorder
keeps the last row of each block, because a row says everything about its key and not only what changed.
"""

from itertools import chain
from typing import Any

import numpy as np

from engine.trace.chunk import Chunk
from engine.trace.listener import Listener
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, HAPPENINGS, REASONS, RESOURCES, SPECS

_KIND = {name: number for number, name in enumerate(HAPPENINGS)}
_ACTION = {name: number for number, name in enumerate(ACTIONS)}
_REASON = {name: number for number, name in enumerate(REASONS)}
_RESOURCE = {name: number for number, name in enumerate(RESOURCES)}
_FREE_BLOCK = (0, 0, -1, 0, 0)
_SEAL_AT = 200_000


class Recorder(Listener):
    """Records one run. `header` describes it (see `Trace`); `drain` gives what is new, `trace` the whole."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.event = 0
        self._chunks: list[Chunk] = []
        self._block_size = header["block_size"]
        self._ticks = 0
        self._blocks: dict[int, tuple[int, ...]] = {}
        self._strips: dict[int, tuple[int, int]] = {}
        self._slots: dict[int, list[int]] = {}
        self._num_slots = 0
        self._once_shared: set[int] = set()
        self._ranges: dict[int, tuple[int, ...]] = {}
        self._boundary = 0
        self._clear()

    def _clear(self) -> None:
        self._requests: list[dict[str, Any]] = []
        self._request_rows: list[tuple[int, ...]] = []
        self._sequence_rows: list[tuple[int, ...]] = []
        self._table_rows: list[tuple[int, ...]] = []
        self._block_rows: list[tuple[int, ...]] = []
        self._strip_rows: list[tuple[int, ...]] = []
        self._keys: list[tuple[int, int]] = []
        self._steps: list[tuple[int, ...]] = []
        self._times: list[tuple[float, float]] = []
        self._happenings: list[tuple[int, ...]] = []
        self._decisions: list[tuple[int, ...]] = []

    def close(self) -> None:
        self.event += 1

    def drain(self) -> Chunk:
        """Everything since the last call, and forget it."""
        rows = {
            "requests": self._request_rows,
            "sequences": self._sequence_rows,
            "tables": self._table_rows,
            "blocks": self._block_rows,
            "strips": self._strip_rows,
        }
        chunk = Chunk(
            num_events=self.event,
            requests=self._requests,
            rows={name: _table(rows[name], 2 + len(SPECS[name].columns)) for name in self.header["tracks"]},
            keys={"tables": _table(self._keys, 2)} if "tables" in self.header["tracks"] else {},
            steps=_table(self._steps, 10),
            times=np.array(self._times, dtype=np.float64).reshape(-1, 2),
            happenings=_table(self._happenings, 7),
            decisions=_table(self._decisions, 8),
        )
        self._clear()
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
            "first_sequence": group.lead.index if group.sequences else 0,
            "after": request.after,
        }
        if request.measured:
            entry["measured"] = request.measured
        self._requests.append(entry)
        self._group(group)
        self._happened("arrived", group.index, amount=group.prompt_len)

    def rejected(self, group: Any, reason: str, resource: str, needed: int, available: int) -> None:
        self._group(group)
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

    def preempted(self, group: Any, cause: Any, needed: int, available: int) -> None:
        self._group(group)
        self._happened("preempted", group.index, group.lead.index, amount=needed)
        self._decided("preempt", "no_block", group.index, self.header["resource"], 1, available, cause.index)

    def finished(self, seq: Any) -> None:
        self._sequence(seq)

    def completed(self, group: Any) -> None:
        self._request(group)
        amount = sum(seq.num_output_tokens for seq in group.sequences)
        self._happened("finished", group.index, group.lead.index, amount=amount)

    def unseated(self, seq: Any) -> None:
        self._sequence(seq)

    def stopped(self, limit: int) -> None:
        self._decided("stop", "step_limit", -1, "steps", limit + 1, limit)

    def started(self, seq: Any, in_block: int) -> None:
        self._sequence(seq)
        if in_block >= 0:
            state, ref_count, _, fill, _ = self._now(in_block)
            self._block(in_block, state, ref_count, seq.index, fill, 1)
            if in_block in self._once_shared:
                self._once_shared.discard(in_block)
                self._happened("written_in_place", seq.group.index, seq.index, in_block)
        elif seq.index in self._strips:
            self._strip(seq)

    def paused(self, seq: Any) -> None:
        self._sequence(seq)
        if seq.block_table and seq.num_computed_tokens:
            block = seq.block_table[(seq.num_computed_tokens - 1) // self._block_size]
            state, ref_count, owner, fill, _ = self._now(block)
            self._block(block, state, ref_count, owner, fill, 0)
        elif seq.index in self._strips:
            self._strip(seq)

    # steps

    def advanced(self, batch: Any, jumps: list[Any], num_running: int, num_waiting: int, num_used: int) -> None:
        self._ticks += 1
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
            batch.num_tokens,
            len(batch.steady) + len(batch.planned),
            num_running,
            num_waiting,
            num_used,
            batch.num_emitted,
        )
        self._boundary = self.event + 1

    def updated(self, batch: Any, start: float, end: float) -> None:
        begin, scheduled, *counts = self._ranges.pop(batch.step)
        self._steps.append((begin, scheduled, self._boundary, self.event, *counts))
        self._times.append((start, end))
        self._boundary = self.event
        if len(self._block_rows) + len(self._table_rows) > _SEAL_AT:
            self._chunks.append(self.drain())

    # memory

    def allocated(self, seq: Any, blocks: list[int]) -> None:
        event, owner, rate = self.event + 1, seq.index, seq.rate
        index = len(seq.block_table)
        slots = self._slots_of(seq, index + len(blocks))
        for block in blocks:
            self._table_rows.append((event, slots[index], block))
            self._block(block, 1, 1, owner, 0, rate)
            index += 1
        if rate:
            full = seq.block_table[-1]
            state, ref_count, owner, _, _ = self._now(full)
            self._block(full, state, ref_count, owner, self._block_size, 0)
        self._happened("allocated", seq.group.index, seq.index, blocks[-1], amount=len(blocks))

    def copied(self, seq: Any, index: int, source: int, target: int, num_slots: int) -> None:
        self._table_rows.append((self.event + 1, self._slots[seq.index][index], target))
        state, ref_count, owner, fill, rate = self._now(source)
        self._block(source, state, ref_count - 1, owner, fill, rate)
        self._block(target, 1, 1, seq.index, num_slots, 0)
        self._happened("copied", seq.group.index, seq.index, source, target, num_slots)

    def forked(self, parent: Any, child: Any) -> None:
        event = self.event + 1
        self._sequence(child)
        slots = self._slots_of(child, len(child.block_table))
        for slot, block in zip(slots, child.block_table, strict=False):
            self._table_rows.append((event, slot, block))
            state, ref_count, owner, fill, rate = self._now(block)
            self._block(block, state, ref_count + 1, owner, fill, rate)
            self._happened("shared", child.group.index, child.index, block, amount=ref_count + 1)
        if child.block_table and child.num_computed_tokens % self._block_size:
            self._once_shared.add(child.block_table[-1])
        elif child.index in self._strips:
            self._strip(child)

    def freed(self, seq: Any, table: list[int], freed: list[int]) -> None:
        event = self.event + 1
        self._table_rows += [(event, slot, -1) for slot in self._slots[seq.index][: len(table)]]
        for block in freed:
            self._block(block, *_FREE_BLOCK)
            self._once_shared.discard(block)
        if len(freed) < len(table):
            gone = set(freed)
            for block in table:
                if block not in gone:
                    state, ref_count, owner, fill, _ = self._now(block)
                    self._block(block, state, ref_count - 1, owner, fill, 0)
        self._happened("released", seq.group.index, seq.index, table[-1], amount=len(freed))

    def moved(self, group: Any, moved: dict[int, int], ref_count: dict[int, int]) -> None:
        event = self.event + 1
        kind = "moved_out" if min(moved) < min(moved.values()) else "moved_in"
        for old, new in moved.items():
            state, _, owner, fill, _ = self._now(old)
            self._block(old, *_FREE_BLOCK)
            self._block(new, state, ref_count[new], owner, fill, 0)
            self._happened(kind, group.index, -1, old, new)
        for seq in group.sequences:
            slots = self._slots.get(seq.index, ())
            self._table_rows += [(event, slot, block) for slot, block in zip(slots, seq.block_table, strict=False)]

    def reserved(self, seq: Any, start: int, size: int) -> None:
        self._strips[seq.index] = (start, size)
        self._strip(seq)
        self._happened("allocated", seq.group.index, seq.index, start, amount=size)

    def unreserved(self, seq: Any, size: int) -> None:
        start, _ = self._strips.pop(seq.index)
        self._strip_rows.append((self.event + 1, seq.index, -1, 0, 0, 0))
        self._happened("released", seq.group.index, seq.index, start, amount=size)

    # rows

    def _group(self, group: Any) -> None:
        self._request(group)
        for seq in group.sequences:
            self._sequence(seq)

    def _request(self, group: Any) -> None:
        self._request_rows.append((self.event + 1, group.index, group.status, group.rank, group.num_preemptions))

    def _sequence(self, seq: Any) -> None:
        self._sequence_rows.append(
            (self.event + 1, seq.index, seq.status, seq.seat, seq.num_tokens, seq.num_computed_tokens, seq.rate)
        )

    def _block(self, block: int, state: int, ref_count: int, owner: int, fill: int, rate: int) -> None:
        self._block_rows.append((self.event + 1, block, state, ref_count, owner, fill, rate))
        self._blocks[block] = (state, ref_count, owner, fill, rate, self._ticks)

    def _now(self, block: int) -> tuple[int, int, int, int, int]:
        """Fields of a block with its ramp evaluated."""
        state, ref_count, owner, fill, rate, tick = self._blocks[block]
        return state, ref_count, owner, fill + rate * (self._ticks - tick), rate

    def _fill(self, seq: Any, start: int) -> None:
        """The blocks that hold tokens from `start` on have been filled up to the computed tokens."""
        size, end = self._block_size, seq.num_computed_tokens
        for index in range(start // size, (end - 1) // size + 1):
            block = seq.block_table[index]
            state, ref_count, _, _, _ = self._now(block)
            self._block(block, state, ref_count, seq.index, min(size, end - index * size), 0)

    def _strip(self, seq: Any) -> None:
        start, size = self._strips[seq.index]
        self._strip_rows.append((self.event + 1, seq.index, start, size, seq.num_computed_tokens, seq.rate))

    def _slots_of(self, seq: Any, count: int) -> list[int]:
        """Row keys of the first `count` table entries of a sequence; new ones are numbered on."""
        slots = self._slots.setdefault(seq.index, [])
        while len(slots) < count:
            self._keys.append((seq.index, len(slots)))
            slots.append(self._num_slots)
            self._num_slots += 1
        return slots

    def _happened(
        self, kind: str, request: int, sequence: int = -1, block: int = -1, target: int = -1, amount: int = 0
    ) -> None:
        self._happenings.append((self.event + 1, _KIND[kind], request, sequence, block, target, amount))

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
        self._decisions.append(
            (self.event + 1, _ACTION[action], _REASON[reason], request, _RESOURCE[resource], needed, available, other)
        )


def _table(rows: list[tuple[int, ...]], num_columns: int) -> np.ndarray:
    """Tuples as an int32 array [rows, columns]."""
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=len(rows) * num_columns)
    return flat.reshape(-1, num_columns)
