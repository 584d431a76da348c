"""The frozen rows of one track: what held for which key from which event to which.

Freezing gives every row its `end`, the event at which the next row of the same key takes over. After that any moment is
one comparison over the rows, any range of moments another; nothing is replayed.
"""

from dataclasses import dataclass, field

import numpy as np

from engine.trace.track import TrackSpec

NEVER = np.int32(2**31 - 1)
"""`end` of a row that no other row follows."""
STRIDE = 1 << 15
"""After every so many rows a cut may start from the rows that were alive there."""


@dataclass(frozen=True, slots=True)
class Track:
    """Rows in event order, one int32 array a column.

    columns  "event", "key", the fields, "rate" where the track has ramps -> int32 [num_rows]
    end      int32 [num_rows], NEVER for the last row of a key
    until    like `end`, but rows that say nothing but the defaults are over at once: a cut begins with the defaults
    ticks    int32 [num_rows]: steps whose `scheduled` cut lay at or before the row; only for tracks with ramps
    keys     int32 [num_keys, 2] for ragged tracks, else None
    """

    spec: TrackSpec
    columns: dict[str, np.ndarray]
    end: np.ndarray
    until: np.ndarray
    ticks: np.ndarray | None
    num_keys: int
    keys: np.ndarray | None = None
    _survivors: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, spec: TrackSpec, rows: np.ndarray, num_keys: int, scheduled: np.ndarray, keys: np.ndarray | None = None
    ) -> "Track":
        """Freeze `rows` [num_rows, 2 + len(spec.columns)]; `scheduled` holds the scheduled cut of every step."""
        names = ("event", "key", *spec.columns)
        columns = dict(zip(names, np.ascontiguousarray(rows.T), strict=True))
        ticks = _ticks(columns["event"], scheduled) if spec.ramps else None
        end = _end(columns["event"], columns["key"])
        is_default = np.ones(len(end), bool)
        for name, default in zip(spec.columns, (*spec.defaults, 0), strict=False):
            is_default &= columns[name] == default
        return cls(spec, columns, end, np.where(is_default, columns["event"], end), ticks, num_keys, keys)

    @property
    def num_rows(self) -> int:
        return len(self.end)

    def _rows_at(self, event: int) -> np.ndarray:
        """Numbers of the rows that hold at `event`, at most one a key; keys at their defaults may be missing."""
        num_past = int(np.searchsorted(self.columns["event"], event, side="right"))
        start = num_past - num_past % STRIDE
        rows = np.concatenate((self._survivors_of(start), np.arange(start, num_past)))
        return rows[self.until[rows] > event]

    def _survivors_of(self, num_rows: int) -> np.ndarray:
        """Those of the first `num_rows` rows that still hold at the event of the last of them; found once."""
        if num_rows not in self._survivors:
            event = self.columns["event"][num_rows - 1] if num_rows else 0
            self._survivors[num_rows] = np.flatnonzero(self.until[:num_rows] > event)
        return self._survivors[num_rows]

    def at(self, event: int, ticks: int) -> dict[str, np.ndarray]:
        """Field -> int32 [num_keys] at `event`, where `ticks` steps have reached their `scheduled` cut."""
        alive = self._rows_at(event)
        key = self.columns["key"][alive]
        if self.ticks is not None:
            grown = self.columns["rate"][alive] * (np.int32(ticks) - self.ticks[alive])
        state = {}
        for name, default in zip(self.spec.fields, self.spec.defaults, strict=True):
            value = self.columns[name][alive]
            state[name] = np.full(self.num_keys, default, np.int32)
            state[name][key] = value + grown if name in self.spec.ramps else value
        return state

    def window(self, lo: int, hi: int) -> dict[str, np.ndarray]:
        """Columns, `end` included, of the rows that hold at some event of lo..hi."""
        num_past = np.searchsorted(self.columns["event"], hi, side="right")
        chosen = np.flatnonzero(self.end[:num_past] > lo)
        return {name: column[chosen] for name, column in {**self.columns, "end": self.end}.items()}


def _end(event: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The event of the next row with the same key, NEVER where there is none."""
    end = np.full(len(key), NEVER, np.int32)
    if len(key):
        order = np.sort((key.astype(np.int64) << 32) | np.arange(len(key)))
        row = order & 0xFFFFFFFF
        followed = (order[1:] >> 32) == (order[:-1] >> 32)
        end[row[:-1][followed]] = event[row[1:][followed]]
    return end


def _ticks(event: np.ndarray, scheduled: np.ndarray) -> np.ndarray:
    """For each row the number of steps with scheduled <= event; both arrays ascend."""
    first_row = np.searchsorted(event, scheduled, side="left")
    bounds = np.concatenate(([0], first_row, [len(event)]))
    return np.repeat(np.arange(len(scheduled) + 1, dtype=np.int32), np.diff(bounds))
