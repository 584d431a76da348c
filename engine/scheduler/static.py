"""Static batching: the batch is chosen once and runs to the end of its longest member."""

from engine.scheduler.scheduler import Scheduler
from engine.sequence import Sequence


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
