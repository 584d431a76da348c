"""Continuous batching: the batch is chosen anew in every step."""

from engine.scheduler.scheduler import Scheduler
from engine.sequence import Sequence


class Continuous:
    """Iteration-level scheduling (Orca, section 3): who ends leaves at once, who waits may enter every step."""

    def schedule(self, s: Scheduler) -> None:
        s.run_running()
        s.admit_waiting()

    def retire(self, s: Scheduler, finished: list[Sequence]) -> None:
        for seq in finished:
            s.release(seq)
