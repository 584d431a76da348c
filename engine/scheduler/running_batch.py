"""The running half of the scheduler: who computes what in this step and who makes room.

There is no prefill and no decode phase: every sequence has to catch up with its known tokens (vLLM V1). Sequences that
are awake are handled one by one in running order; the others run on alone (`decode_runs`).
"""

from itertools import takewhile

from engine.batch import Batch, Row, StepOutput
from engine.kv.manager import KVManager, Need
from engine.request import FinishReason, SequenceStatus
from engine.scheduler.learning import Learning
from engine.scheduler.members import Members
from engine.scheduler.preemption import VictimRule, last_admitted, victim_rule
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import Listener

UNLIMITED = 2**31 - 1


class RunningBatch(Members):
    """Plans one step after the other for the members."""

    def __init__(
        self, settings: Settings, kv: KVManager, ticks: Ticks, recorder: Listener, lengths_known: bool = True
    ) -> None:
        super().__init__(settings, kv, ticks, recorder)
        self._lengths_known = lengths_known
        self._batch = Batch(-1, None)
        self._num_steps = 0
        self._block_size = settings.block_size
        self._threshold = settings.long_prefill_token_threshold
        self._victim = victim_rule(settings)
        self._budget = settings.max_num_batched_tokens or UNLIMITED
        self._max_chunk = settings.max_chunk if settings.chunked else UNLIMITED
        self._learning = Learning(settings, kv, self._runs, recorder)

    # one step

    def begin(self) -> None:
        """Open a new step."""
        self._batch = Batch(self._num_steps, self.settings.max_num_batched_tokens)
        self._planned = {}
        self.has_preempted = False
        self._runs.wake_due()
        self._learning.begin()
        self.reserve(for_decodes=True)

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
        self._learning.note(batch)
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
        ending = batch.ending
        if output.token_ids is not None:
            ending = sorted({*ending, *self._take_in(batch, output.token_ids)}, key=lambda seq: seq.order)
        self._learning.tell(batch)
        finished = [seq for seq in ending if seq.status is not SequenceStatus.FINISHED]
        for seq in finished:
            if not seq.group.is_forked and len(seq.group.sequences) > 1:
                self._pass_on_prompt(seq.group, finished)
        return finished

    def _take_in(self, batch: Batch, token_ids: list[list[int]]) -> list[Sequence]:
        """Sampled tokens go to their sequences. Returns those that end with a stop token, at their limit or before it."""
        stopped = []
        for row, sampled in zip(batch.rows, token_ids, strict=True):
            samples = row.sequence.group.sequences if row.num_samples > 1 else (row.sequence,)
            stops = row.sequence.group.request.sampling.stop_token_ids
            for seq, token_id in zip(samples, sampled, strict=False):
                if seq.status is SequenceStatus.FINISHED:
                    continue
                seq.output_token_ids.append(token_id)
                if token_id in stops:
                    seq.finish_reason = FinishReason.STOP
                    stopped.append(seq)
        return stopped

    def run_running(self) -> None:
        """Every running sequence gets its missing tokens, in running order, as far as budget and memory go."""
        if self._is_tight():
            self._runs.wake_all()
            self.remaining = self._budget
        awake = self._runs.awake
        in_order = self._learning.in_order(awake)
        if self.settings.running_order == "decodes_first":
            in_order.sort(key=lambda order: order in awake and not awake[order].is_decoding)
        for order in in_order:
            if order in awake:
                self._run(awake[order])
            else:
                self._learning.learn(order)

    def run_prefills(self) -> None:
        """Running sequences that have more than their last token to compute; the others wait.

        Only who was admitted later makes room for them: else two that take the memory from each other go on for ever,
        and nobody decodes.
        """
        awake = self._runs.awake
        for order in sorted(awake):
            seq = awake.get(order)
            if seq is not None and not seq.is_decoding and (seq.group.is_forked or seq is seq.group.lead):
                self._run(seq, last_admitted)

    def reserve(self, for_decodes: bool) -> None:
        """Whether those who decode get their tokens of the budget first, as they do unless a policy says otherwise."""
        self.remaining = self._budget - (len(self._runs.steady) if for_decodes else 0)

    def pause_decodes(self) -> None:
        """Nobody decodes in this step."""
        self._runs.wake_all()
        for seq in self._runs.awake.values():
            if seq.is_decoding:
                self._pause(seq)

    @property
    def has_planned(self) -> bool:
        """Whether this step computes a prompt, a part of one or a recompute."""
        return bool(self._planned)

    # one sequence

    def _is_tight(self) -> bool:
        """Whether the budget may not do for all, so that the order of service decides who gets a token."""
        if self._budget == UNLIMITED:
            return False
        num_running = len(self._runs.steady) + len(self._runs.awake)
        if num_running > self._budget:
            num_prefills = sum(not seq.is_decoding for seq in self._runs.awake.values())
            if num_running - num_prefills > self._budget:
                return True
        prefills = [order for order, seq in self._runs.awake.items() if not seq.is_decoding]
        if not prefills or self.settings.running_order == "decodes_first":
            return False
        behind = takewhile(lambda order: order > min(prefills), reversed(self.running))
        return any(order in self._runs.steady for order in behind)

    def _run(self, seq: Sequence, choose_victim: VictimRule | None = None) -> None:
        num_tokens = min(seq.num_missing_tokens, self.remaining, self._most_of(seq.group))
        if len(seq.group.sequences) > 1:
            num_tokens = self._share_prompt(seq, num_tokens)
        if num_tokens <= 0:
            self._pause(seq)
            return
        while (allocation := self.kv.allocate(seq, num_tokens)) is None:
            victim = (choose_victim or self._victim)(self.running)
            if victim is seq.group and not self._lengths_known and self._is_alone(victim):
                self._cut_short(seq, self.kv.fits(seq, num_tokens))
                return
            self.preempt(victim, seq.group)
            if victim is seq.group:
                return
        if allocation.copies:
            self._batch.copies += allocation.copies
        is_decoding = seq.is_decoding
        starts = is_decoding and not seq.rate
        if starts:
            self._recorder.started(seq)
        elif is_decoding and not allocation.new_blocks and self._space_in_block(seq) == self._block_size:
            self._recorder.entered(seq)
            self._recorder.close()
        if starts or allocation.new_blocks or allocation.copies or allocation.num_learned:
            self._recorder.close()
        if is_decoding:
            self._runs.begin(seq, min(self.kv.room(seq), self._space_in_block(seq)))
            self.remaining -= 1
        else:
            self._plan(seq, num_tokens)

    def _space_in_block(self, seq: Sequence) -> int:
        """Slots from the next token of `seq` to the end of its block; without blocks as many as one likes."""
        return UNLIMITED if self.kv.is_reserved else self._block_size - seq.num_computed_tokens % self._block_size

    def _most_of(self, group: SequenceGroup) -> int:
        """Tokens that a step computes of one request at most."""
        if self._threshold is None or self._is_only(group):
            return self._max_chunk
        return min(self._max_chunk, self._threshold)

    def _is_only(self, group: SequenceGroup) -> bool:
        """Whether there is no other request in the engine."""
        return all(other is group for other in self.waiting) and all(
            seq.group is group for seq in self.running.values()
        )

    def _share_prompt(self, seq: Sequence, num_tokens: int) -> int:
        """Of several samples only the lead computes the prompt; the others fork from it before anybody writes on."""
        if seq.group.is_forked:
            return num_tokens
        lead, prompt_len = seq.group.lead, seq.group.prompt_len
        if lead.num_computed_tokens < prompt_len:
            return min(num_tokens, prompt_len - lead.num_computed_tokens) if seq is lead else 0
        self._fork(lead, seq.group.unfinished)
        return min(num_tokens, seq.num_missing_tokens)

    def _pass_on_prompt(self, group: SequenceGroup, finished: list[Sequence]) -> None:
        """Some samples end with their first token, before anybody forked: the others take the prompt over first."""
        lead, others = group.lead, [seq for seq in group.unfinished if seq not in finished]
        if others and lead in finished and lead.num_computed_tokens >= group.prompt_len:
            self._fork(lead, others)

    def _fork(self, lead: Sequence, children: list[Sequence]) -> None:
        for child in children:
            if not child.num_computed_tokens and child.num_missing_tokens:
                self.kv.fork(lead, child)
                self._recorder.close()
        lead.group.is_forked = True

    def _is_alone(self, group: SequenceGroup) -> bool:
        """Whether nobody else could give memory back."""
        return all(seq.group is group for seq in self.running.values())

    def _cut_short(self, seq: Sequence, need: Need | None) -> None:
        """All memory is its own and it needs more: a sequence ends here. Somebody else may run in this step's place."""
        needed, available = (need.needed, need.available) if need is not None else (1, self.kv.num_free)
        self._recorder.cut_short(seq, self.kv.resource, needed, available)
        self.retire([seq])
        self.has_preempted = True

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
