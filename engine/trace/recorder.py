"""Turns what the control plane does into the rows of a trace.

One row for every new value of a key, never one for a decoded token: sequences and open blocks are ramps. This half
hears of requests, sequences and steps; `memory_recorder` of blocks and strips.
"""

from typing import Any

import numpy as np

from engine.trace.buffer import RowBuffer, clipped
from engine.trace.chunk import Answer, Chunk
from engine.trace.prompts import MAX_PUBLISHED, is_published, published
from engine.trace.trace import Trace
from engine.trace.track import (
    ACTIONS,
    DECISION_COLUMNS,
    EVICTION_REASONS,
    REASONS,
    RESOURCES,
    SPECS,
    STEP_COLUMNS,
)
from engine.trace.tree_recorder import TreeRecorder

_ACTION = {name: number for number, name in enumerate(ACTIONS)}
_REASON = {name: number for number, name in enumerate(REASONS)}
_RESOURCE = {name: number for number, name in enumerate(RESOURCES)}
_ENDINGS = {"stop": "stopped", "abort": "aborted"}
"""Finish reasons that are told of a sequence; it is no news that one ends at its length."""
_SEAL_AT = 4_000_000


class Recorder(TreeRecorder):
    """Records one run. `header` describes it (see `Trace`); `drain` gives what is new, `trace` the whole. With `seals` a
    long run is packed away in between; without, whoever drains it gets everything.

    `event` counts closed transactions; rows of the open one carry `event + 1`.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        super().__init__(header["block_size"])
        self.header = header
        self.seals = True
        self._chunks: list[Chunk] = []
        self._ranges: dict[int, tuple[int, ...]] = {}
        self._boundary = 0
        self._request_rows = RowBuffer(2 + len(SPECS["requests"].columns))
        self._steps = RowBuffer(len(STEP_COLUMNS))
        self._times: list[tuple[float, float]] = []
        self._decisions = RowBuffer(len(DECISION_COLUMNS))
        self._requests: list[dict[str, Any]] = []
        self._left_to_publish = MAX_PUBLISHED
        self._unanswered: set[int] = set()
        self._answers: list[Answer] = []

    def close(self) -> None:
        if self._changed:
            self.close_nodes()
        self.event += 1

    def drain(self) -> Chunk:
        """Everything since the last call, and forget it."""
        tracks = self.header["tracks"]
        rows, new_keys, happenings = self.drain_memory()
        rows |= {"requests": self._request_rows.take(), "sequences": self._sequence_rows.take()}
        chunk = Chunk(
            num_events=self.event,
            requests=self._requests,
            rows={name: rows[name] for name in tracks},
            keys={"tables": new_keys} if "tables" in tracks else {},
            steps=self._steps.take(),
            times=np.array(self._times, dtype=np.float64).reshape(-1, 2),
            happenings=happenings,
            decisions=self._decisions.take(),
            tokens=self.drain_tokens(),
            answers=self._answers,
        )
        self._requests, self._times, self._answers = [], [], []
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
        content, self._left_to_publish = published(request, self._left_to_publish)
        entry |= content
        if is_published(content) and "answer_ids" not in content:
            self._unanswered.add(group.index)
        self._requests.append(entry)
        self._group(group)
        self._happened("arrived", group.index, amount=group.prompt_len)

    def reranked(self, groups: list[Any]) -> None:
        for group in groups:
            self._request(group)

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

    def cut_short(self, seq: Any, resource: str, needed: int, available: int) -> None:
        self._happened("cut_short", seq.group.index, seq.index, amount=seq.num_output_tokens)
        self._decided("end", "no_block", seq.group.index, resource, needed, available)

    def finished(self, seq: Any) -> None:
        self._sequence(seq)
        if seq.finish_reason in _ENDINGS:
            kind = _ENDINGS[seq.finish_reason]
            self._happened(kind, seq.group.index, seq.index, amount=seq.num_output_tokens)
        if seq.index in self._strips:
            self._strip(seq)

    def completed(self, group: Any) -> None:
        self._request(group)
        self._publish_answers(group)
        if all(seq.finish_reason != "abort" for seq in group.sequences):
            amount = sum(seq.num_output_tokens for seq in group.sequences)
            self._happened("finished", group.index, group.lead.index, amount=amount)

    def _publish_answers(self, group: Any) -> None:
        """Now that it has ended, what a model or an operation has added to a prompt that is published."""
        if group.index not in self._unanswered:
            return
        self._unanswered.remove(group.index)
        ids = tuple(tuple(seq.output_token_ids) for seq in group.sequences)
        size = sum(map(len, ids))
        if size > self._left_to_publish:
            self._left_to_publish = 0
        elif size:
            self._left_to_publish -= size
            self._answers.append(Answer(group.index, ids))

    def node_evicted(self, seq: Any, node: Any, missing: int, free: int) -> None:
        super().node_evicted(seq, node, missing, free)
        reason = EVICTION_REASONS[self.header["settings"]["eviction"]]
        request = -1 if seq is None else seq.group.index
        self._decided("evict", reason, request, "tokens", missing, free, node.number)

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

    def entered(self, seq: Any) -> None:
        index = seq.num_computed_tokens // self._block_size
        self._open_block(seq, seq.block_table[index - 1], self._block_size, 0)
        self._open_block(seq, seq.block_table[index], 0, 1)

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
        if self.seals and len(self._block_rows.data) + 2 * len(self._growths.data) > _SEAL_AT:
            self._chunks.append(self.drain())

    # rows

    def _group(self, group: Any) -> None:
        self._request(group)
        for seq in group.sequences:
            self._sequence(seq)

    def _request(self, group: Any) -> None:
        self._request_rows.add(self.event + 1, group.index, group.status, group.rank, group.num_preemptions)

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
