"""Prefill first: prompts run alone in their steps, everybody decodes when no prompt can enter (nano-vllm, vLLM V0)."""

from engine.scheduler.continuous import Continuous
from engine.scheduler.scheduler import Scheduler


class PrefillFirst(Continuous):
    """A step computes prompts or decodes, never both. Only the first prompt of a step may be cut to the budget."""

    def schedule(self, s: Scheduler) -> None:
        s.reserve(for_decodes=False)
        s.run_prefills()
        s.admit_whole()
        if s.has_planned:
            s.pause_decodes()
        else:
            s.reserve(for_decodes=True)
            s.run_running()
