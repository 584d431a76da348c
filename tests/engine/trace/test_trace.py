"""A trace answers for any event, step or time, and comes apart and together without a change."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.trace.chunk import Chunk
from engine.trace.codec import TraceFileError
from engine.trace.trace import Trace
from tests.engine.trace import synthetic
from tests.engine.trace.test_frame import HEADER, by_hand

SMALL = synthetic.small()


def same(a: Trace, b: Trace) -> bool:
    """Whether every value of the two is equal."""
    columns = [
        (x, y)
        for name in ("steps", "happenings", "decisions")
        for x, y in zip(getattr(a, name).values(), getattr(b, name).values(), strict=True)
    ]
    for name, track in a.tracks.items():
        columns += zip(track.columns.values(), b.tracks[name].columns.values(), strict=True)
        columns += [(track.end, b.tracks[name].end), (track.num_keys, b.tracks[name].num_keys)]
        columns += [] if track.keys is None else [(track.keys, b.tracks[name].keys)]
    plain = (a.header, a.requests, a.num_events, list(a.tracks)) == (b.header, b.requests, b.num_events, list(b.tracks))
    return plain and all(np.array_equal(x, y) for x, y in [*columns, (a.times, b.times)])


def test_fifty_random_chunkings_are_the_same_run() -> None:
    rng = random.Random(7)
    for _ in range(50):
        cuts = [rng.randint(0, SMALL.num_events) for _ in range(rng.randint(0, 50))]
        joined = Trace.of(SMALL.header, SMALL.chunks(cuts))
        assert same(joined, SMALL)
        assert joined.run_id == SMALL.run_id


def test_a_chunk_holds_the_events_up_to_its_end_and_the_steps_that_are_complete() -> None:
    first, second, last = by_hand().chunks([2, 5])
    assert [part.num_events for part in (first, second, last)] == [2, 5, 7]
    assert [len(part.steps) for part in (first, second, last)] == [0, 2, 1]
    assert [len(part.keys["tables"]) for part in (first, second, last)] == [1, 1, 0]
    assert [row[0] for row in second.rows["tables"].tolist()] == [3]


def test_every_value_counts_for_the_run_id() -> None:
    parts = SMALL.chunks()
    parts[0].rows["blocks"][-1, 5] += 1
    assert Trace.of(SMALL.header, parts).run_id != SMALL.run_id
    assert Trace.of({**SMALL.header, "name": "another"}, SMALL.chunks()).run_id != SMALL.run_id


def test_steps_have_two_named_cuts() -> None:
    trace = by_hand()
    assert [trace.cut(step=step, at="scheduled").event for step in range(3)] == [2, 4, 5]
    assert [trace.cut(step=step).event for step in range(3)] == [3, 5, 6]
    assert [trace.cut(step=step).step for step in range(3)] == [0, 1, 2]


def test_an_event_belongs_to_the_step_whose_ranges_hold_it() -> None:
    assert [by_hand().step_of(event) for event in range(8)] == [-1, 0, 0, 0, 1, 1, 2, 2]


def test_steps_may_overlap() -> None:
    steps = np.zeros((2, 10), np.int32)
    steps[:, :4] = [(0, 2, 4, 6), (2, 4, 6, 7)]
    trace = Trace.of(HEADER, [Chunk(num_events=7, steps=steps, times=np.array([(0.0, 1.0), (1.0, 2.0)]))])
    assert [trace.step_of(event) for event in range(8)] == [-1, 0, 0, 1, 1, 0, 0, 1]
    assert [trace.parse_frame(f"0.{number}") for number in (1, 2, 3, 4)] == [1, 2, 5, 6]


@pytest.mark.parametrize(
    ("time", "event"),
    [(-1.0, 0), (0.0, 2), (0.99, 2), (1.0, 4), (2.0, 5), (2.5, 5), (3.0, 5), (3.5, 5), (4.0, 7), (1e9, 7)],
)
def test_a_time_shows_the_step_that_contains_it(time: float, event: int) -> None:
    assert by_hand().cut(time=time).event == event


def test_a_link_counts_events_from_1_over_both_ranges() -> None:
    trace = by_hand()
    assert trace.parse_frame("1") == 4
    assert [trace.parse_frame(f"0.{number}") for number in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("3", "Frame 3 is not in this run; its frames are 0 to 2."),
        ("0.4", "Frame 0 has no event 4; its events are 1 to 3."),
        ("0.0", "Frame 0 has no event 0; its events are 1 to 3."),
        ("-1", "Frame '-1' is not a frame; write 12, or 12.3 for the third event of step 12."),
        ("1e9", "Frame '1e9' is not a frame; write 12, or 12.3 for the third event of step 12."),
        ("٣", "Frame '٣' is not a frame; write 12, or 12.3 for the third event of step 12."),
        ("", "Frame '' is not a frame; write 12, or 12.3 for the third event of step 12."),
    ],
)
def test_a_wrong_frame_is_answered_with_its_limit(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        by_hand().parse_frame(text)
    assert str(caught.value) == sentence


@given(st.text(max_size=20))
@settings(max_examples=200)
def test_any_text_as_a_frame_gives_an_event_or_a_sentence(text: str) -> None:
    try:
        assert 0 <= SMALL.parse_frame(text) <= SMALL.num_events
    except ValueError as error:
        assert str(error).startswith("Frame ")


def test_wrong_cuts_name_the_limit() -> None:
    trace = by_hand()
    with pytest.raises(ValueError, match="Event 8 is not in this run; its events are 0 to 7"):
        trace.cut(event=8)
    with pytest.raises(ValueError, match="Time nan is not a number of seconds"):
        trace.cut(time=float("nan"))
    with pytest.raises(ValueError, match="Give exactly one of event, step and time"):
        trace.cut(event=1, step=1)
    with pytest.raises(ValueError, match="A step has no cut 'middle'; choose scheduled or updated"):
        trace.cut(step=1, at="middle")


def test_a_run_without_steps_can_be_cut() -> None:
    empty = Trace.of({**HEADER, "pools": []}, [])
    assert empty.cut(event=0).tracks["blocks"]["state"].tolist() == []
    assert empty.cut(time=3.0).event == 0
    with pytest.raises(ValueError, match="Frame 0 is not in this run; it has no step"):
        empty.parse_frame("0")


def test_a_trace_with_only_some_tracks_opens() -> None:
    for tracks in ([], ["requests"], ["requests", "sequences"], ["blocks"]):
        partial = Trace.of({**SMALL.header, "tracks": tracks}, SMALL.chunks([50]))
        assert list(partial.tracks) == tracks
        frame = partial.cut(step=20)
        assert set(frame.tracks) == set(tracks)
        assert frame.table(0) == []
        assert partial.run_id != SMALL.run_id


def test_unlimited_memory_has_as_many_blocks_as_were_seen() -> None:
    header = {**HEADER, "pools": [{"name": "gpu", "first": 0, "size": None}]}
    rows = np.array([(1, 41, 1, 1, -1, 0, 0)], np.int32)
    assert Trace.of(header, [Chunk(num_events=1, rows={"blocks": rows})]).tracks["blocks"].num_keys == 42


def test_a_window_gives_the_rows_that_hold_in_it() -> None:
    window = by_hand().window("blocks", 4, 5)
    assert list(zip(window["key"].tolist(), window["event"].tolist(), window["end"].tolist(), strict=True)) == [
        (2, 1, 6),
        (0, 3, 6),
    ]
    assert by_hand().window("tables", 7, 7)["block"].tolist() == [-1, -1]


def _broken(track: str, row: int, column: int, value: int) -> list[Chunk]:
    parts = SMALL.chunks()
    parts[0].rows[track][row, column] = value
    return parts


@pytest.mark.parametrize(
    ("track", "row", "column", "value", "sentence"),
    [
        ("blocks", 3, 1, 64, "Column 'blocks.key' holds 64; it has to lie within 0..63"),
        ("blocks", 3, 4, -2, "Column 'blocks.owner' holds -2"),
        ("blocks", 0, 0, 0, "The events of table 'blocks' do not ascend"),
        ("sequences", 9, 0, 1, "The events of table 'sequences' do not ascend"),
        ("requests", -1, 0, 10**6, "The events of table 'requests' do not ascend"),
        ("tables", 0, 1, 1, "The slots of table 'tables' do not count"),
        ("tables", 0, 2, -2, "Column 'tables.block' holds -2"),
    ],
)
def test_rows_that_cannot_be_are_refused_by_name(track: str, row: int, column: int, value: int, sentence: str) -> None:
    with pytest.raises(TraceFileError, match=sentence):
        Trace.of(SMALL.header, _broken(track, row, column, value))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "The trace has format 2; this version reads format 1"),
        ({"format": True}, "The trace has format True"),
        ({"name": 3}, "Header field 'name' is 3"),
        ({"tracks": [1]}, "Header field 'tracks' holds something that is not a name"),
        ({"pools": [{"name": "gpu", "first": -1, "size": 4}]}, "Header field 'pools' first is -1"),
        ({"pools": [{"name": "gpu", "first": 0, "size": 1 << 30}]}, "Track 'blocks' has 1073741824 keys; the limit is"),
        ({"pools": ["gpu"]}, "Header field 'pools' holds something that is not a pool"),
        ({"block_size": 0}, "Header field 'block_size' is 0"),
    ],
)
def test_headers_that_cannot_be_are_refused_by_field(change: dict, sentence: str) -> None:
    with pytest.raises(TraceFileError, match=sentence):
        Trace.of({**SMALL.header, **change}, SMALL.chunks())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n": 0}, "Request 0 has n 0; the least is 1"),
        ({"n": 1 << 30}, "The requests have 1073741824 sequences; the limit is"),
        ({"prompt_len": -1}, "Request 0 has prompt_len -1; the least is 0"),
        ({"prompt_len": 2**31}, "Request 0 has prompt_len 2147483648; the limit is"),
        ({"prompt_len": 1.5}, "Request 0 has prompt_len 1.5, which is of the wrong type"),
        ({"id": None}, "Request 0 has id None, which is of the wrong type"),
        ({"measured": {"ttft": "soon"}}, "Request 0 has measured 'ttft' 'soon'; seconds are expected"),
    ],
)
def test_requests_that_cannot_be_are_refused_by_field(change: dict, sentence: str) -> None:
    parts = SMALL.chunks()
    parts[0].requests = [{**SMALL.requests[0], **change}, *SMALL.requests[1:]]
    with pytest.raises(TraceFileError, match=sentence):
        Trace.of(SMALL.header, parts)


def test_steps_that_run_backwards_are_refused() -> None:
    parts = SMALL.chunks()
    parts[0].times[5, 0] = np.nan
    with pytest.raises(TraceFileError, match="Table 'times' has a time that is not finite or that runs backwards"):
        Trace.of(SMALL.header, parts)
    parts = SMALL.chunks()
    parts[0].steps[5, 1] = parts[0].steps[5, 0] - 1
    with pytest.raises(TraceFileError, match="Table 'steps' has a step whose events are out of order"):
        Trace.of(SMALL.header, parts)
