"""A finished run as rows of new state, and every question that a view may ask of it.

Steps, requests, tracks, happenings and decisions are plain numpy columns. `cut` gives the state at any event, step or
time; `chunks` takes the trace apart again, for a file or for the wire. Nothing here knows a rule of the engine.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from engine.trace import check, codec
from engine.trace.check import (
    MAX_KEYS,
    TraceFileError,
    add_answers,
    check_decisions,
    check_events,
    check_happenings,
    check_header,
    check_nodes,
    check_range,
    check_requests,
    check_slots,
    check_steps,
    check_tokens,
)
from engine.trace.chunk import Chunk, Word
from engine.trace.frame import Frame
from engine.trace.rows import Track
from engine.trace.track import DECISION_COLUMNS, HAPPENING_COLUMNS, SPECS, STEP_COLUMNS


@dataclass(eq=False)
class Trace:
    """header, requests: as recorded. steps, happenings, decisions: column name -> int32 array.

    times   float64 [num_steps, 2]: start and end of each step in seconds
    tracks  the published tracks by name; a view has to do without those that are missing
    tokens  int32 [n, 2]: token and slot; node rows of a radix tree name a part of them by `first` and `num_tokens`
    words   what tokens read as, in runs of a real model
    """

    header: dict[str, Any]
    requests: list[dict[str, Any]]
    num_events: int
    steps: dict[str, np.ndarray]
    times: np.ndarray
    tracks: dict[str, Track]
    happenings: dict[str, np.ndarray]
    decisions: dict[str, np.ndarray]
    tokens: np.ndarray
    words: list[Word] = field(default_factory=list)

    @classmethod
    def of(cls, header: dict[str, Any], chunks: Iterable[Chunk]) -> "Trace":
        """Join and freeze. Raises TraceFileError where the parts do not make a consistent trace."""
        header = check_header(header)
        parts = list(chunks) or [Chunk()]
        num_events = parts[-1].num_events
        if any(b.num_events < a.num_events for a, b in pairwise(parts)) or num_events < 0:
            raise TraceFileError("The number of events goes down from one chunk to the next.")
        requests, num_sequences = check_requests([request for part in parts for request in part.requests])
        add_answers(requests, [answer for part in parts for answer in part.answers])
        times = np.concatenate([part.times for part in parts])
        steps = np.concatenate([part.steps for part in parts])
        check_steps(steps, times, num_events)
        happenings = _columns("happenings", HAPPENING_COLUMNS, [part.happenings for part in parts], num_events)
        check_happenings(happenings, len(requests), num_sequences)
        decisions = _columns("decisions", DECISION_COLUMNS, [part.decisions for part in parts], num_events)
        check_decisions(decisions, len(requests))
        tokens = np.concatenate([part.tokens for part in parts if "nodes" in header["tracks"]] or [Chunk().tokens])
        check_tokens(tokens, header)
        columns = dict(zip(STEP_COLUMNS, np.ascontiguousarray(steps.T), strict=True))
        trace = cls(header, requests, num_events, columns, times, {}, happenings, decisions, tokens)
        trace.words = [word for part in parts for word in part.words]
        check_range("words.sequence", np.array([word.sequence for word in trace.words], np.int64), 0, num_sequences)
        for name in header["tracks"]:
            trace.tracks[name] = trace._freeze(name, parts, num_sequences)
        return trace

    def _freeze(self, name: str, parts: list[Chunk], num_sequences: int) -> Track:
        spec = SPECS[name]
        blank = np.zeros((0, 2 + len(spec.columns)), np.int32)
        rows = np.concatenate([part.rows.get(name, blank) for part in parts])
        check_events(name, rows[:, 0], self.num_events)
        keys = None
        if spec.ragged:
            keys = np.concatenate([part.keys.get(name, np.zeros((0, 2), np.int32)) for part in parts])
            check_range(f"{name}.sequence", keys[:, 0], 0, num_sequences)
            check_range(f"{name}.index", keys[:, 1], 0, MAX_KEYS)
            num_keys = len(keys)
        elif name == "blocks":
            num_keys = self._num_blocks(rows[:, 1])
        elif name == "nodes":
            num_keys = int(rows[:, 1].max(initial=0)) + 1
        else:
            num_keys = len(self.requests) if name == "requests" else num_sequences
        if num_keys > MAX_KEYS:
            raise TraceFileError(f"Track {name!r} has {num_keys} keys; the limit is {MAX_KEYS}.")
        check_range(f"{name}.key", rows[:, 1], 0, num_keys)
        if name == "tables":
            check_slots(rows[:, 1], num_keys)
            check_range("tables.block", rows[:, 2], -1, MAX_KEYS)
        elif name == "blocks":
            check_range("blocks.owner", rows[:, 4], -1, num_sequences)
        elif name == "nodes":
            check_nodes(rows, num_keys, len(self.tokens))
        return Track.of(spec, rows, num_keys, self.steps["scheduled"], keys)

    def _num_blocks(self, keys: np.ndarray) -> int:
        pools = self.header["pools"]
        num_blocks = max((pool["first"] + (pool.get("size") or 0) for pool in pools), default=0)
        if len(keys) and (not pools or any(pool.get("size") is None for pool in pools)):
            num_blocks = max(num_blocks, int(keys.max()) + 1)
        return num_blocks

    @property
    def num_steps(self) -> int:
        return len(self.times)

    @cached_property
    def run_id(self) -> str:
        """Hash of everything that the run is, however it was cut into chunks and whatever it is called: 16 hex digits."""
        what = (check.run_of(self.header), self.requests, self.num_events)
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
        for name, track in self.tracks.items():
            digest.update(name.encode())
            for column in (*track.columns.values(), *(() if track.keys is None else (track.keys,))):
                digest.update(column.astype("<i4").tobytes())
        for table in (self.steps, self.happenings, self.decisions):
            for column in table.values():
                digest.update(column.astype("<i4").tobytes())
        digest.update(self.times.astype("<f8").tobytes())
        digest.update(self.tokens.astype("<i4").tobytes())
        return digest.hexdigest()[:16]

    def ticks(self, event: int) -> int:
        """Steps whose `scheduled` cut lies at or before `event`: the clock of the ramps."""
        return int(np.searchsorted(self.steps["scheduled"], event, side="right"))

    def step_of(self, event: int) -> int:
        """The step whose schedule or update range holds `event`; between and after steps the last one begun, else -1."""
        steps = self.steps
        k = int(np.searchsorted(steps["scheduled"], event, side="left"))
        if k < self.num_steps and steps["begin"][k] < event:
            return k
        u = int(np.searchsorted(steps["updated"], event, side="left"))
        if u < self.num_steps and steps["update_begin"][u] < event:
            return u
        return k - 1

    def cut(
        self, *, event: int | None = None, step: int | None = None, at: str = "updated", time: float | None = None
    ) -> Frame:
        """The state at an event, at the `updated` or `scheduled` cut of a step, or at a time in seconds.

        Exactly one of event, step and time is given. Raises ValueError for one that the run does not have.
        """
        if (event is None) + (step is None) + (time is None) != 2:
            raise ValueError("Give exactly one of event, step and time.")
        if time is not None:
            event = self._event_at(time)
        elif step is not None:
            event = self._event_of_step(step, at)
        assert event is not None
        if not 0 <= event <= self.num_events:
            raise ValueError(f"Event {event} is not in this run; its events are 0 to {self.num_events}.")
        ticks = self.ticks(event)
        tracks = {name: track.at(event, ticks) for name, track in self.tracks.items()}
        return Frame(event, self.step_of(event), tracks, self.slots_of)

    def _event_of_step(self, step: int, at: str) -> int:
        if at not in ("scheduled", "updated"):
            raise ValueError(f"A step has no cut {at!r}; choose scheduled or updated.")
        if not 0 <= step < self.num_steps:
            known = f"its frames are 0 to {self.num_steps - 1}" if self.num_steps else "it has no step"
            raise ValueError(f"Frame {step} is not in this run; {known}.")
        return int(self.steps[at][step])

    def _event_at(self, time: float) -> int:
        """Inside a step its scheduled cut, in a gap the updated cut before it, after the last step the end of the run."""
        if not np.isfinite(time):
            raise ValueError(f"Time {time} is not a number of seconds.")
        k = int(np.searchsorted(self.times[:, 0], time, side="right")) - 1
        if k < 0:
            return 0
        if time < self.times[k, 1]:
            return int(self.steps["scheduled"][k])
        return int(self.steps["updated"][k]) if k + 1 < self.num_steps else self.num_events

    def parse_frame(self, text: str) -> int:
        """The event of a link: `12` is the scheduled cut of step 12, `12.3` the third event of that step."""
        match = re.fullmatch(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?", text.strip())
        if match is None:
            raise ValueError(f"Frame {text[:40]!r} is not a frame; write 12, or 12.3 for the third event of step 12.")
        step = int(match[1])
        event = self._event_of_step(step, "scheduled")
        if match[2] is None:
            return event
        begin, scheduled, update_begin, updated = (int(self.steps[name][step]) for name in STEP_COLUMNS[:4])
        number, num_first = int(match[2]), scheduled - begin
        num_events = num_first + updated - update_begin
        if not 1 <= number <= num_events:
            raise ValueError(f"Frame {step} has no event {number}; its events are 1 to {num_events}.")
        return begin + number if number <= num_first else update_begin + number - num_first

    def window(self, track: str, lo: int, hi: int) -> dict[str, np.ndarray]:
        """Columns of the rows of `track` that hold at some event of lo..hi. Raises KeyError for a missing track."""
        return self.tracks[track].window(lo, hi)

    def slots_of(self, sequence: int) -> np.ndarray:
        """Slot numbers of the block table of a sequence, by logical index."""
        order, first = self._slots
        return order[first[sequence] : first[sequence + 1]] if 0 <= sequence < len(first) - 1 else order[:0]

    @cached_property
    def _slots(self) -> tuple[np.ndarray, np.ndarray]:
        keys = self.tracks["tables"].keys
        assert keys is not None
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        num_sequences = max((r["first_sequence"] + r["n"] for r in self.requests), default=0)
        return order, np.searchsorted(keys[order, 0], np.arange(num_sequences + 1))

    def chunks(self, cuts: Sequence[int] = ()) -> list[Chunk]:
        """The trace taken apart at the given event numbers; `Trace.of(header, chunks)` puts it together again."""
        bounds = sorted({min(max(int(cut), 0), self.num_events) for cut in cuts} - {self.num_events})
        parts = [Chunk(num_events=event) for event in (*bounds, self.num_events)]
        for name, track in self.tracks.items():
            for part, rows in zip(parts, _split(track.columns["event"], track.columns, bounds), strict=True):
                part.rows[name] = rows
            if track.keys is not None:
                sizes = _num_seen(track.columns["event"], track.columns["key"], bounds)
                for part, keys in zip(parts, np.split(track.keys, sizes), strict=True):
                    part.keys[name] = keys.copy()
        for name in ("steps", "happenings", "decisions"):
            columns = getattr(self, name)
            order = columns["updated" if name == "steps" else "event"]
            for part, rows in zip(parts, _split(order, columns, bounds), strict=True):
                setattr(part, name, rows)
        num_done = np.searchsorted(self.steps["updated"], bounds, side="right")
        for part, times in zip(parts, np.split(self.times, num_done), strict=True):
            part.times = times.copy()
        if "nodes" in self.tracks:
            nodes = self.tracks["nodes"].columns
            seen = _num_seen(nodes["event"], nodes["first"] + nodes["num_tokens"] - 1, bounds)
            for part, tokens in zip(parts, np.split(self.tokens, seen), strict=True):
                part.tokens = tokens.copy()
        known = _num_seen(self.happenings["event"], self.happenings["request"], bounds)
        for part, first, last in zip(parts, (0, *known), (*known, len(self.requests)), strict=True):
            part.requests = self.requests[first:last]
        parts[-1].words = self.words
        return parts

    def save(self, target: str | Path | BinaryIO) -> None:
        """Write the run as one file, which `load` and the browser read."""
        with open(target, "wb") if isinstance(target, str | Path) else nullcontext(target) as file:
            for part in codec.encode(self.header, self.chunks(self.even_cuts()), self.run_id):
                file.write(part)

    def even_cuts(self, rows_per_chunk: int = 400_000) -> list[int]:
        """Events at which to cut the run into chunks of about that many rows."""
        events = np.sort(np.concatenate([track.columns["event"] for track in self.tracks.values()] or [np.zeros(0)]))
        return [int(event) for event in events[rows_per_chunk::rows_per_chunk]]

    @classmethod
    def load(cls, source: str | Path | bytes) -> "Trace":
        """Read what `save` wrote. Raises TraceFileError, with one sentence, for anything else."""
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
        header, chunks, run_id = codec.decode(data)
        trace = cls.of(header, chunks)
        if trace.run_id != run_id:
            raise TraceFileError(f"The content of the file has run id {trace.run_id}, but the file says {run_id}.")
        return trace


def _columns(name: str, names: tuple[str, ...], parts: list[np.ndarray], num_events: int) -> dict[str, np.ndarray]:
    columns = dict(zip(names, np.ascontiguousarray(np.concatenate(parts).T), strict=True))
    check_events(name, columns["event"], num_events)
    return columns


def _split(order: np.ndarray, columns: dict[str, np.ndarray], bounds: list[int]) -> list[np.ndarray]:
    """Rows [n, num_columns] for each range of events; `order` is the ascending column that decides."""
    return np.split(np.stack(list(columns.values()), axis=1), np.searchsorted(order, bounds, side="right"))


def _num_seen(event: np.ndarray, key: np.ndarray, bounds: list[int]) -> list[int]:
    """How many keys, counted from 0 without gaps, have appeared up to each of the events."""
    highest = np.concatenate(([0], np.maximum.accumulate(key) + 1)) if len(key) else np.zeros(1, int)
    return [int(n) for n in highest[np.searchsorted(event, bounds, side="right")]]
