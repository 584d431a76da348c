"""What an executor promises: it takes a batch and says how long it took and which tokens came out."""

from typing import Protocol

from engine.batch import Batch, StepOutput


class Executor(Protocol):
    """The second half of the engine. A simulated one only knows durations, a real one also token ids."""

    def execute(self, batch: Batch) -> StepOutput:
        """Run one step. Copies and swaps of the batch come first, in order."""
