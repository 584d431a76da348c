"""Files come back as they were saved, and whatever else is fed to the reader gets one sentence."""

import io
import json
import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.trace import codec
from engine.trace.chunk import Chunk
from engine.trace.codec import MAGIC, TraceFileError
from engine.trace.columns import CODES, Table, planes, read_tables, write_tables
from engine.trace.predict import Memory
from engine.trace.trace import Trace
from tests.engine.trace import synthetic
from tests.engine.trace.test_frame import HEADER, REQUEST, by_hand
from tests.engine.trace.test_trace import SMALL, same


def saved(trace: Trace) -> bytes:
    file = io.BytesIO()
    trace.save(file)
    return file.getvalue()


SMALL_FILE = saved(SMALL)
TINY_FILE = saved(by_hand())


def part(fields: object, tables: bytes = b"") -> bytes:
    text = json.dumps(fields).encode()
    raw = struct.pack("<I", len(text)) + text + tables
    packed = zlib.compress(raw)
    return struct.pack("<II", len(raw), len(packed)) + packed


def refused(data: bytes) -> str:
    """The sentence that `data` is refused with: one line, one full stop at its end."""
    with pytest.raises(TraceFileError) as caught:
        Trace.load(data)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 300
    return sentence


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
@settings(max_examples=30, deadline=None)
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
@settings(max_examples=150, deadline=None)
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
@settings(max_examples=300, deadline=None)
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


def test_a_file_cut_short_anywhere_is_refused() -> None:
    assert [refused(TINY_FILE[:n]) for n in range(len(TINY_FILE))]
    assert "cut short" in refused(SMALL_FILE[:-1])


def test_something_else_is_refused() -> None:
    assert refused(b"") == "This is not a saved run: it does not begin with KVSCOPE1."
    assert refused(b"\x80\x04\x95junk") == "This is not a saved run: it does not begin with KVSCOPE1."
    assert "goes on after its end part" in refused(TINY_FILE + part({"part": "more"}))
    assert "cut short at byte" in refused(TINY_FILE + b"junk")


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_random_bytes_after_the_magic_are_refused(data: bytes) -> None:
    refused(MAGIC + data)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_damaged_content_of_a_part_is_refused_or_read(data: st.DataObject) -> None:
    """Bytes are changed inside the parts and packed again, so that the damage gets past zlib."""
    pieces: list[bytes] = []
    offset = len(MAGIC)
    target = data.draw(st.integers(0, 2))
    while offset < len(TINY_FILE):
        raw_len, zlib_len = struct.unpack_from("<II", TINY_FILE, offset)
        raw = bytearray(zlib.decompress(TINY_FILE[offset + 8 : offset + 8 + zlib_len]))
        if len(pieces) == target:
            for _ in range(data.draw(st.integers(1, 3))):
                raw[data.draw(st.integers(0, raw_len - 1))] = data.draw(st.integers(0, 255))
        packed = zlib.compress(bytes(raw))
        pieces.append(struct.pack("<II", len(raw), len(packed)) + packed)
        offset += 8 + zlib_len
    try:
        Trace.load(MAGIC + b"".join(pieces))
    except TraceFileError as error:
        assert str(error).endswith(".")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from(["header", "chunk", "end"]), st.data())
@settings(max_examples=400, deadline=None)
def test_wrong_types_in_the_json_are_refused_or_read(kind: str, data: st.DataObject) -> None:
    requests: dict[str, object] = {name: [value] for name, value in REQUEST.items()}
    parts: dict[str, dict[str, object]] = {
        "header": {**HEADER, "part": "header"},
        "chunk": {"part": "chunk", "num_events": 1, "requests": requests},
        "end": {"part": "end", "num_events": 1, "run_id": ""},
    }
    fields = parts[kind]
    name = data.draw(st.sampled_from([*fields, "tables", *(["requests.id", "requests.n"] if kind == "chunk" else [])]))
    value = data.draw(JSON)
    if name.startswith("requests."):
        fields["requests"] = {**requests, name.partition(".")[2]: [value]}
    else:
        fields[name] = value
    try:
        Trace.load(MAGIC + b"".join(part(fields) for fields in parts.values()))
    except TraceFileError as error:
        assert str(error).endswith(".")
        assert len(str(error)) < 300


@given(JSON, st.integers(-3, 2**40), st.integers(-3, 2**40), JSON)
@settings(max_examples=300, deadline=None)
def test_tables_of_any_description_are_refused_or_passed_over(
    name: object, rows: int, columns: int, codes: object
) -> None:
    entry = [name, rows, columns, "i4", codes]
    header, end = part({**HEADER, "part": "header"}), part({"part": "end", "num_events": 0, "run_id": ""})
    refused(MAGIC + header + part({"part": "chunk", "num_events": 0, "tables": [entry]}, bytes(8)) + end)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (["blocks", 2**40, 7, "i4", list(CODES["blocks"])], "Table 'blocks' needs"),
        (["blocks", 0, 6, "i4", list(CODES["blocks"])], "Table 'blocks' has 6 columns of i4; 7 are expected"),
        (["blocks", 0, 7, "i4", ["d", "p", "p", "p", "p", "p", "x"]], "Table 'blocks' has column codes"),
        (["blocks", 0, 7, "i4", ["k1", "p", "p", "p", "p", "p", "p"]], "Table 'blocks' has column codes"),
        (["blocks", 0, 7, "i4", ["d", "p", "p", "p", "p", "p", "k9"]], "Table 'blocks' has column codes"),
        (["tables", 0, 4, "i4", ["d", "p", "p", "p"]], "Table 'tables' has column codes"),
        (["times", 0, 2, "i4", ["d"]], "Table 'times' has 2 columns of i4; 2 are expected"),
        (["blocks", True, 7, "i4", []], "Table 'blocks' has rows, columns or a dtype that cannot be"),
        (["blocks", 0, 7, "u8", []], "Table 'blocks' has rows, columns or a dtype that cannot be"),
        ("blocks", "Table entry 'blocks' is not name, rows, columns, dtype and codes"),
    ],
)
def test_a_wrong_table_is_refused_by_name(entry: object, sentence: str) -> None:
    data = MAGIC + part({**HEADER, "part": "header"}) + part({"part": "chunk", "num_events": 0, "tables": [entry]})
    assert sentence in refused(data)


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[1]",
        b'{"part": NaN}',
        b'{"part": 1e999}',
        b'{"part": "\\ud800"}',
        b"[" * 100_000,
        b"\xff",
        b'{"n": ' + b"9" * 5000 + b"}",
    ],
)
def test_json_that_cannot_be_read_is_refused(text: bytes) -> None:
    raw = struct.pack("<I", len(text)) + text
    packed = zlib.compress(raw)
    assert "JSON" in refused(MAGIC + struct.pack("<II", len(raw), len(packed)) + packed)


def test_a_value_that_grows_beyond_32_bits_is_refused() -> None:
    columns = [np.array(column, np.int32) for column in ([1, 0], [0, 0], [0, 1], [2**31 - 1, 1])]
    rows = b"".join(map(planes, columns))
    table = ["tables", 2, 4, "i4", list(CODES["tables"])]
    blocks = [np.array([value], np.int32) for value in (1, -(2**31), 0, 0, 0, 0, 0)]
    entry = ["blocks", 1, 7, "i4", list(CODES["blocks"])]
    data = MAGIC + part({**HEADER, "part": "header"})
    for listed, content in (([table], rows), ([entry], b"".join(map(planes, blocks)))):
        chunk = part({"part": "chunk", "num_events": 1, "tables": listed}, content)
        assert refused(data + chunk + part({"part": "end", "num_events": 1, "run_id": ""}))


def test_bombs_are_refused_without_being_inflated() -> None:
    bomb = zlib.compress(bytes(200 << 20), 9)
    packed = MAGIC + struct.pack("<II", 200 << 20, len(bomb)) + bomb
    lying = MAGIC + struct.pack("<II", 100, len(bomb)) + bomb
    empty = zlib.compress(struct.pack("<I", 2) + b"{}")
    many = MAGIC + (struct.pack("<II", 16 << 20, len(empty)) + empty) * 50
    tracemalloc.start()
    try:
        assert "too much" in refused(packed)
        assert "does not inflate to the 100 bytes" in refused(lying)
        assert "does not inflate to" in refused(many)
        assert "more than 2000000 lists" in refused(MAGIC + _packed(b'{"a":' + b"[]," * 3_000_000 + b"1}"))
        assert "cut short" in refused(MAGIC + struct.pack("<II", 2**32 - 1, 2**32 - 1))
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def _packed(text: bytes) -> bytes:
    raw = struct.pack("<I", len(text)) + text
    packed = zlib.compress(raw)
    return struct.pack("<II", len(raw), len(packed)) + packed


def test_a_file_that_says_another_run_id_is_refused() -> None:
    data = b"".join(codec.encode(SMALL.header, SMALL.chunks(), "0" * 16))
    assert f"has run id {SMALL.run_id}, but the file says {'0' * 16}" in refused(data)


def test_a_long_run_takes_little_room() -> None:
    trace = synthetic.large(num_steps=1_500)
    num_rows = sum(part.num_rows for part in trace.chunks())
    assert num_rows > 100_000
    assert len(saved(trace)) < 1.2 * num_rows
