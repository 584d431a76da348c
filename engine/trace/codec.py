"""The one container for saved runs and for the wire to the browser. Little endian throughout.

    file    = "KVSCOPE1" part*
    part    = u32 raw_len, u32 zlib_len, zlib_len bytes of zlib data that inflate to raw_len bytes
    raw     = u32 json_len, json_len bytes of UTF-8 JSON (an object), then the columns of its "tables", nothing else
    tables  = [[name, num_rows, num_columns, "i4" | "f8", [code of column 0, code of column 1, ...]], ...]

Parts by their "part": first `header` (the header of the trace), any number of `chunk` ({"num_events", "requests":
{field: [value, ...]}}), last `end` ({"num_events", "run_id"}). Other parts, tables and JSON keys (`sentences`,
"player") are for other readers. A table without rows may be left out. How columns lie in a table: see `columns`.
"""

import json
import math
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from engine.trace.check import (
    MAX_INT,
    OPTIONAL_FIELDS,
    REQUEST_FIELDS,
    TraceFileError,
    check_answers,
    check_words,
    show,
)
from engine.trace.chunk import Chunk
from engine.trace.columns import Table, check_table, read_tables, write_tables
from engine.trace.predict import Memory

__all__ = ["MAGIC", "TraceFileError", "chunk_fields", "decode", "encode", "pack", "unpack"]

MAGIC = b"KVSCOPE1"
MAX_PART = 512 << 20
MAX_JSON = 32 << 20
MAX_CONTAINERS = 2_000_000
MAX_INFLATION = 250
FREE_INFLATION = 64 << 20
"""A file may inflate to MAX_INFLATION times its size and FREE_INFLATION bytes more; JSON may hold MAX_CONTAINERS
lists and objects, which take far more memory than their text."""


def encode(header: dict[str, Any], chunks: Iterable[Chunk], run_id: str) -> Iterator[bytes]:
    """The bytes of a file, magic first, then part by part."""
    yield MAGIC
    yield pack({**header, "part": "header"})
    memory, num_events = Memory(), 0
    for chunk in chunks:
        num_events = chunk.num_events
        yield pack(chunk_fields(chunk), write_tables(chunk, memory))
    yield pack({"part": "end", "num_events": num_events, "run_id": run_id})


def decode(data: bytes) -> tuple[dict[str, Any], list[Chunk], str]:
    """Header, chunks and run id of a file. Raises TraceFileError; what the values mean is checked by `Trace.of`."""
    header: dict[str, Any] | None = None
    chunks: list[Chunk] = []
    memory, run_id = Memory(), None
    for fields, tables in unpack(data):
        kind = fields.get("part")
        if run_id is not None:
            raise TraceFileError("The trace goes on after its end part.")
        if header is None:
            if kind != "header":
                raise TraceFileError(f"The first part of the trace is {show(kind)}; it has to be the header.")
            header = {name: value for name, value in fields.items() if name not in ("part", "player", "tables")}
        elif kind == "chunk":
            chunks.append(_chunk(fields, tables, memory))
        elif kind == "end":
            run_id, num_events = fields.get("run_id"), fields.get("num_events")
            if not isinstance(run_id, str) or num_events != (chunks[-1].num_events if chunks else 0):
                raise TraceFileError("The end of the trace does not fit the chunks before it.")
    if header is None or run_id is None:
        raise TraceFileError("The trace is cut short: its end part is missing.")
    return header, chunks, run_id


def pack(fields: dict[str, Any], tables: Iterable[Table] = ()) -> bytes:
    """One part: a JSON object and tables whose columns are bytes already."""
    tables = list(tables)
    if tables:
        fields = {**fields, "tables": [[t.name, t.num_rows, t.num_columns, t.dtype, list(t.codes)] for t in tables]}
    text = json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
    raw = b"".join((struct.pack("<I", len(text)), text, *(table.data for table in tables)))
    packed = zlib.compress(raw, 6)
    return struct.pack("<II", len(raw), len(packed)) + packed


def chunk_fields(chunk: Chunk) -> dict[str, Any]:
    """The JSON object of a chunk part; its requests go field by field, which packs better."""
    optional = (name for name in OPTIONAL_FIELDS if any(name in request for request in chunk.requests))
    names = [*REQUEST_FIELDS, *optional]
    requests = {name: [request.get(name) for request in chunk.requests] for name in names} if chunk.requests else {}
    fields = {"part": "chunk", "num_events": chunk.num_events, "requests": requests}
    lists: dict[str, list[Any]] = {"answers": chunk.answers, "words": chunk.words}
    return fields | {name: [list(column) for column in zip(*rows, strict=True)] for name, rows in lists.items() if rows}


def _chunk(fields: dict[str, Any], tables: dict[str, Table], memory: Memory) -> Chunk:
    num_events, columns = fields.get("num_events"), fields.get("requests", {})
    if not isinstance(num_events, int) or isinstance(num_events, bool) or not 0 <= num_events < MAX_INT:
        raise TraceFileError(f"A chunk says num_events {show(num_events)}; it has to be from 0 to {MAX_INT - 1}.")
    if not isinstance(columns, dict) or not all(isinstance(column, list) for column in columns.values()):
        raise TraceFileError("The requests of a chunk are not an object of lists.")
    if len({len(column) for column in columns.values()}) > 1:
        raise TraceFileError("The requests of a chunk have fields of different lengths.")
    chunk = read_tables(tables, memory)
    chunk.num_events = num_events
    chunk.answers = check_answers(fields.get("answers", []))
    chunk.words = check_words(fields.get("words", []))
    chunk.requests = [
        {
            name: value
            for name, value in zip(columns, values, strict=True)
            if name not in OPTIONAL_FIELDS or value is not None
        }
        for values in zip(*columns.values(), strict=True)
    ]
    return chunk


def unpack(data: bytes) -> Iterator[tuple[dict[str, Any], dict[str, Table]]]:
    """JSON object and tables (still in their codes) of every part. Raises TraceFileError for bytes that are not parts."""
    if data[: len(MAGIC)] != MAGIC:
        raise TraceFileError(f"This is not a saved run: it does not begin with {MAGIC.decode()}.")
    offset, budget = len(MAGIC), FREE_INFLATION + MAX_INFLATION * len(data)
    while offset < len(data):
        if len(data) - offset < 8:
            raise TraceFileError(f"The trace is cut short at byte {len(data)}, inside the lengths of a part.")
        raw_len, zlib_len = struct.unpack_from("<II", data, offset)
        offset += 8
        budget -= raw_len
        if zlib_len > len(data) - offset:
            raise TraceFileError(
                f"The trace is cut short: a part needs {zlib_len} bytes, {len(data) - offset} are left."
            )
        if raw_len > MAX_PART or budget < 0:
            raise TraceFileError(f"A part of the trace says that it inflates to {raw_len} bytes, which is too much.")
        yield _part(_inflate(data[offset : offset + zlib_len], raw_len))
        offset += zlib_len


def _inflate(packed: bytes, raw_len: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(packed, raw_len + 1)
    except zlib.error:
        raise TraceFileError("A part of the trace is damaged: it does not inflate.") from None
    if len(raw) != raw_len or not inflater.eof or inflater.unused_data:
        raise TraceFileError(
            f"A part of the trace is damaged: it does not inflate to the {raw_len} bytes that it says."
        )
    return raw


def _part(raw: bytes) -> tuple[dict[str, Any], dict[str, Table]]:
    json_len = struct.unpack_from("<I", raw)[0] if len(raw) >= 4 else MAX_JSON
    if json_len > min(len(raw) - 4, MAX_JSON):
        raise TraceFileError(f"A part of the trace says that its JSON has {json_len} bytes, which is too much.")
    fields = _json(raw[4 : 4 + json_len])
    listed, offset = fields.get("tables", []), 4 + json_len
    if not isinstance(listed, list):
        raise TraceFileError("Field 'tables' of a part is not a list.")
    tables: dict[str, Table] = {}
    for entry in listed:
        table = check_table(entry, memoryview(raw)[offset:])
        if table.name in tables:
            raise TraceFileError(f"Table {show(table.name)} is there twice in one part.")
        tables[table.name] = table
        offset += len(table.data)
    if offset != len(raw):
        raise TraceFileError(f"A part of the trace has {len(raw) - offset} bytes more than its tables need.")
    return fields, tables


def _json(text: bytes) -> dict[str, Any]:
    if text.count(b"[") + text.count(b"{") > MAX_CONTAINERS:
        raise TraceFileError(f"A part of the trace has more than {MAX_CONTAINERS} lists in its JSON.")
    try:
        fields = json.loads(text.decode(), parse_constant=_refuse, parse_float=_finite)
        if b"\\u" in text:
            json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise TraceFileError("A part of the trace has JSON that cannot be read.") from None
    if not isinstance(fields, dict):
        raise TraceFileError("The JSON of a part is not an object.")
    return fields


def _refuse(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
