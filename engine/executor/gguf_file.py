"""Reads the container of llama.cpp: metadata, then a table of tensors, then their data, dequantised when asked for.

    file   = "GGUF", u32 version, u64 num_tensors, u64 num_values, value*, tensor*, padding, data
    value  = string key, u32 type, content        string = u64 length, UTF-8 bytes
    tensor = string name, u32 num_dims, u64 dim (fastest first)*, u32 type, u64 offset into the data

The file may be hostile, so the walk over its head is ours: every length is compared with what is left of the file before
anything of that size is made. Block formats are turned into float32 by the `gguf` package, which knows all of them.
"""

import mmap
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

from engine.executor.model_error import ModelError

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
MAX_VALUES = 1 << 12
MAX_TENSORS = 1 << 14
MAX_ITEMS = 1 << 22
MAX_TEXT = 1 << 20
MAX_DIMS = 4


class StoredTensor(NamedTuple):
    """Where a tensor lies: its shape [out, in], its block format and its place in the file."""

    shape: tuple[int, ...]
    format: GGMLQuantizationType
    start: int
    num_bytes: int


class GGUFFile:
    """An open file: `metadata` by key, and `tensors`, whose data is read by `read`."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError for a file that cannot be read, is cut off or contradicts itself."""
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as problem:
            raise ModelError(f"{path.name} cannot be read: {_reason(problem)}.") from None
        self._position = self._num_items = 0
        self.metadata: dict[str, Any] = {}
        self.tensors: dict[str, StoredTensor] = {}
        try:
            self._read_head()
        except UnicodeDecodeError:
            raise self._damaged("a text in its head is not UTF-8") from None

    def read(self, name: str) -> np.ndarray:
        """The tensor as float32, in memory of its own. Raises ModelError for a format that cannot be dequantised, MemoryError."""
        shape, kind, start, num_bytes = self.tensors[name]
        block, size = GGML_QUANT_SIZES[kind]
        rows = np.frombuffer(self._data, np.uint8, num_bytes, start).reshape(*shape[:-1], shape[-1] // block * size)
        try:
            values = dequantize(rows.view(_plain_type(kind)), kind)
        except NotImplementedError:
            raise ModelError(
                f"{self.path.name} stores {name} as {kind.name}, which cannot be read; use a Q4, Q8 or F16 file."
            ) from None
        values = values.astype(np.float32, copy=False).reshape(shape)
        return values if values.flags.writeable else values.copy()

    def _read_head(self) -> None:
        if self._bytes(4) != b"GGUF":
            raise ModelError(f"{self.path.name} is not a GGUF file; choose a .gguf file or a folder with config.json.")
        version = self._number("I")
        if version not in (2, 3):
            raise ModelError(f"{self.path.name} is GGUF version {version}; versions 2 and 3 can be read.")
        num_tensors = self._count("Q", MAX_TENSORS, "tensors")
        num_values = self._count("Q", MAX_VALUES, "metadata values")
        for _ in range(num_values):
            key = self._text()
            if key in self.metadata:
                raise self._damaged(f"it gives {key!r:.80} twice")
            self.metadata[key] = self._value(self._number("I"))
        entries = [self._tensor() for _ in range(num_tensors)]
        alignment = self.metadata.get("general.alignment", 32)
        if type(alignment) is not int or not 8 <= alignment <= 1 << 16 or alignment & (alignment - 1):
            raise self._damaged(f"its alignment is {alignment!r:.40}")
        data = -(-self._position // alignment) * alignment
        for name, shape, kind, offset in entries:
            self._place(name, shape, kind, data + offset)

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._text()
        num_dims = self._count("I", MAX_DIMS, "dimensions of a tensor")
        shape = tuple(reversed([self._number("Q") for _ in range(num_dims)]))
        return name, shape, self._number("I"), self._number("Q")

    def _place(self, name: str, shape: tuple[int, ...], kind: int, start: int) -> None:
        """Enter a tensor after its format, its size and its place were checked."""
        if name in self.tensors:
            raise self._damaged(f"it holds {name!r:.80} twice")
        try:
            stored = GGMLQuantizationType(kind)
            block, size = GGML_QUANT_SIZES[stored]
        except (ValueError, KeyError):
            raise self._damaged(f"the format of {name!r:.80} is {kind}, which is not known") from None
        num_items = 1
        for dimension in shape:
            num_items *= dimension
        if not shape or num_items == 0 or shape[-1] % block:
            raise self._damaged(f"the shape of {name!r:.80} is {list(shape)}, which does not fit {stored.name}")
        num_bytes = num_items // block * size
        if start + num_bytes > len(self._data):
            raise self._damaged(
                f"{name!r:.80} would end at byte {start + num_bytes}, the file has {len(self._data)}; fetch it again"
            )
        self.tensors[name] = StoredTensor(shape, stored, start, num_bytes)

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            return self._array(self._number("I"))
        if kind not in SCALARS:
            raise self._damaged(f"a metadata value has type {kind}, which is not known")
        return self._number(SCALARS[kind])

    def _array(self, kind: int) -> list[Any]:
        num_items = self._count("Q", MAX_ITEMS - self._num_items, "items of its lists")
        self._num_items += num_items
        if kind == STRING:
            self._check_left(8 * num_items)
            return [self._text() for _ in range(num_items)]
        if kind not in SCALARS:
            raise self._damaged(f"a list in its metadata has items of type {kind}, which cannot be read")
        width = struct.calcsize("<" + SCALARS[kind])
        return list(struct.unpack(f"<{num_items}{SCALARS[kind]}", self._bytes(width * num_items)))

    def _text(self) -> str:
        return self._bytes(self._count("Q", MAX_TEXT, "bytes of a text")).decode()

    def _count(self, code: str, limit: int, what: str) -> int:
        count = self._number(code)
        if count > limit:
            raise self._damaged(f"it gives {count} as the number of {what}; at most {limit} can be read")
        return count

    def _number(self, code: str) -> Any:
        return struct.unpack("<" + code, self._bytes(struct.calcsize("<" + code)))[0]

    def _bytes(self, size: int) -> bytes:
        self._check_left(size)
        self._position += size
        return self._data[self._position - size : self._position]

    def _check_left(self, size: int) -> None:
        if size > len(self._data) - self._position:
            raise self._damaged(f"it ends after {len(self._data)} bytes, in the middle of its head; fetch it again")

    def _damaged(self, what: str) -> ModelError:
        return ModelError(f"{self.path.name} is damaged: {what}.")


def _plain_type(kind: GGMLQuantizationType) -> type:
    plain = {GGMLQuantizationType.F32: np.float32, GGMLQuantizationType.F16: np.float16}
    return plain.get(kind, np.uint8)


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return "it is empty"
