"""Whatever else is fed to the reader of saved runs gets one sentence: no traceback, no large allocation."""

import json
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.trace import codec
from engine.trace.codec import MAGIC, TraceFileError
from engine.trace.columns import CODES, planes
from engine.trace.trace import Trace
from tests.engine.trace.test_codec import SMALL_FILE, saved
from tests.engine.trace.test_frame import HEADER, REQUEST, by_hand
from tests.engine.trace.test_trace import SMALL

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


def test_a_file_cut_short_anywhere_is_refused() -> None:
    assert [refused(TINY_FILE[:n]) for n in range(len(TINY_FILE))]
    assert "cut short" in refused(SMALL_FILE[:-1])


def test_something_else_is_refused() -> None:
    assert refused(b"") == "This is not a saved run: it does not begin with KVSCOPE1."
    assert refused(b"\x80\x04\x95junk") == "This is not a saved run: it does not begin with KVSCOPE1."
    assert "goes on after its end part" in refused(TINY_FILE + part({"part": "more"}))
    assert "cut short at byte" in refused(TINY_FILE + b"junk")


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_random_bytes_after_the_magic_are_refused(data: bytes) -> None:
    refused(MAGIC + data)


@given(st.data())
@settings(max_examples=400)
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
@settings(max_examples=400)
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
@settings(max_examples=300)
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
        (["sequences", 0, 8, "i4", ["d", None, "p", "p", "p", "p", "p", "p"]], "Table 'sequences' has 8 columns"),
        (["sequences", 0, 7, "i4", ["d", None, "p", "p", "p", "p", "p"]], "Table 'sequences' has column codes"),
        (["sequences", 0, 7, "i4", ["d", ["p"], "p", "p", "p", "p", "p"]], "Table 'sequences' has column codes"),
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
