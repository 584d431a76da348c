"""Collects what is said about the events of a trace: rows of message codes with their numbers.

Everything is read off the happenings, the decisions and the rows of a trace in vectorised passes, so that a hundred
thousand events cost a fraction of a second.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from engine.trace.owners import owners
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, DECISION_COLUMNS, HAPPENING_COLUMNS, HAPPENINGS, REASONS
from viz.player.block_lives import BlockLives
from viz.player.free_blocks import free_blocks
from viz.player.messages import CODES
from viz.player.occupants import tokens_before

NUM_OPERANDS = 6
Rows = dict[str, np.ndarray]


class Narrator:
    """Collects rows: `say` adds one message for many events. `lists` are the sequences that list operands point to."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.rows: list[np.ndarray] = []
        self.lists: list[int] = []
        self.is_paged = "strips" not in trace.tracks
        self.settings = trace.header["settings"]
        self._free = free_blocks(trace)
        self.block_lives = BlockLives(trace)

    @cached_property
    def owner(self) -> np.ndarray:
        """The request of each sequence."""
        return owners(self.trace)

    def say(self, message: str, events: np.ndarray, *operands: np.ndarray | int) -> None:
        rows = np.zeros((len(events), 2 + NUM_OPERANDS), np.int64)
        for column, values in enumerate((events, CODES[message], *operands)):
            rows[:, column] = values
        self.rows.append(rows)

    def happened(self, kind: str) -> Rows:
        columns = self.trace.happenings
        chosen = columns["kind"] == HAPPENINGS.index(kind)
        return {name: columns[name][chosen] for name in HAPPENING_COLUMNS}

    def decided(self, action: str) -> Iterator[tuple[str, Rows]]:
        """The decisions of one kind, reason by reason."""
        columns = self.trace.decisions
        for reason in np.unique(columns["reason"][columns["action"] == ACTIONS.index(action)]):
            chosen = (columns["action"] == ACTIONS.index(action)) & (columns["reason"] == reason)
            yield REASONS[reason], {name: columns[name][chosen] for name in DECISION_COLUMNS}

    def free_before(self, events: np.ndarray) -> np.ndarray | None:
        """Free blocks of the device just before each event; None where memory has no limit or no blocks."""
        if self._free is None:
            return None
        changed, free = self._free
        return free[np.searchsorted(changed, events, side="left")]

    def step_begins(self, events: np.ndarray) -> np.ndarray:
        """The last event that the step of each event does not show: the `scheduled` cut before it, 0 for the first."""
        scheduled = self.trace.steps["scheduled"]
        return np.concatenate((np.zeros(1, np.int64), scheduled))[np.searchsorted(scheduled, events)]

    def fills_last_block(self, sequences: np.ndarray, events: np.ndarray) -> np.ndarray:
        """Whether the tokens of each sequence end with a full block just before the event."""
        return tokens_before(self.trace, sequences, events) % self.trace.header["block_size"] == 0

    def list_of(self, sequences: list[int]) -> int:
        position = len(self.lists)
        self.lists += [len(sequences), *sequences]
        return position


def sum_at(events: np.ndarray, moments: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """For each of `events` the sum of the amounts whose moment (ascending) it is."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(amounts, dtype=np.int64)))
    return total[np.searchsorted(moments, events, side="right")] - total[np.searchsorted(moments, events, side="left")]
