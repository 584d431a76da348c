"""The running half of the scheduler: who computes what in this step, who makes room, who ends.

There is no prefill and no decode phase: every sequence has to catch up with its known tokens (vLLM V1). Sequences that
are awake are handled one by one in running order; the others run on alone (`decode_runs`).
"""

from itertools import takewhile

from engine.batch import Batch, Row, StepOutput
from engine.kv.manager import NEXT_BLOCK, KVManager
from engine.request import SequenceStatus
from engine.scheduler.decode_runs import DecodeRuns
from engine.scheduler.preemption import VICTIMS
from engine.scheduler.seats import Seats
from engine.scheduler.waiting_queue import WaitingQueue
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import Listener

UNLIMITED = 2**31 - 1


class RunningBatch:
    """`waiting` holds requests, `running` sequences by order of admission, `held` finished ones that keep their seat."""

    def __init__(self, settings: Settings, kv: KVManager, ticks: Ticks, recorder: Listener) -> None:
        self.settings = settings
        self.kv = kv
        self.waiting = WaitingQueue()
        self.running: dict[int, Sequence] = {}
        self.held: list[Sequence] = []
        self.remaining = 0
        self.has_preempted = False
        self._batch = Batch(-1, None)
        self._num_steps = 0
        self._recorder = recorder
        self._victim = VICTIMS[settings.victim]
        self._budget = settings.max_num_batched_tokens or UNLIMITED
        self._max_chunk = settings.max_chunk if settings.chunked else UNLIMITED
        self._runs = DecodeRuns(ticks)
        self._seats = Seats()
        self._planned: dict[int, Row] = {}

    @property
    def num_running(self) -> int:
        return len(self.running)

    # one step

    def begin(self) -> None:
        """Open a new step."""
        self._batch = Batch(self._num_steps, self.settings.max_num_batched_tokens)
        self._planned = {}
        self.has_preempted = False
        self._runs.wake_due()
        self.remaining = self._budget - len(self._runs.steady)

    def seal(self) -> Batch | None:
        """Close the step: every scheduled token is computed from here on. None when nothing was scheduled."""
        batch, runs = self._batch, self._runs
        if not self._planned and not runs.steady:
            return None
        self._num_steps += 1
        batch.planned = sorted(self._planned.values(), key=lambda row: row.sequence.order)
        batch.steady = list(runs.steady.values())
        batch.num_tokens = batch.num_emitted = len(batch.steady)
        batch.num_kv_read = batch.num_attention_pairs = runs.context + len(batch.steady)
        batch.ending = runs.tick()
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

    def run_running(self) -> None:
        """Every running sequence gets its missing tokens, in running order, as far as budget and memory go."""
        if self._is_tight():
            self._runs.wake_all()
            self.remaining = self._budget
        awake = self._runs.awake
        in_order = sorted(awake)
        if self.settings.running_order == "decodes_first":
            in_order.sort(key=lambda order: not awake[order].is_decoding)
        for order in in_order:
            if order in awake:
                self._run(awake[order])

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
        group.is_forked = False
        group.num_preemptions += 1
        self.waiting.return_to_head(group)
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

    def unseat(self, seq: Sequence) -> None:
        """The seat of `seq` is free for others."""
        if seq.seat >= 0:
            self._seats.put(seq.seat)
            seq.seat = -1

    def _finish(self, seq: Sequence) -> None:
        self._leave(seq)
        seq.settle()
        was_preempted = seq.status is SequenceStatus.PREEMPTED
        seq.status = SequenceStatus.FINISHED
        seq.group.num_finished += 1
        if seq.group.is_finished:
            seq.group.status = SequenceStatus.FINISHED
            if was_preempted:
                self.waiting.leave(seq.group)

    def _close_finished(self, seq: Sequence) -> None:
        self._recorder.finished(seq)
        if seq.group.is_finished:
            self._recorder.completed(seq.group)
        self._recorder.close()

    # one sequence

    def _is_tight(self) -> bool:
        """Whether the budget may not do for all, so that the order of service decides who gets a token."""
        if self._budget == UNLIMITED:
            return False
        num_decodes = sum(seq.is_decoding for seq in self._runs.awake.values())
        if len(self._runs.steady) + num_decodes > self._budget:
            return True
        prefills = [order for order, seq in self._runs.awake.items() if not seq.is_decoding]
        if not prefills or self.settings.running_order == "decodes_first":
            return False
        behind = takewhile(lambda order: order > min(prefills), reversed(self.running))
        return any(order in self._runs.steady for order in behind)

    def _run(self, seq: Sequence) -> None:
        num_tokens = min(seq.num_missing_tokens, self.remaining, self._max_chunk)
        if len(seq.group.sequences) > 1:
            num_tokens = self._share_prompt(seq, num_tokens)
        if num_tokens <= 0:
            self._pause(seq)
            return
        while (allocation := self.kv.allocate(seq, num_tokens)) is None:
            victim = self._victim(self.running)
            self.preempt(victim, seq.group)
            if victim is seq.group:
                return
        if allocation.copies:
            self._batch.copies += allocation.copies
        is_decoding = seq.is_decoding
        if allocation is NEXT_BLOCK and seq.rate:
            seq.settle()
            self._recorder.paused(seq)
        starts = is_decoding and not seq.rate
        if starts:
            self._recorder.started(seq)
        if starts or allocation.new_blocks or allocation.copies:
            self._recorder.close()
        if is_decoding:
            self._runs.begin(seq, self._room(seq))
            self.remaining -= 1
        else:
            self._plan(seq, num_tokens)

    def _room(self, seq: Sequence) -> int:
        """Tokens that a decoding sequence writes alone; where blocks are taken ahead it comes back at each border."""
        room, size = self.kv.room(seq), self.settings.block_size
        return min(room, size - seq.num_computed_tokens % size) if self.settings.admit_lookahead else room

    def _share_prompt(self, seq: Sequence, num_tokens: int) -> int:
        """Of several samples only the lead computes the prompt; the others fork from it before anybody writes on."""
        if seq.group.is_forked:
            return num_tokens
        lead, prompt_len = seq.group.lead, seq.group.prompt_len
        if lead.num_computed_tokens < prompt_len:
            return min(num_tokens, prompt_len - lead.num_computed_tokens) if seq is lead else 0
        for child in seq.group.sequences:
            if not child.num_computed_tokens and child.num_missing_tokens:
                self.kv.fork(lead, child)
                self._recorder.close()
        seq.group.is_forked = True
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

    def _leave(self, seq: Sequence) -> None:
        """Out of the running ones, and out of the step that is being planned."""
        if self.running.pop(seq.order, None) is None:
            return
        if self._runs.leave(seq):
            self.remaining += 1
        row = self._planned.pop(seq.order, None)
        if row is not None:
            self.remaining += row.num_tokens
