"""Who wrote what lies in a block and who reads it, off the rows of the blocks.

A block begins a new life when somebody takes it to write; whoever finds its content later only reads. So the writer of a
block is the owner it had at its last beginning, also when it is free since and its content is still known.
"""

from functools import cached_property

import numpy as np

from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS

USED, CACHED = BLOCK_STATES.index("used"), BLOCK_STATES.index("cached")


class BlockLives:
    """The beginnings of all lives in a run with blocks; every answer is about many (block, event) at once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._num_moments = trace.num_events + 1

    def writers(self, blocks: np.ndarray, events: np.ndarray) -> np.ndarray:
        """For each block the sequence that wrote what it held just before the event, -1 for nobody."""
        return self._last(*self._beginnings, blocks, events)

    def readers(self, blocks: np.ndarray, events: np.ndarray) -> np.ndarray:
        """For each block the sequence that it counted as its owner just before the event, -1 where it was free."""
        _, _, moments, owners = self._changes
        return self._last(moments, owners, blocks, events)

    @cached_property
    def returns(self) -> np.ndarray:
        """The events at which a free block was found and read again, ascending; one entry for each such block."""
        used, known, moments, _ = self._changes
        return np.sort(moments[used & known] % self._num_moments)

    @cached_property
    def losses(self) -> dict[str, np.ndarray]:
        """The events at which known content gives way: the number of blocks and who wrote them, -1 where they are several."""
        rows = self._trace.happenings
        evicted = rows["kind"] == HAPPENINGS.index("evicted")
        block, event = rows["block"][evicted], rows["event"][evicted]
        taken = np.isin(self._moments(block, event), self._beginnings[0])
        block, event = block[taken], event[taken]
        writer = self.writers(block, event)
        events, first, count = np.unique(event, return_index=True, return_counts=True)
        same = np.array([len(np.unique(part)) == 1 for part in np.split(writer, first[1:])], bool)[: len(events)]
        return {"event": events, "count": count, "writer": np.where(same, writer[first], -1)}

    @cached_property
    def _beginnings(self) -> tuple[np.ndarray, np.ndarray]:
        """(moments, ascending; the owner of each)."""
        used, known, moments, owners = self._changes
        begins = used & ~known
        return moments[begins], owners[begins]

    @cached_property
    def _changes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the rows in order of block and event: whether a free block is taken, whether with its content, moment, owner."""
        columns, happenings = self._trace.tracks["blocks"].columns, self._trace.happenings
        moments = self._moments(columns["key"], columns["event"])
        order = np.argsort(moments, kind="stable")
        moments, key, state = moments[order], columns["key"][order], columns["state"][order]
        before = np.zeros_like(state)
        before[1:] = np.where(key[1:] == key[:-1], state[:-1], 0)
        evicted = happenings["kind"] == HAPPENINGS.index("evicted")
        lost = self._moments(happenings["block"][evicted], happenings["event"][evicted])
        is_known = (before == CACHED) & ~np.isin(moments, lost)
        return (state == USED) & (before != USED), is_known, moments, columns["owner"][order]

    def _last(self, moments: np.ndarray, values: np.ndarray, blocks: np.ndarray, events: np.ndarray) -> np.ndarray:
        """The last value of each block before the event, -1 for none."""
        if not len(moments):
            return np.full(len(blocks), -1, np.int64)
        found = np.searchsorted(moments, self._moments(blocks, events)) - 1
        is_there = (found >= 0) & (moments[found] // self._num_moments == blocks)
        return np.where(is_there, values[found], -1)

    def _moments(self, blocks: np.ndarray, events: np.ndarray) -> np.ndarray:
        return blocks.astype(np.int64) * self._num_moments + events
