"""A chunk: everything that a run recorded since the chunk before.

A trace is a header and its chunks in order; the recorder drains chunks, a file and the wire carry them, and `Trace.of`
joins them. How a run was cut into chunks never matters: any cutting gives the same trace.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from engine.trace.track import DECISION_COLUMNS, HAPPENING_COLUMNS, SPECS, STEP_COLUMNS


class Word(NamedTuple):
    """What token `position` of a sequence reads as; those of a prompt belong to the first sequence of its request."""

    sequence: int
    position: int
    text: str


class Answer(NamedTuple):
    """The ids that the samples of a request produced, known once it has ended."""

    request: int
    ids: tuple[tuple[int, ...], ...]


def _table(num_columns: int) -> np.ndarray:
    return np.zeros((0, num_columns), np.int32)


@dataclass(slots=True)
class Chunk:
    """Rows are int32 and in event order; `num_events` counts all events of the run up to the end of this chunk.

    rows        track name -> [num_rows, 2 + len(spec.columns)]: event, key, then the columns of the track
    keys        ragged track name -> [num_new_keys, 2]; their numbers continue those of the chunk before
    requests    one dictionary for each request seen first in this chunk, in the order of their numbers
    steps       [num_steps, len(STEP_COLUMNS)]; times float64 [num_steps, 2]: start and end in seconds
    happenings  [n, len(HAPPENING_COLUMNS)]; decisions [n, len(DECISION_COLUMNS)]
    tokens      [n, 2]: token and slot, appended to the pool of tokens in which the nodes of a radix tree find theirs
    answers     of requests that have ended, where their tokens were not known before
    words       texts of tokens, in runs of a real model; an annotation: no part of what the run is
    """

    num_events: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    keys: dict[str, np.ndarray] = field(default_factory=dict)
    steps: np.ndarray = field(default_factory=lambda: _table(len(STEP_COLUMNS)))
    times: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.float64))
    happenings: np.ndarray = field(default_factory=lambda: _table(len(HAPPENING_COLUMNS)))
    decisions: np.ndarray = field(default_factory=lambda: _table(len(DECISION_COLUMNS)))
    tokens: np.ndarray = field(default_factory=lambda: _table(2))
    answers: list[Answer] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    @property
    def num_rows(self) -> int:
        """Rows of all tables together: the measure for cutting a file into parts of even size."""
        return sum(map(len, self.tables().values()))

    def tables(self) -> dict[str, np.ndarray]:
        """All tables by the name that they have in a file; ragged keys are called `<track>.keys`."""
        tables = {name: self.rows[name] for name in SPECS if name in self.rows}
        tables |= {f"{name}.keys": self.keys[name] for name in SPECS if name in self.keys}
        return tables | {
            "steps": self.steps,
            "times": self.times,
            "happenings": self.happenings,
            "decisions": self.decisions,
            "tokens": self.tokens,
        }
