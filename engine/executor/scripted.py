"""The executor of a run that has happened: the tokens that were sampled then and the time that every step took.

What a step samples goes by request, sample and position, not by step, so that the same answers come out when another
schedule puts them into other steps.
"""

from collections.abc import Callable, Mapping, Sequence

from engine.batch import Batch, StepOutput
from engine.sequence import Sequence as EngineSequence

Tokens = Mapping[tuple[int, int], Sequence[int]]
"""(index of the request, sample) -> its output tokens."""


class ScriptedExecutor:
    """`durations` are the seconds of the steps in order."""

    def __init__(self, tokens: Tokens, durations: Sequence[float]) -> None:
        self._tokens = tokens
        self._durations = durations

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(self._durations[batch.step], sampled(batch, self._next))

    def _next(self, seq: EngineSequence) -> int:
        return self._tokens[seq.group.index, seq.sample][len(seq.output_token_ids)]


def sampled(batch: Batch, token: Callable[[EngineSequence], int]) -> list[list[int]]:
    """By row the next tokens of the sequences that it samples for."""
    return [
        [
            token(seq)
            for seq in (row.sequence.group.sequences if row.num_samples > 1 else [row.sequence] * row.num_samples)
        ]
        for row in batch.rows
    ]
