"""The executor without a model: time comes from a cost model, tokens have no ids."""

from typing import Protocol

from engine.batch import Batch, StepOutput


class StepTimes(Protocol):
    """A cost model."""

    def step_time(self, num_tokens: int, num_kv_read: int, num_attention_pairs: int) -> float:
        """Seconds of a step with these sums over its rows."""


class SimulatedExecutor:
    """Charges every step what the cost model says."""

    def __init__(self, cost_model: StepTimes) -> None:
        self._cost_model = cost_model

    def execute(self, batch: Batch) -> StepOutput:
        duration = self._cost_model.step_time(batch.num_tokens, batch.num_kv_read, batch.num_attention_pairs)
        return StepOutput(duration)
