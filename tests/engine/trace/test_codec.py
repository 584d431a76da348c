"""Files come back as they were saved, whatever the values and however the run was cut."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.trace import codec
from engine.trace.check import TraceFileError, check_words
from engine.trace.chunk import Chunk, Word
from engine.trace.columns import Table, planes, read_tables, write_tables
from engine.trace.predict import Memory
from engine.trace.trace import Trace
from tests.engine.trace import synthetic
from tests.engine.trace.test_frame import HEADER, REQUEST
from tests.engine.trace.test_trace import SMALL, same


def saved(trace: Trace) -> bytes:
    file = io.BytesIO()
    trace.save(file)
    return file.getvalue()


SMALL_FILE = saved(SMALL)


def test_a_saved_run_comes_back_equal(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "run.kvscope")
    loaded = Trace.load(tmp_path / "run.kvscope")
    assert same(loaded, SMALL)
    assert loaded.run_id == SMALL.run_id
    assert [loaded.cut(event=e).crc() for e in range(0, SMALL.num_events, 50)] == [
        SMALL.cut(event=e).crc() for e in range(0, SMALL.num_events, 50)
    ]


def test_saving_twice_gives_the_same_bytes() -> None:
    assert saved(Trace.load(SMALL_FILE)) == SMALL_FILE


@given(st.lists(st.integers(0, SMALL.num_events), max_size=12))
@settings(max_examples=30)
def test_any_chunking_of_a_file_is_the_same_run(cuts: list[int]) -> None:
    data = b"".join(codec.encode(SMALL.header, SMALL.chunks(cuts), SMALL.run_id))
    assert same(Trace.load(data), SMALL)


def test_a_trace_without_tables_comes_back_equal() -> None:
    strips = np.array([(1, 0, 0, 64, 0, 0), (2, 0, 0, 64, 5, 1), (4, 0, -1, 0, 0, 0)], np.int32)
    header = {**HEADER, "tracks": ["requests", "strips"], "pools": [{"name": "gpu", "first": 0, "size": 2_000_000_000}]}
    trace = Trace.of(header, [Chunk(num_events=4, requests=[REQUEST], rows={"strips": strips})])
    assert same(Trace.load(saved(trace)), trace)


def test_text_of_any_script_comes_back_equal() -> None:
    request = {**REQUEST, "id": "块\u2028<b>\\\"'🙂", "tenant": "é", "after": "", "measured": {"ttft": 0.25}}
    trace = Trace.of(HEADER, [Chunk(requests=[{**REQUEST, "first_sequence": 0}, {**request, "first_sequence": 1}])])
    loaded = Trace.load(saved(trace))
    assert loaded.requests == trace.requests
    assert loaded.requests[1]["measured"] == {"ttft": 0.25}
    assert "measured" not in loaded.requests[0]


VALUES = st.integers(-(2**31), 2**31 - 1)
SMALL_VALUES = st.integers(-1, 6)


@given(st.lists(st.tuples(*[SMALL_VALUES | VALUES] * 7), max_size=40), st.lists(st.floats(width=64), max_size=9))
@settings(max_examples=150)
def test_plain_and_delta_and_keyed_columns_hold_any_32_bit_number(rows: list, times: list) -> None:
    pairs = np.array([(time, time) for time in times], np.float64).reshape(-1, 2)
    table = np.array(rows, np.int64).reshape(-1, 7).astype(np.int32)
    chunk = Chunk(rows={"sequences": table}, times=pairs)
    back = read_tables({t.name: t for t in write_tables(chunk, Memory())}, Memory())
    assert np.array_equal(back.rows.get("sequences", table[:0]), table)
    assert back.times.tobytes() == pairs.tobytes()


@st.composite
def memory_rows(draw: st.DrawFn) -> list[Chunk]:
    """Table and block rows with ids that repeat, at ascending events; slots as they appear; two chunks."""
    slots: dict[tuple[int, int], int] = {}
    chunks, event = [], 0
    for _ in range(2):
        tables, blocks, happened, known = [], [], [], len(slots)
        for _ in range(draw(st.integers(0, 12))):
            event += draw(st.integers(0, 2))
            for _ in range(draw(st.integers(0, 3))):
                key = (draw(st.integers(0, 2)), draw(st.integers(0, 3)))
                tables.append((event, slots.setdefault(key, len(slots)), draw(st.integers(-1, 5))))
            for _ in range(draw(st.integers(0, 3))):
                blocks.append((event, *draw(st.tuples(*[st.integers(0, 5)] * 3)), draw(st.integers(-1, 3)), 0, 1))
            happened.append((event, 3, *draw(st.tuples(*[st.integers(-1, 5)] * 5))))
        chunk = Chunk(
            rows={
                "tables": np.array(tables, np.int32).reshape(-1, 3),
                "blocks": np.array(blocks, np.int32).reshape(-1, 7),
            },
            keys={"tables": np.array(list(slots)[known:], np.int32).reshape(-1, 2)},
            happenings=np.array(happened, np.int32).reshape(-1, 7),
        )
        chunks.append(chunk)
    return chunks


@given(memory_rows())
@settings(max_examples=300)
def test_predicted_ids_come_back_whatever_they_are(chunks: list[Chunk]) -> None:
    writer, reader = Memory(), Memory()
    for chunk in chunks:
        back = read_tables({table.name: table for table in write_tables(chunk, writer)}, reader)
        for name, rows in chunk.rows.items():
            assert np.array_equal(back.rows.get(name, rows[:0]), rows)
        assert back.keys.get("tables", chunk.keys["tables"][:0]).tolist() == chunk.keys["tables"].tolist()
        assert back.happenings.tolist() == chunk.happenings.tolist()


def test_first_in_first_out_costs_one_byte_a_block_before_compression() -> None:
    """Blocks 0, 1, 2 are taken, given up and taken again in that order: all codes are small."""
    rows = [(1, 0, 0), (1, 1, 1), (1, 2, 2), (2, 0, -1), (2, 1, -1), (2, 2, -1), (3, 3, 0), (3, 4, 1), (3, 5, 2)]
    keys = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    chunk = Chunk(rows={"tables": np.array(rows, np.int32)}, keys={"tables": np.array(keys, np.int32)})
    (table,) = write_tables(chunk, Memory())
    assert table.column(3).tolist() == [1, 1, 1, 0, 0, 0, 3, 1, 1]


def test_bytes_of_a_column_lie_in_planes() -> None:
    assert planes(np.array([1, 256, -1], np.int32)) == bytes([1, 0, 255, 0, 1, 255, 0, 0, 255, 0, 0, 255])


def test_slots_that_do_not_count_up_are_refused_by_the_writer() -> None:
    chunk = Chunk(
        rows={"tables": np.array([(1, 1, 5)], np.int32)}, keys={"tables": np.array([(0, 0), (0, 1)], np.int32)}
    )
    with pytest.raises(ValueError, match="not numbered in order of first appearance"):
        write_tables(chunk, Memory())


def test_unknown_parts_tables_and_keys_are_passed_over() -> None:
    pieces = list(codec.encode(SMALL.header, SMALL.chunks([300]), SMALL.run_id))
    weather = codec.pack({"part": "weather"}, [Table("rain", 2, 1, "i4", ("zigzag",), bytes(8))])
    rain = codec.pack({"part": "chunk", "num_events": SMALL.num_events}, [Table("rain", 1, 2, "f8", ("?",), bytes(16))])
    data = b"".join((*pieces[:2], weather, *pieces[2:-1], rain, pieces[-1]))
    assert same(Trace.load(data), SMALL)


def test_a_long_run_takes_little_room() -> None:
    trace = synthetic.large(num_steps=1_500)
    num_rows = sum(part.num_rows for part in trace.chunks())
    assert num_rows > 100_000
    assert len(saved(trace)) < 1.2 * num_rows


def test_words_of_a_real_model_come_back_and_are_no_part_of_what_the_run_is():
    chunks = SMALL.chunks([50])
    chunks[0].words, chunks[1].words = [Word(0, 0, "The")], [Word(0, 1, " sky")]
    header = SMALL.header
    trace = Trace.of(header, chunks)
    again = Trace.load(b"".join(codec.encode(trace.header, trace.chunks([2]), trace.run_id)))
    assert again.words == [Word(0, 0, "The"), Word(0, 1, " sky")]
    silent = Trace.of(header, [replace(chunk, words=[]) for chunk in chunks])
    assert silent.run_id == trace.run_id


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (3, "not a list of columns"),
        ([[0], [1]], "three columns"),
        ([[0], [1], ["a", "b"]], "three columns"),
        ([[-1], [0], ["a"]], "from 0 to"),
        ([[0], [0.5], ["a"]], "a whole number"),
        ([[0], [0], ["a" * 10_001]], "at most 10000 characters"),
    ],
)
def test_wrong_words_are_refused_by_name(columns, said):
    with pytest.raises(TraceFileError, match=said):
        check_words(columns)
