"""Frames are cuts through rows: values, ramps, tables and the hash that the browser has to reach as well."""

import zlib
from bisect import bisect_right
from operator import itemgetter

import numpy as np
import pytest

from engine.trace.chunk import Chunk
from engine.trace.trace import Trace
from engine.trace.track import STEP_COLUMNS
from tests.engine.trace import synthetic

HEADER = {
    "format": 1,
    "name": "by hand",
    "settings": {},
    "pools": [{"name": "gpu", "first": 0, "size": 3}],
    "block_size": 4,
    "tracks": ["requests", "sequences", "tables", "blocks"],
    "time_unit": "s",
}
REQUEST = {"id": "A", "prompt_len": 5, "output_len": 3, "n": 1, "arrival_s": 0.0, "first_sequence": 0}


def _table(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, np.int32)


def by_hand() -> Trace:
    """One sequence: block 2 at event 1, its two open slots fill by one a step from event 2 on, all free at event 6.

    Steps (begin, scheduled, update_begin, updated): (0, 2, 2, 3), (3, 4, 4, 5), (5, 5, 5, 6)."""
    steps = np.zeros((3, len(STEP_COLUMNS)), np.int32)
    steps[:, :4] = [(0, 2, 2, 3), (3, 4, 4, 5), (5, 5, 5, 6)]
    chunk = Chunk(
        num_events=7,
        requests=[REQUEST],
        rows={
            "requests": _table((1, 0, 2, 0, 0)),
            "sequences": _table((1, 0, 2, 0, 5, 0, 0), (2, 0, 3, 0, 6, 5, 1), (6, 0, 6, -1, 8, 7, 0)),
            "tables": _table((1, 0, 2), (3, 1, 0), (6, 0, -1), (6, 1, -1)),
            "blocks": _table(
                (1, 2, 1, 1, 0, 1, 1), (3, 0, 1, 1, 0, 0, 0), (6, 2, 0, 0, -1, 0, 0), (6, 0, 0, 0, -1, 0, 0)
            ),
        },
        keys={"tables": _table((0, 0), (0, 1))},
        steps=steps,
        times=np.array([(0.0, 1.0), (1.0, 2.0), (3.0, 4.0)]),
    )
    return Trace.of(HEADER, [chunk])


def test_nothing_has_happened_at_event_0() -> None:
    frame = by_hand().cut(event=0)
    assert (frame.event, frame.step) == (0, -1)
    assert frame.tracks["blocks"]["owner"].tolist() == [-1, -1, -1]
    assert frame.tracks["sequences"]["seat"].tolist() == [-1]
    assert frame.table(0) == []


def test_a_ramp_ticks_at_scheduled_cuts_and_nowhere_else() -> None:
    trace = by_hand()
    fill = [int(trace.cut(event=event).tracks["blocks"]["fill"][2]) for event in range(7)]
    assert fill == [0, 1, 2, 2, 3, 4, 0]
    computed = [int(trace.cut(event=event).tracks["sequences"]["num_computed_tokens"][0]) for event in range(8)]
    assert computed == [0, 0, 5, 5, 6, 7, 7, 7]


def test_fields_of_a_frame_are_those_of_the_track_without_its_rate() -> None:
    frame = by_hand().cut(step=0, at="scheduled")
    assert list(frame.tracks["blocks"]) == ["state", "ref_count", "owner", "fill"]
    assert all(column.dtype == np.int32 for fields in frame.tracks.values() for column in fields.values())


def test_a_table_lists_blocks_by_logical_index() -> None:
    trace = by_hand()
    assert trace.cut(event=5).table(0) == [2, 0]
    assert trace.cut(event=6).table(0) == []
    assert trace.cut(event=5).table(99) == []


def test_the_hash_is_a_crc_over_all_fields_in_order() -> None:
    frame = by_hand().cut(event=5)
    everything = b"".join(
        np.array(values, "<i4").tobytes()
        for values in ([2], [0], [0], [3], [0], [8], [7], [2, 0], [1, 0, 1], [1, 0, 1], [0, -1, 0], [0, 0, 4])
    )
    assert frame.crc() == zlib.crc32(everything)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_cut_equals_a_replay_of_the_rows(seed: int) -> None:
    trace = synthetic.small(seed)
    ticks = [bisect_right(trace.steps["scheduled"].tolist(), event) for event in range(trace.num_events + 1)]
    for name, track in trace.tracks.items():
        spec, rows = track.spec, list(zip(*(column.tolist() for column in track.columns.values()), strict=True))
        for event in range(0, trace.num_events + 1, 29):
            state = {field: [d] * track.num_keys for field, d in zip(spec.fields, spec.defaults, strict=True)}
            for row in rows[: bisect_right(rows, event, key=itemgetter(0))]:
                for field, value in zip(spec.fields, row[2:], strict=False):
                    grown = row[-1] * (ticks[event] - ticks[row[0]]) if field in spec.ramps else 0
                    state[field][row[1]] = value + grown
            assert {field: column.tolist() for field, column in trace.cut(event=event).tracks[name].items()} == state


def test_cuts_in_any_order_give_the_same_frames() -> None:
    trace = synthetic.large(num_steps=400)
    assert sum(track.num_rows for track in trace.tracks.values()) > 32_768
    events = [0, trace.num_events, trace.num_events // 2, trace.num_events // 3]
    forwards = {event: trace.cut(event=event).crc() for event in sorted(events)}
    again = Trace.of(trace.header, trace.chunks())
    assert {event: again.cut(event=event).crc() for event in sorted(events, reverse=True)} == forwards


def test_every_cut_of_a_run_conserves_blocks_and_counts_its_readers() -> None:
    trace = synthetic.small()
    for step in range(trace.num_steps):
        frame = trace.cut(step=step)
        named = [block for sequence in range(trace.tracks["sequences"].num_keys) for block in frame.table(sequence)]
        assert np.bincount(named, minlength=64).tolist() == frame.tracks["blocks"]["ref_count"].tolist()
        assert (frame.tracks["blocks"]["state"] > 0).tolist() == (frame.tracks["blocks"]["ref_count"] > 0).tolist()
