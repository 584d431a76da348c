"""Who is in the engine: the waiting queue, the running batch, the seats; and how one leaves the batch.

A sequence leaves with its last token, because nobody wants its answer any more (an abort), or because its request has to
give up its memory (recompute preemption).
"""

from collections.abc import Callable

from engine.batch import Row
from engine.kv.manager import KVManager
from engine.request import FinishReason, SequenceStatus
from engine.scheduler.decode_runs import DecodeRuns
from engine.scheduler.seats import Seats
from engine.scheduler.waiting_queue import WaitingQueue
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import Listener

_IN_QUEUE = (SequenceStatus.WAITING, SequenceStatus.PREEMPTED)


class Members:
    """`waiting` holds requests, `running` sequences by order of admission, `held` finished ones that keep their seat.

    `remaining` are the tokens that are left of the budget of the step that is being planned. `retire` is the policy's
    word on when the memory and seats of finished sequences return; `completed` are requests that ended and that nobody
    has taken note of.
    """

    def __init__(self, settings: Settings, kv: KVManager, ticks: Ticks, recorder: Listener) -> None:
        self.settings = settings
        self.kv = kv
        self.waiting = WaitingQueue(settings.queue_order)
        self.running: dict[int, Sequence] = {}
        self.held: list[Sequence] = []
        self.remaining = 0
        self.has_preempted = False
        self.completed: list[SequenceGroup] = []
        self.retire: Callable[[list[Sequence]], None] = self.release_all
        self._recorder = recorder
        self._runs = DecodeRuns(
            ticks, settings.block_size if settings.manager == "hashed" else None, settings.register_at == "update"
        )
        self._seats = Seats()
        self._planned: dict[int, Row] = {}

    @property
    def num_running(self) -> int:
        return len(self.running)

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
        moved = self.waiting.return_preempted(group)
        self.has_preempted = True
        self._recorder.preempted(group, cause, lost, self.kv.num_free)
        self._recorder.reranked(moved)
        self._recorder.close()

    def abort(self, group: SequenceGroup) -> None:
        """A request that nobody wants any more: out of the queue, or out of the batch as if it had its last tokens."""
        sequences = group.unfinished
        for seq in sequences:
            seq.finish_reason = FinishReason.ABORT
        if group.status in _IN_QUEUE:
            self.release_all(sequences)
        else:
            self.retire(sequences)

    def release_all(self, sequences: list[Sequence]) -> None:
        for seq in sequences:
            self.release(seq)

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
        was_in_queue = seq.status in _IN_QUEUE
        seq.status = SequenceStatus.FINISHED
        if seq.finish_reason is None:
            seq.finish_reason = _reason_of_script(seq)
        seq.group.num_finished += 1
        if seq.group.is_finished:
            seq.group.status = SequenceStatus.FINISHED
            self.completed.append(seq.group)
            if was_in_queue:
                self.waiting.leave(seq.group)

    def _close_finished(self, seq: Sequence) -> None:
        self._recorder.finished(seq)
        if seq.group.is_finished:
            self._recorder.completed(seq.group)
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


def _reason_of_script(seq: Sequence) -> FinishReason:
    """Without a model only a script knows of stop tokens: those of the run that it was taken from."""
    request = seq.group.request
    last = () if request.output_script is None else request.output_script[seq.sample][-1:]
    return FinishReason.STOP if set(last) & set(request.sampling.stop_token_ids) else FinishReason.LENGTH
