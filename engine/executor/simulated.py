"""The executor without a model: time comes from a cost model, tokens have no ids."""

from engine.batch import Batch, StepOutput
from engine.executor.cost_model import CostModel


class SimulatedExecutor:
    """Charges every step what the cost model says."""

    def __init__(self, cost_model: CostModel) -> None:
        self._cost_model = cost_model

    def execute(self, batch: Batch) -> StepOutput:
        duration = self._cost_model.step_time(batch.num_tokens, batch.num_kv_read, batch.num_attention_pairs)
        return StepOutput(duration)
