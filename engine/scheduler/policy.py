"""What a scheduling policy promises: two methods, so that two policies side by side show their difference."""

from typing import Protocol

from engine.scheduler.scheduler import Scheduler
from engine.sequence import Sequence


class SchedulingPolicy(Protocol):
    """A policy says what it wants in the scheduler's verbs; the verbs do the bookkeeping."""

    def schedule(self, s: Scheduler) -> None:
        """Choose who computes what in this step."""

    def retire(self, s: Scheduler, finished: list[Sequence]) -> None:
        """`finished` have their last token: decide when memory and seats return."""
