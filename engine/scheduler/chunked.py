"""Chunked prefill: long prompts share their steps with the decodes of others."""

from engine.scheduler.continuous import Continuous
from engine.scheduler.scheduler import Scheduler


class Chunked(Continuous):
    """Chunked prefill (Sarathi-Serve): a prompt is computed in parts that fill up the budget of each step."""

    def schedule(self, s: Scheduler) -> None:
        s.run_running()
        s.admit_waiting(chunked=True)
