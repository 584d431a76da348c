"""The GGUF container, whole and damaged. Files are put together byte by byte, so that each lie in them is in plain view."""

import struct

import gguf
import numpy as np
import pytest
from gguf.quants import quantize
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.executor.gguf_file import GGUFFile
from engine.executor.model_error import ModelError

U32, F32, TEXT, LIST = 4, 6, 8, 9


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _entry(key: str, kind: int, content: bytes) -> bytes:
    return _text(key) + struct.pack("<I", kind) + content


def _tensor(name: str, dims: tuple[int, ...], kind: int = 0, offset: int = 0) -> bytes:
    return _text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def _file(values: list[bytes], tensors: list[bytes], data: bytes = b"", version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values)) + b"".join(values) + b"".join(tensors)
    return head + bytes(-len(head) % 32) + data


VALUES = [
    _entry("name", TEXT, _text("tiny ☃")),
    _entry("layers", U32, struct.pack("<I", 7)),
    _entry("words", LIST, struct.pack("<IQ", TEXT, 2) + _text("a") + _text("b")),
    _entry("scores", LIST, struct.pack("<IQ", F32, 2) + struct.pack("<2f", 0.5, -2.0)),
]
WHOLE = _file(VALUES, [_tensor("w", (3, 2))], struct.pack("<6f", *range(6)))


def _open(tmp_path, data: bytes) -> GGUFFile:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    return GGUFFile(path)


def test_values_and_tensors_are_read(tmp_path) -> None:
    file = _open(tmp_path, WHOLE)
    assert file.metadata == {"name": "tiny ☃", "layers": 7, "words": ["a", "b"], "scores": [0.5, -2.0]}
    assert file.read("w").tolist() == [[0, 1, 2], [3, 4, 5]]  # dimensions stand fastest first in the file


def test_what_was_read_can_be_changed(tmp_path) -> None:
    values = _open(tmp_path, WHOLE).read("w")
    values[0, 0] = 9
    assert values[0].tolist() == [9, 1, 2]


@pytest.mark.parametrize("kind", ["F16", "Q4_0", "Q4_1", "Q8_0", "BF16"])
def test_block_formats_are_turned_into_float32(tmp_path, kind) -> None:
    kind = gguf.GGMLQuantizationType[kind]
    values = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)
    file = _open(tmp_path, _file([], [_tensor("w", (64, 2), kind)], quantize(values, kind).tobytes()))
    assert file.read("w").dtype == np.float32
    assert np.abs(file.read("w") - values).max() < 0.1


def test_every_way_of_cutting_a_file_off_is_told(tmp_path) -> None:
    for size in range(len(WHOLE)):
        with pytest.raises(ModelError, match=r"model\.gguf") as refusal:
            _open(tmp_path, WHOLE[:size])
        assert str(refusal.value).count("\n") == 0


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=6))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_with_wrong_bytes_is_read_or_refused(tmp_path, changes) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    try:
        file = _open(tmp_path, bytes(data))
        for name in file.tensors:
            file.read(name)
    except ModelError:
        pass


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\3\4" + bytes(60), "is not a GGUF file"),
        (_file([], [], version=1), "GGUF version 1; versions 2 and 3"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), "1152921504606846976 as the number of tensors; at most 16384"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 40), "number of metadata values"),
        (_file([_entry("x", LIST, struct.pack("<IQ", F32, 1 << 22))], []), "in the middle of its head"),
        (_file([_entry("x", LIST, struct.pack("<IQ", F32, 1 << 50))], []), "items of its lists"),
        (_file([_entry("x", LIST, struct.pack("<IQ", LIST, 1))], []), "items of type 9"),
        (_file([_entry("x", 77, b"")], []), "type 77"),
        (_file([_entry("x", TEXT, struct.pack("<Q", 1) + b"\xff")], []), "not UTF-8"),
        (_file([VALUES[1], VALUES[1]], []), "gives 'layers' twice"),
        (_file([_entry("general.alignment", U32, struct.pack("<I", 0))], []), "alignment is 0"),
        (_file([], [_tensor("w", (3, 2)), _tensor("w", (3, 2))], bytes(24)), "holds 'w' twice"),
        (_file([], [_tensor("w", (1 << 40, 1 << 40))]), "would end at byte"),
        (_file([], [_tensor("w", (3, 2), offset=1 << 62)], bytes(24)), "would end at byte"),
        (_file([], [_tensor("w", (3, 0))]), r"shape of 'w' is \[0, 3\]"),
        (_file([], [_tensor("w", (33,), kind=2)], bytes(64)), "does not fit Q4_0"),
        (_file([], [_tensor("w", (3, 2), kind=999)], bytes(24)), "format of 'w' is 999"),
        (_file([], [_tensor("w", (1,) * 9)]), "9 as the number of dimensions"),
        (b"", "cannot be read: it is empty"),
    ],
)
def test_a_lie_is_told_in_one_sentence(tmp_path, data, message) -> None:
    with pytest.raises(ModelError, match=message):
        _open(tmp_path, data)


def test_a_missing_file_is_told(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"gone\.gguf cannot be read: no such file"):
        GGUFFile(tmp_path / "gone.gguf")
