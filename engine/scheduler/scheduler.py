"""The scheduler: a queue in front of the running batch, and the verbs of which a policy is a paragraph.

This half decides who is let in, strictly in order of the queue, and says of the head why it has to wait; the other half
is `running_batch`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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


class Obstacle(NamedTuple):
    """Why a waiting request cannot enter: reason code, the resource that is short, what it needs and what there is."""

    reason: str
    resource: str
    needed: int
    available: int


class Scheduler(RunningBatch):
    """`more_arrivals` tells whether the workload has requests to come; static batching waits for them if asked to.

    Without `lengths_known` (a live run) nobody knows whether a request will fit to its end: one that needs more than
    all memory ends where it stands.
    """

    def __init__(
        self, settings: Settings, kv: KVManager, ticks: Ticks, recorder: Listener, lengths_known: bool = True
    ) -> None:
        super().__init__(settings, kv, ticks, recorder, lengths_known)
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
        num_tokens, obstacle = self._tokens_to_begin_with(group, chunked)
        if obstacle is not None:
            if obstacle.reason == "no_block" and not (self._lengths_known or self.running or self.held):
                self._give_up(group, obstacle)
                return False
            if self._skip(group, *obstacle) and obstacle.reason == "no_block":
                self._explain_follower(group, chunked)
            return False
        lead, known, resumed = group.lead, group.num_known_at_admission, group.status is SequenceStatus.PREEMPTED
        allocation = self.kv.allocate(lead, num_tokens, self.settings.admit_lookahead, self._keep_free)
        assert allocation is not None, "a probe that fits is followed by an allocation that fits"
        self.waiting.leave(group)
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
        if num_tokens > self._budget:
            self._recorder.oversized(group, num_tokens, self._budget)
        self._recorder.close()
        self._plan(lead, num_tokens)
        return True

    def _give_up(self, group: SequenceGroup, obstacle: Obstacle) -> None:
        """Preempted, and its known tokens do not fit into all memory again: what it has is its answer."""
        self._recorder.cut_short(group.lead, obstacle.resource, obstacle.needed, obstacle.available)
        self.release_all(group.unfinished)
        self.has_preempted = True

    @property
    def _keep_free(self) -> int:
        """What an admission leaves free; a request that would run alone may take everything."""
        return self.kv.watermark() if self.running else 0

    def _tokens_to_begin_with(self, group: SequenceGroup, chunked: bool) -> tuple[int, Obstacle | None]:
        """Tokens that a waiting request would compute first, and what keeps it from that; changes nothing."""
        num_samples, free = len(group.unfinished), self._max_num_seqs - self.num_running - len(self.held)
        if num_samples > free:
            return 0, Obstacle("no_seat", "seats", num_samples, free)
        missing = group.num_known_at_admission - self._learning.cache.match(group.lead)
        num_tokens = min(missing, self._most_of(group))
        if chunked:
            num_tokens = min(num_tokens, self.remaining)
        may_exceed = num_tokens > self._budget and group.num_preemptions > 0 and not self.running
        if self.remaining <= 0 or (num_tokens > self.remaining and not may_exceed):
            return 0, Obstacle("no_token", "tokens", missing, max(self.remaining, 0))
        wanted = missing if self.settings.admit_full_prompt else num_tokens
        need = self.kv.fits(group.lead, wanted + self.settings.admit_lookahead, self._keep_free)
        if need is not None:
            return 0, Obstacle("no_block", need.resource, need.needed, need.available)
        return num_tokens, None

    def _skip(self, group: SequenceGroup, reason: str, resource: str, needed: int, available: int) -> bool:
        """Say once why the head waits; returns whether it was said now."""
        skip = (group.index, reason, needed, available)
        if skip == self._last_skip:
            return False
        self._last_skip = skip
        self._recorder.skipped(group, reason, resource, needed, available, -1)
        self._recorder.close()
        return True

    def _explain_follower(self, head: SequenceGroup, chunked: bool) -> None:
        """Say who behind the head could enter."""
        follower = self.waiting[1] if len(self.waiting) > 1 else None
        if follower is None or self._last_blocked == (head.index, follower.index):
            return
        if self._tokens_to_begin_with(follower, chunked)[1] is None:
            self._last_blocked = (head.index, follower.index)
            self._recorder.skipped(follower, "behind_head", "none", 0, 0, head.index)
            self._recorder.close()
