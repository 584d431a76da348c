"""What the control plane hands to an executor, and what comes back: the only contract between the two halves.

A batch is planned once and never changed. Sequences in the middle of a decode run are kept as one list (`steady`);
`rows` spells all of them out for executors that compute tokens. The sums over rows are kept, because a cost model
needs nothing else.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from engine.sequence import Sequence


class Row(NamedTuple):
    """Tokens start .. start + num_tokens - 1 of a sequence are inputs; `num_samples` tokens are sampled after the last."""

    sequence: Sequence
    start: int
    num_tokens: int
    num_samples: int


@dataclass(slots=True)
class Batch:
    """One step. Token sums are over all rows: a row (start, n) reads start + n tokens of KV and has
    sum(start+1 .. start+n) causal attention pairs. `ending` are the sequences whose last token this step samples.
    `stored` says for a cache that learns of blocks when they are computed: (order of admission, sequence, its tokens)."""

    step: int
    token_budget: int | None
    steady: list[Sequence] = field(default_factory=list)
    planned: list[Row] = field(default_factory=list)
    copies: list[tuple[int, int]] = field(default_factory=list)
    swaps: list[tuple[int, int]] = field(default_factory=list)
    ending: list[Sequence] = field(default_factory=list)
    stored: list[tuple[int, Sequence, int]] = field(default_factory=list)
    num_tokens: int = 0
    num_kv_read: int = 0
    num_attention_pairs: int = 0
    num_emitted: int = 0
    _rows: list[Row] | None = None

    @property
    def rows(self) -> list[Row]:
        """All rows in running order; built on first use, which has to come before the next step is scheduled."""
        if self._rows is None:
            steady = [Row(seq, seq.num_computed_tokens - 1, 1, 1) for seq in self.steady]
            self._rows = sorted(steady + self.planned, key=lambda row: row.sequence.order) if steady else self.planned
        return self._rows


@dataclass(slots=True)
class StepOutput:
    """Result of a batch: its duration in seconds; for executors with a model, the sampled ids of each row in order
    (`num_samples` ids a row) and scores where decoding needs them."""

    duration: float
    token_ids: list[list[int]] | None = None
    scores: list[list[float]] | None = None
