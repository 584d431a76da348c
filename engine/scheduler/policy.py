"""What a scheduling policy promises, and the dictionary of policies."""

from typing import Protocol

from engine.scheduler.scheduler import Scheduler
from engine.sequence import Sequence


class SchedulingPolicy(Protocol):
    """A policy says what it wants in the scheduler's verbs; the verbs do the bookkeeping."""

    def schedule(self, s: Scheduler) -> None:
        """Choose who computes what in this step."""

    def retire(self, s: Scheduler, finished: list[Sequence]) -> None:
        """`finished` have their last token: decide when memory and seats return."""


class Continuous:
    """Iteration-level scheduling (Orca, section 3): who ends leaves at once, who waits may enter every step."""

    def schedule(self, s: Scheduler) -> None:
        s.run_running()
        s.admit_waiting()

    def retire(self, s: Scheduler, finished: list[Sequence]) -> None:
        for seq in finished:
            s.release(seq)


class Chunked(Continuous):
    """Chunked prefill (Sarathi-Serve): a prompt is computed in parts that fill up the budget of each step."""

    def schedule(self, s: Scheduler) -> None:
        s.run_running()
        s.admit_waiting(chunked=True)


class Static:
    """Request-level batching: a batch starts together and nobody enters before all have ended."""

    def schedule(self, s: Scheduler) -> None:
        if s.num_running:
            s.run_running()
            s.wait_for_batch()
        elif s.batch_can_start():
            s.admit_waiting()

    def retire(self, s: Scheduler, finished: list[Sequence]) -> None:
        for seq in finished:
            s.hold(seq)
        if not s.num_running:
            s.release_held()


POLICIES: dict[str, type[SchedulingPolicy]] = {"continuous": Continuous, "chunked": Chunked, "static": Static}
