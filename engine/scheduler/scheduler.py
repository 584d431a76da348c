"""The scheduler: a queue in front of the running batch, and the verbs of which a policy is a paragraph.

This half decides who is let in, strictly in order of the queue, and says of the head why it has to wait; the other half
is `running_batch`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine.kv.manager import KVManager
from engine.request import SequenceStatus
from engine.scheduler.queue_sorter import QueueSorter
from engine.scheduler.running_batch import UNLIMITED, RunningBatch
from engine.sequence import SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import Listener


@dataclass(slots=True)
class CacheStats:
    """Tokens looked up in the prefix cache and found there, counted at admissions; those of resumed requests apart."""

    queries: int = 0
    hits: int = 0
    preempted_queries: int = 0
    preempted_hits: int = 0

    def count(self, num_tokens: int, hit_tokens: int, resumed: bool) -> None:
        if resumed:
            self.preempted_queries += num_tokens
            self.preempted_hits += hit_tokens
        else:
            self.queries += num_tokens
            self.hits += hit_tokens


class Scheduler(RunningBatch):
    """`more_arrivals` tells whether the workload has requests to come; static batching waits for them if asked to."""

    def __init__(self, settings: Settings, kv: KVManager, ticks: Ticks, recorder: Listener) -> None:
        super().__init__(settings, kv, ticks, recorder)
        self.more_arrivals: Callable[[], bool] = lambda: False
        self._max_num_seqs = settings.max_num_seqs or UNLIMITED
        self.cache_stats = CacheStats()
        self._sorter = QueueSorter(settings, kv)
        self._num_admitted = 0
        self._last_skip: tuple[int, str, int, int] | None = None
        self._last_blocked: tuple[int, int] | None = None

    def enqueue(self, group: SequenceGroup) -> None:
        """A new request joins the queue."""
        moved = self.waiting.join(group)
        self._recorder.arrived(group)
        self._recorder.reranked(moved)
        self._recorder.close()

    def admit_waiting(self, chunked: bool = False) -> None:
        """Requests leave the queue strictly in order while there is a seat, a token and memory."""
        self._sort_queue()
        while self.waiting and not self.has_preempted:
            group = self.waiting[0]
            if not self._admit(group, chunked):
                return

    def admit_whole(self) -> None:
        """Like `admit_waiting`, but only the first prompt of a step may be cut to the budget."""
        self._sort_queue()
        while self.waiting and not self.has_preempted:
            if not self._admit(self.waiting[0], chunked=not self.has_planned):
                return

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

    def _sort_queue(self) -> None:
        if not self._sorter.is_needed or len(self.waiting) < 2 or self.has_preempted:
            return
        moved = self._sorter.sort(self.waiting)
        if moved or self._sorter.has_touched:
            self._recorder.reranked(moved)
            self._recorder.close()

    def _admit(self, group: SequenceGroup, chunked: bool) -> bool:
        """Take the head of the queue into the batch, or record why not."""
        kv, num_samples, lead = self.kv, len(group.unfinished), group.lead
        if self.num_running + len(self.held) + num_samples > self._max_num_seqs:
            free = self._max_num_seqs - self.num_running - len(self.held)
            return self._skip(group, "no_seat", "seats", num_samples, free)
        known = group.num_known_at_admission
        missing = known - self._learning.cache.match(lead)
        num_tokens = min(missing, self._most_of(group))
        if chunked:
            num_tokens = min(num_tokens, self.remaining)
        is_alone = not self.running
        is_oversized = num_tokens > self._budget and group.num_preemptions > 0
        if self.remaining <= 0 or (num_tokens > self.remaining and not (is_oversized and is_alone)):
            return self._skip(group, "no_token", "tokens", missing, max(self.remaining, 0))
        keep_free = kv.watermark() if self.running else 0
        wanted = missing if self.settings.admit_full_prompt else num_tokens
        need = kv.fits(lead, wanted + self.settings.admit_lookahead, keep_free)
        if need is not None:
            return self._skip(group, "no_block", need.resource, need.needed, need.available)
        allocation = kv.allocate(lead, num_tokens, self.settings.admit_lookahead, keep_free)
        assert allocation is not None, "a probe that fits is followed by an allocation that fits"
        self.waiting.leave(group)
        resumed = group.status is SequenceStatus.PREEMPTED
        if self.settings.keeps_prefixes:
            self.cache_stats.count(known, allocation.hit_tokens, resumed)
        group.status = SequenceStatus.PREFILL
        for seq in group.unfinished:
            seq.status = SequenceStatus.PREFILL
            seq.seat = self._seats.take()
            self._num_admitted += 1
            seq.order = self._num_admitted
            self.running[seq.order] = seq
            self._runs.awake[seq.order] = seq
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
            self._recorder.close()
            if reason == "no_block":
                self._explain_follower(group)
        return False

    def _explain_follower(self, head: SequenceGroup) -> None:
        follower = self.waiting[1] if len(self.waiting) > 1 else None
        if follower is None or self._last_blocked == (head.index, follower.index):
            return
        if self._would_enter(follower):
            self._last_blocked = (head.index, follower.index)
            self._recorder.skipped(follower, "behind_head", "none", 0, 0, head.index)
            self._recorder.close()

    def _would_enter(self, group: SequenceGroup) -> bool:
        """Whether seats, tokens of this step and memory would do for a request, were it at the head."""
        missing = group.num_known_at_admission - self._learning.cache.match(group.lead)
        keep_free = self.kv.watermark() if self.running else 0
        return (
            self.num_running + len(self.held) + len(group.unfinished) <= self._max_num_seqs
            and self.remaining > 0
            and (missing <= self.remaining or self.settings.chunked)
            and self.kv.fits(group.lead, missing + self.settings.admit_lookahead, keep_free) is None
        )
