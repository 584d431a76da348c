"""How the columns of a table become bytes, and how they come back.

Columns follow each other, table by table in the order of the part's list. A column of n 32-bit values is four planes of
n bytes: all lowest bytes, then all second ones, then the third, then the highest. An "f8" table is one column of
num_rows * num_columns numbers in row order, in eight planes. With x the stored and v the true value (sums wrap around):

    p    v = x
    d    v = x + v of the row before, 0 before the first; in "f8" the same on the 64-bit patterns
    kN   v = x + v of the last row of this part with the same value in column N, 0 if there is none
    hN   v = that of the last row of this part with the same value in column N (-1 if none) where x = 0, else x - 2
    tN   v = column N of the last row of `tables` in this part whose event is not above that of this row (-1 if none)
         where x = 0, else x - 2; N = 1 is the sequence, N = 3 the block that the row is about: the one it names, or,
         where it names none (-1), the one that its slot named before
    taken, walk, owner   tables.block, blocks.key, blocks.owner: see `predict.Memory`, which runs on through all parts

Within a table decode p, d, t, walk and owner from left to right, then k and h, then taken. The table `tables` travels
as event, sequence, index, block; its slots are numbered by first appearance of (sequence, index) in the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.trace.check import TraceFileError, show
from engine.trace.chunk import Chunk
from engine.trace.predict import NO_ROWS, Memory
from engine.trace.track import DECISION_COLUMNS, HAPPENING_COLUMNS, SPECS, STEP_COLUMNS

CODES: dict[str, tuple[str, ...]] = {
    "tables": ("d", "p", "k1", "taken"),
    "blocks": ("d", "walk", "p", "p", "owner", "p", "p"),
    "strips": ("d", "p", "k1", "k1", "p", "p"),
    "requests": ("d", "p", "p", "p", "p"),
    "sequences": ("d", "p", "p", "p", "k1", "k1", "p"),
    "happenings": ("d", "p", "h3", "t1", "t3", "p", "p"),
    "decisions": ("d", "p", "p", "d", "p", "p", "p", "p"),
    "steps": ("d", "d", "d", "d", "p", "p", "p", "p", "p", "p"),
    "times": ("d",),
    "nodes": ("d", "p", "k1", "k1", "k1", "k1", "d"),
    "tokens": ("d", "d"),
}
"""The codes that this version writes, chosen by measuring long runs. A reader takes any p, d, k, h and t."""

NUM_COLUMNS = {name: 2 + len(spec.columns) for name, spec in SPECS.items()} | {
    "tables": 4,
    "happenings": len(HAPPENING_COLUMNS),
    "decisions": len(DECISION_COLUMNS),
    "steps": len(STEP_COLUMNS),
    "times": 2,
    "tokens": 2,
}
_MEMORY_CODES = {("tables", 3): "taken", ("blocks", 1): "walk", ("blocks", 4): "owner"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it lies in a part; `data` are the planes of all its columns."""

    name: str
    num_rows: int
    num_columns: int
    dtype: str
    codes: Sequence[str]
    data: bytes | memoryview

    def column(self, number: int) -> np.ndarray:
        """Stored values of a column: int32 [num_rows]."""
        size = 4 * self.num_rows
        return _unplane(self.data[number * size : (number + 1) * size], 4).view("<i4").reshape(-1).astype(np.int32)


def check_table(entry: Any, data: memoryview) -> Table:
    """The table that an entry of "tables" describes, lying at the head of `data`."""
    if not isinstance(entry, list) or len(entry) != 5 or not isinstance(entry[0], str):
        raise TraceFileError(f"Table entry {show(entry)} is not name, rows, columns, dtype and codes.")
    name, num_rows, num_columns, dtype, codes = entry
    counts_fit = all(isinstance(n, int) and not isinstance(n, bool) for n in (num_rows, num_columns))
    if not counts_fit or num_rows < 0 or num_columns < 1 or dtype not in ("i4", "f8"):
        raise TraceFileError(f"Table {show(name)} has rows, columns or a dtype that cannot be: {show(entry[1:4])}.")
    size = num_rows * num_columns * int(dtype[1])
    if size > len(data):
        raise TraceFileError(f"Table {show(name)} needs {show(size)} bytes, but {len(data)} are left in its part.")
    known = NUM_COLUMNS.get(name)
    if known is not None:
        num_codes = 1 if name == "times" else known
        if num_columns != known or (dtype == "f8") != (name == "times") or not isinstance(codes, list):
            raise TraceFileError(f"Table {show(name)} has {num_columns} columns of {dtype}; {known} are expected.")
        if len(codes) != num_codes or not all(_is_code(name, i, code) for i, code in enumerate(codes)):
            raise TraceFileError(f"Table {show(name)} has column codes that are not known: {show(codes)}.")
    return Table(name, num_rows, num_columns, dtype, codes if isinstance(codes, list) else [], data[:size])


def _is_code(name: str, column: int, code: Any) -> bool:
    own = _MEMORY_CODES.get((name, column))
    if own is not None and (code == own or name == "tables"):
        return bool(code == own)
    if code in ("p", "d"):
        return True
    if not isinstance(code, str) or column == 0:
        return False
    if code in ("t1", "t3"):
        return name != "tables"
    return code in ("k1", "k2", "k3", "h1", "h2", "h3") and int(code[1]) < NUM_COLUMNS[name] and int(code[1]) != column


def write_tables(chunk: Chunk, memory: Memory) -> list[Table]:
    """The tables of a chunk that have rows. Raises ValueError where slots are not numbered by first appearance."""
    tables, coder = [], _Coder(memory, encoding=True)
    for name, codes in CODES.items():
        rows = chunk.rows.get(name) if name in SPECS else getattr(chunk, name)
        if rows is None or not len(rows):
            continue
        if name == "times":
            tables.append(Table(name, len(rows), 2, "f8", codes, planes(deltas(_bits(rows)))))
            continue
        columns = list(np.ascontiguousarray(rows.T))
        if name == "tables":
            pairs = np.array([*memory.keys, *chunk.keys[name].tolist()], np.int32)[rows[:, 1]]
            columns[1:2] = [pairs[:, 0], pairs[:, 1]]
        stored = coder.translate(columns, codes)
        if name == "tables" and not np.array_equal(coder.slots, rows[:, 1]):
            raise ValueError("The slots of table 'tables' are not numbered in order of first appearance.")
        tables.append(Table(name, len(rows), len(stored), "i4", codes, b"".join(map(planes, stored))))
    return tables


def read_tables(tables: dict[str, Table], memory: Memory) -> Chunk:
    """A chunk with the rows of these tables; unknown tables are ignored. Raises TraceFileError."""
    chunk, coder, num_keys = Chunk(), _Coder(memory, encoding=False), len(memory.keys)
    for name in CODES:
        if name not in tables:
            continue
        table = tables[name]
        if name == "times":
            bits = np.frombuffer(_unplane(table.data, 8), "<i8")
            bits = _sums(bits) if table.codes[0] == "d" else bits
            chunk.times = bits.astype(np.int64).view(np.float64).reshape(-1, 2)
            continue
        try:
            columns = coder.translate([table.column(i) for i in range(table.num_columns)], table.codes)
        except OverflowError:
            raise TraceFileError(f"Table {name!r} has a value that does not fit into 32 bits.") from None
        if name == "tables":
            columns[1:3] = [coder.slots]
            chunk.keys[name] = np.array(memory.keys[num_keys:], np.int32).reshape(-1, 2)
        if name in SPECS:
            chunk.rows[name] = np.stack(columns, axis=1)
        else:
            setattr(chunk, name, np.stack(columns, axis=1))
    return chunk


class _Coder:
    """Translates the tables of one part, to codes or back; `slots` are those of its `tables` rows."""

    def __init__(self, memory: Memory, encoding: bool) -> None:
        self.slots = NO_ROWS
        self._memory, self._encoding = memory, encoding
        memory.open_part(NO_ROWS, NO_ROWS)

    def translate(self, columns: list[np.ndarray], codes: Sequence[str]) -> list[np.ndarray]:
        true, out = list(columns), list(columns)
        for i in sorted(range(len(codes)), key=lambda i: _rank(codes[i])):
            if codes[i] == "taken":
                self._memory.open_part(true[0], true[1])
                self.slots = self._memory.slots_of(true[2])
            out[i] = self._column(codes[i], columns[i], true)
            if not self._encoding:
                true[i] = out[i]
        return out

    def _column(self, code: str, column: np.ndarray, true: list[np.ndarray]) -> np.ndarray:
        encoding, memory = self._encoding, self._memory
        if code == "d":
            return deltas(column) if encoding else _sums(column)
        if code[0] == "k":
            return _by_key(column, true[int(code[1])], encoding)
        if code[0] == "h":
            return _held_by_key(column, true[int(code[1])], encoding)
        if code in ("t1", "t3"):
            return hits(column, memory.sequence_at(true[0]) if code == "t1" else memory.block_at(true[0]), encoding)
        if code == "taken":
            return memory.table_blocks(self.slots, column, encoding)
        if code == "walk":
            return memory.block_keys(true[0], column, encoding)
        if code == "owner":
            return memory.block_owners(true[0], true[1], column, encoding)
        return column


def _rank(code: str) -> int:
    return 2 if code == "taken" else int(code[0] in "kh")


def _by_key(column: np.ndarray, key: np.ndarray, encoding: bool) -> np.ndarray:
    """Differences to the last row with the same key, or the sums of such differences."""
    order = np.argsort(key, kind="stable")
    grouped = column[order]
    is_first = np.concatenate((np.ones(1, bool), key[order][1:] != key[order][:-1]))[: len(column)]
    if encoding:
        result = np.where(is_first, grouped, deltas(grouped))
    else:
        total = _sums(grouped)
        before = np.concatenate((np.zeros(1, np.int32), total))[:-1]
        result = total - before[is_first][np.cumsum(is_first) - 1]
    out = np.empty_like(column)
    out[order] = result
    return out


def _held_by_key(column: np.ndarray, key: np.ndarray, encoding: bool) -> np.ndarray:
    """0 where the last row with the same key has the same value, else the value + 2; and back."""
    order = np.argsort(key, kind="stable")
    is_first = np.concatenate((np.ones(1, bool), key[order][1:] != key[order][:-1]))[: len(column)]
    grouped = column[order]
    if encoding:
        result = hits(grouped, np.where(is_first, -1, np.concatenate((grouped[:1], grouped[:-1]))), encoding)
    else:
        is_set = (grouped != 0) | is_first
        value = np.where(grouped == 0, np.int32(-1), grouped - 2)
        result = value[np.maximum.accumulate(np.where(is_set, np.arange(len(column)), 0))]
    out = np.empty_like(column)
    out[order] = result
    return out


def hits(column: np.ndarray, guess: np.ndarray, encoding: bool) -> np.ndarray:
    """0 where a value is as guessed, else the value + 2; and back."""
    if encoding:
        return np.where(column == guess, 0, column + 2).astype(np.int32)
    return np.where(column == 0, guess, column - 2).astype(np.int32)


def deltas(column: np.ndarray) -> np.ndarray:
    """Differences to the value before, 0 before the first."""
    return np.diff(column, prepend=column.dtype.type(0))


def _sums(column: np.ndarray) -> np.ndarray:
    return np.cumsum(column, dtype=column.dtype)


def _bits(times: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(times, np.float64).reshape(-1).view(np.int64)


def planes(column: np.ndarray) -> bytes:
    """All lowest bytes, then all second ones, and so on."""
    width = column.dtype.itemsize
    little = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(-1, width).T.tobytes()


def _unplane(data: bytes | memoryview, width: int) -> np.ndarray:
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(width, -1).T)
