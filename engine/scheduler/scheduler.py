"""The queues and the verbs of scheduling; a policy is a paragraph of these verbs.

There is no prefill and no decode phase: every sequence has to catch up with its known tokens (vLLM V1). Sequences in
the middle of a decode run are `steady`: they take one token a step without being looked at until their block is full
or their last token comes. The rest is `awake` and handled one by one, in running order.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import takewhile

from engine.batch import Batch, Row, StepOutput
from engine.kv.manager import KVManager
from engine.request import SequenceStatus
from engine.scheduler.preemption import VICTIMS
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import Listener

UNLIMITED = 2**31 - 1


class Scheduler:
    """`waiting` holds requests, `running` sequences by order of admission, `held` finished ones that keep their seat."""

    def __init__(self, settings: Settings, kv: KVManager, ticks: Ticks, recorder: Listener) -> None:
        self.settings = settings
        self.kv = kv
        self.waiting: deque[SequenceGroup] = deque()
        self.running: dict[int, Sequence] = {}
        self.held: list[Sequence] = []
        self.more_arrivals: Callable[[], bool] = lambda: False
        self.remaining = 0
        self.has_preempted = False
        self._batch = Batch(-1, None)
        self._num_steps = 0
        self._ticks = ticks
        self._recorder = recorder
        self._victim = VICTIMS[settings.victim]
        self._budget = settings.max_num_batched_tokens or UNLIMITED
        self._max_num_seqs = settings.max_num_seqs or UNLIMITED
        self._steady: dict[int, Sequence] = {}
        self._awake: dict[int, Sequence] = {}
        self._due: dict[int, list[Sequence]] = {}
        self._ends: dict[int, list[Sequence]] = {}
        self._steady_context = 0
        self._planned: dict[int, Row] = {}
        self._num_admitted = 0
        self._last_rank = 0
        self._first_rank = 0
        self._free_seats: list[int] = []
        self._num_seats = 0
        self._last_skip: tuple[int, str, int, int] | None = None

    @property
    def num_running(self) -> int:
        return len(self.running)

    # one step

    def begin(self) -> None:
        """Open a new step."""
        self._batch = Batch(self._num_steps, self.settings.max_num_batched_tokens)
        self._planned = {}
        self.has_preempted = False
        for seq in self._due.pop(self._ticks.now, ()):
            if seq.wake == self._ticks.now:
                self._wake(seq)
        self.remaining = self._budget - len(self._steady)

    def seal(self) -> Batch | None:
        """Close the step: every scheduled token is computed from here on. None when nothing was scheduled."""
        batch = self._batch
        if not self._planned and not self._steady:
            return None
        self._num_steps += 1
        batch.planned = sorted(self._planned.values(), key=lambda row: row.sequence.order)
        batch.steady = list(self._steady.values())
        num_steady = len(batch.steady)
        self._steady_context += num_steady
        batch.num_tokens = batch.num_emitted = num_steady
        batch.num_kv_read = batch.num_attention_pairs = self._steady_context
        self._ticks.now = now = self._ticks.now + 1
        for seq in self._ends.pop(now, ()):
            if seq.wake == now and not seq.num_missing_tokens:
                self._wake(seq)
                batch.ending.append(seq)
        jumps: list[tuple[Sequence, int]] = []
        for row in batch.planned:
            self._advance(batch, row, jumps)
        batch.ending.sort(key=lambda seq: seq.order)
        self._recorder.advanced(batch, jumps, len(self.running), len(self.waiting), self.kv.num_used)
        self._recorder.close()
        return batch

    def update(self, batch: Batch, output: StepOutput) -> list[Sequence]:
        """Take in the results: returns the sequences that are finished now (they still have their memory)."""
        if output.token_ids is not None:
            for row, token_ids in zip(batch.rows, output.token_ids, strict=True):
                samples = row.sequence.group.sequences if row.num_samples > 1 else (row.sequence,)
                for seq, token_id in zip(samples, token_ids, strict=False):
                    seq.output_token_ids.append(token_id)
        return [seq for seq in batch.ending if seq.status is not SequenceStatus.FINISHED]

    # verbs

    def enqueue(self, group: SequenceGroup) -> None:
        """A new request joins the end of the queue."""
        self._last_rank += 1
        group.rank = self._last_rank
        self.waiting.append(group)
        self._recorder.arrived(group)
        self._recorder.close()

    def run_running(self) -> None:
        """Every running sequence gets its missing tokens, in running order, as far as budget and memory go."""
        if self._is_tight():
            for seq in list(self._steady.values()):
                self._wake(seq)
            self.remaining = self._budget
        decodes_first = self.settings.running_order == "decodes_first"
        for order in sorted(self._awake):
            seq = self._awake.get(order)
            if seq is not None and not (decodes_first and not seq.is_decoding):
                self._run(seq)
        if decodes_first:
            for order in sorted(self._awake):
                seq = self._awake.get(order)
                if seq is not None and not seq.is_decoding:
                    self._run(seq)

    def admit_waiting(self, chunked: bool = False) -> None:
        """Requests leave the queue strictly in order while there is a seat, a token and memory."""
        while self.waiting and not self.has_preempted:
            group = self.waiting[0]
            if not self._admit(group, chunked):
                return

    def preempt(self, group: SequenceGroup, cause: SequenceGroup) -> None:
        """Recompute preemption: the whole request gives up its memory and goes to the head of the queue."""
        lost = group.num_distinct_computed_tokens
        for seq in reversed(group.unfinished):
            self._leave(seq)
            seq.settle()
            self.kv.free(seq)
            seq.reset()
            seq.status = SequenceStatus.PREEMPTED
            self.unseat(seq)
        group.status = SequenceStatus.PREEMPTED
        group.num_preemptions += 1
        self._first_rank -= 1
        group.rank = self._first_rank
        self.waiting.appendleft(group)
        self.has_preempted = True
        self._recorder.preempted(group, cause, lost, self.kv.num_free)
        self._recorder.close()

    def release(self, seq: Sequence) -> None:
        """A sequence with its last token gives back its memory and its seat."""
        self._finish(seq)
        self.kv.free(seq)
        self.unseat(seq)
        self._close_finished(seq)

    def hold(self, seq: Sequence) -> None:
        """A finished member of a static batch keeps its seat, and reserved memory as well."""
        self._finish(seq)
        self.held.append(seq)
        if not self.kv.is_reserved:
            self.kv.free(seq)
        self._close_finished(seq)

    def release_held(self) -> None:
        """The batch is over: seats and reservations return."""
        held, self.held = self.held, []
        for seq in held:
            self.kv.free(seq)
            self.unseat(seq)
            self._recorder.unseated(seq)
            self._recorder.close()

    def batch_can_start(self) -> bool:
        """Static batching: with `static_start` "full" a batch waits until it is full or nobody else comes."""
        num_waiting = sum(len(group.unfinished) for group in self.waiting)
        if self.settings.static_start == "now" or num_waiting >= self._max_num_seqs or not self.more_arrivals():
            return True
        if self.waiting:
            self._skip(self.waiting[0], "batch_not_full", "seats", self._max_num_seqs, num_waiting)
        return False

    def wait_for_batch(self) -> None:
        """Static batching: say that the queue waits for the end of the running batch."""
        if self.waiting:
            self._skip(self.waiting[0], "batch_running", "seats", 1, 0)

    def unseat(self, seq: Sequence) -> None:
        """The seat of `seq` is free for others."""
        if seq.seat >= 0:
            heappush(self._free_seats, seq.seat)
            seq.seat = -1

    def _finish(self, seq: Sequence) -> None:
        self._leave(seq)
        seq.settle()
        was_preempted = seq.status is SequenceStatus.PREEMPTED
        seq.status = SequenceStatus.FINISHED
        if seq.group.is_finished:
            seq.group.status = SequenceStatus.FINISHED
            if was_preempted:
                self.waiting.remove(seq.group)

    def _close_finished(self, seq: Sequence) -> None:
        self._recorder.finished(seq)
        if seq.group.is_finished:
            self._recorder.completed(seq.group)
        self._recorder.close()

    # one sequence

    def _is_tight(self) -> bool:
        """Whether the budget may not do for all, so that the order of service decides who gets a token."""
        num_decodes = sum(seq.is_decoding for seq in self._awake.values())
        if len(self._steady) + num_decodes > self._budget:
            return True
        prefills = [order for order, seq in self._awake.items() if not seq.is_decoding]
        if not prefills or self.settings.running_order == "decodes_first":
            return False
        behind = takewhile(lambda order: order > min(prefills), reversed(self.running))
        return any(order in self._steady for order in behind)

    def _run(self, seq: Sequence) -> None:
        num_tokens = min(seq.num_missing_tokens, self.remaining)
        if self.settings.chunked:
            num_tokens = min(num_tokens, self.settings.max_chunk)
        if len(seq.group.sequences) > 1:
            num_tokens = self._share_prompt(seq, num_tokens)
        if num_tokens <= 0:
            self._pause(seq)
            return
        while (allocation := self.kv.allocate(seq, num_tokens)) is None:
            victim = self._victim(self)
            self.preempt(victim, seq.group)
            if victim is seq.group:
                return
        if allocation.copies:
            self._batch.copies += allocation.copies
        starts = not seq.rate and seq.is_decoding
        if starts:
            self._recorder.started(seq)
        if starts or allocation.new_blocks or allocation.copies:
            self._recorder.close()
        if seq.is_decoding:
            self._decode(seq)
        else:
            self._plan(seq, num_tokens)

    def _decode(self, seq: Sequence) -> None:
        """One token in this step, and in all that follow until its blocks are full or its last token is on its way."""
        if not seq.rate:
            seq.start()
        num_tokens, now, room = seq.num_tokens, self._ticks.now, self.kv.room(seq)
        left = seq.limit - num_tokens
        if left <= room:
            seq.wake = now + left
            self._ends.setdefault(seq.wake, []).append(seq)
        else:
            seq.wake = now + room
            self._due.setdefault(seq.wake, []).append(seq)
        del self._awake[seq.order]
        self._steady[seq.order] = seq
        self._steady_context += num_tokens - 1
        self.remaining -= 1

    def _share_prompt(self, seq: Sequence, num_tokens: int) -> int:
        """Of several samples only the lead computes the prompt; the others fork from it before anybody writes on."""
        lead, prompt_len = seq.group.lead, seq.group.prompt_len
        if lead.num_computed_tokens < prompt_len:
            return min(num_tokens, prompt_len - lead.num_computed_tokens) if seq is lead else 0
        for child in seq.group.sequences:
            if not child.num_computed_tokens and child.num_missing_tokens:
                self.kv.fork(lead, child)
                self._recorder.close()
        return min(num_tokens, seq.num_missing_tokens)

    def _plan(self, seq: Sequence, num_tokens: int) -> None:
        start = seq.num_computed_tokens
        samples = 0
        if start + num_tokens == seq.num_tokens:
            samples = 1 if seq.num_output_tokens else len(seq.group.sequences)
        seq.num_scheduled_tokens = num_tokens
        self.remaining -= num_tokens
        self._planned[seq.order] = Row(seq, start, num_tokens, samples)

    def _advance(self, batch: Batch, row: Row, jumps: list[tuple[Sequence, int]]) -> None:
        """A prompt, a chunk or a recompute of a sealed step: move the counters of its sequence."""
        seq, start, num_tokens, num_samples = row
        batch.num_tokens += num_tokens
        batch.num_kv_read += start + num_tokens
        batch.num_attention_pairs += num_tokens * start + num_tokens * (num_tokens + 1) // 2
        batch.num_emitted += num_samples
        seq.advance(num_tokens)
        samples = seq.group.sequences if num_samples > 1 else (seq,) if num_samples else ()
        for sample in samples:
            sample.sample_one()
            if sample.num_tokens == sample.limit:
                batch.ending.append(sample)
        seq.status = seq.phase
        jumps.append((seq, num_tokens))
        jumps += [(sample, 0) for sample in samples if sample is not seq]

    def _pause(self, seq: Sequence) -> None:
        if seq.rate:
            seq.settle()
            self._recorder.paused(seq)
            self._recorder.close()

    def _wake(self, seq: Sequence) -> None:
        """From steady to awake."""
        del self._steady[seq.order]
        self._steady_context -= seq.num_computed_tokens
        self._awake[seq.order] = seq
        seq.wake = -1

    def _leave(self, seq: Sequence) -> None:
        """Out of the running ones, and out of the step that is being planned."""
        if seq.order not in self.running or self.running[seq.order] is not seq:
            return
        del self.running[seq.order]
        if seq.order in self._steady:
            self._wake(seq)
            self.remaining += 1
        self._awake.pop(seq.order, None)
        row = self._planned.pop(seq.order, None)
        if row is not None:
            self.remaining += row.num_tokens

    # admission

    def _admit(self, group: SequenceGroup, chunked: bool) -> bool:
        """Take the head of the queue into the batch, or record why not."""
        kv, num_samples, lead = self.kv, len(group.unfinished), group.lead
        if self.num_running + len(self.held) + num_samples > self._max_num_seqs:
            free = self._max_num_seqs - self.num_running - len(self.held)
            return self._skip(group, "no_seat", "seats", num_samples, free)
        known = group.num_known_at_admission
        num_tokens = min(known, self.remaining, self.settings.max_chunk) if chunked else known
        is_alone = not self._planned and not self._steady and not self.running
        is_oversized = num_tokens > self._budget and group.num_preemptions > 0
        if self.remaining <= 0 or (num_tokens > self.remaining and not (is_oversized and is_alone)):
            return self._skip(group, "no_token", "tokens", known, max(self.remaining, 0))
        keep_free = kv.watermark() if self.running else 0
        wanted = known if self.settings.admit_full_prompt else num_tokens
        need = kv.fits(lead, wanted + self.settings.admit_lookahead, keep_free)
        if need is not None:
            return self._skip(group, "no_block", need.resource, need.needed, need.available)
        allocation = kv.allocate(lead, num_tokens, self.settings.admit_lookahead, keep_free)
        assert allocation is not None, "a probe that fits is followed by an allocation that fits"
        self.waiting.popleft()
        resumed = group.status is SequenceStatus.PREEMPTED
        group.status = SequenceStatus.PREFILL
        for seq in group.unfinished:
            seq.status = SequenceStatus.PREFILL
            seq.seat = self._next_seat()
            self._num_admitted += 1
            seq.order = self._num_admitted
            self.running[seq.order] = seq
            self._awake[seq.order] = seq
        self._recorder.admitted(group, known, resumed)
        if is_oversized:
            self._recorder.oversized(group, num_tokens, self._budget)
        self._recorder.close()
        self._plan(lead, num_tokens)
        return True

    def _skip(self, group: SequenceGroup, reason: str, resource: str, needed: int, available: int) -> bool:
        """Say once why the head waits, and who behind it could run."""
        skip = (group.index, reason, needed, available)
        if skip != self._last_skip:
            self._last_skip = skip
            self._recorder.skipped(group, reason, resource, needed, available, -1)
            if len(self.waiting) > 1 and reason == "no_block":
                follower = self.waiting[1]
                if self.kv.fits(follower.lead, follower.num_known_at_admission) is None:
                    self._recorder.skipped(follower, "behind_head", "none", 0, 0, group.index)
            self._recorder.close()
        return False

    def _next_seat(self) -> int:
        if self._free_seats:
            return heappop(self._free_seats)
        self._num_seats += 1
        return self._num_seats - 1
