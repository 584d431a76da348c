"""All formats, and how a file is recognised: by its header line or by the keys of its first objects, never by its name.

A JSON file shows itself by its first character. A format is chosen when its columns (or most of its keys) are there; a
CSV header that fits several goes to the one with the most columns. A user may also name the format.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.readers.azure import Azure
from scenarios.readers.block_ids import Bailian, Mooncake
from scenarios.readers.errors import ReadError, RowError, quoted
from scenarios.readers.format import CsvFormat, JsonFormat
from scenarios.readers.lengths import Lengths
from scenarios.readers.llmservingsim import LLMServingSim
from scenarios.readers.records import BlankLines, CsvTable, JsonTable, Line, csv_records, json_records
from scenarios.readers.seconds_table import BurstGPT, Generic, Splitwise, Vidur
from scenarios.readers.source import Lines
from scenarios.readers.tracelab import TraceLab
from scenarios.readers.vllm_bench import VllmBench

CSV_FORMATS: tuple[type[CsvFormat], ...] = (Azure, BurstGPT, Vidur, TraceLab, Splitwise, Lengths, Generic)
JSON_FORMATS: tuple[type[JsonFormat], ...] = (Bailian, Mooncake, VllmBench, LLMServingSim)
FORMATS = tuple(kind.name for kind in (*CSV_FORMATS, *JSON_FORMATS))
NUM_SAMPLES = 20

Records = Iterator[tuple[int, Any]]
Recognised = tuple[CsvFormat, CsvTable, Records] | tuple[JsonFormat, JsonTable, Records]


def recognise(lines: Lines, wanted: str, filter: Mapping[str, str], blank: BlankLines) -> Recognised:
    """The format of a file, the table that picks its fields, and its records. Raises ReadError if there is none."""
    if wanted != "auto" and wanted not in FORMATS:
        raise ReadError(f"{quoted(wanted)} is no format; there are {', '.join(FORMATS)} and auto.")
    source = iter(lines)
    head = _head(source)
    first = next((line for _, line in head if line is None or line.strip()), "")
    if first is None:
        raise ReadError(f"{lines.name} begins with a line of more than a million characters; {_formats()}")
    if not first.strip():
        raise ReadError(f"{lines.name} holds blank lines only.")
    rest = itertools.chain(head, source)
    if wanted == "auto" and first.lstrip().startswith(("{", "[")):
        return _recognise_json(lines.name, head, rest, filter, blank)
    for kind in JSON_FORMATS:
        if kind.name == wanted:
            layout = kind()
            return layout, JsonTable(layout, filter), json_records(rest, blank)
    return _recognise_csv(lines.name, first, rest, wanted, filter, blank)


def _head(source: Iterator[Line]) -> list[Line]:
    """The first lines, up to NUM_SAMPLES that are not blank."""
    head: list[Line] = []
    num_filled = 0
    for number, line in source:
        head.append((number, line))
        num_filled += line is None or bool(line.strip())
        if num_filled == NUM_SAMPLES or len(head) == 1000:
            break
    return head


def _recognise_json(
    name: str, head: list[Line], rest: Iterator[Line], filter: Mapping[str, str], blank: BlankLines
) -> Recognised:
    samples = [record for _, record in json_records(head, BlankLines()) if not isinstance(record, RowError)]
    for record in samples:
        for kind in JSON_FORMATS:
            if kind.recognises(record):
                layout = kind()
                return layout, JsonTable(layout, filter), json_records(rest, blank)
    if not samples:
        raise ReadError(f"{name} looks like JSON, but none of its first lines is an object by itself; {_formats()}")
    raise ReadError(f"{name} has JSON lines with the keys {_listed(list(samples[0]))}; {_formats()}")


def _recognise_csv(
    name: str, first: str, rest: Iterator[Line], wanted: str, filter: Mapping[str, str], blank: BlankLines
) -> Recognised:
    delimiter = next((sign for sign in ",;\t" if sign in first), ",")
    records = csv_records(rest, delimiter, blank)
    _, header = next(records)
    if isinstance(header, RowError):
        raise ReadError(f"the first line of {name} is no header: {header}")
    header = [column.strip() for column in header]
    fitting = [kind for kind in CSV_FORMATS if set(kind.columns) <= set(header) and wanted in (kind.name, "auto")]
    if not fitting:
        if wanted != "auto":
            columns = next(kind.columns for kind in CSV_FORMATS if kind.name == wanted)
            raise ReadError(f"{wanted} needs the columns {', '.join(columns)}; {name} begins with {_listed(header)}.")
        raise ReadError(f"{name} begins with {_listed(header)}, the header of no known format; {_formats()}")
    for column in filter:
        if column not in header:
            raise ReadError(f"{name} has no column {quoted(column)} to filter by; it has {_listed(header)}.")
    layout = max(fitting, key=lambda kind: len(kind.columns))()
    return layout, CsvTable(header, layout, filter), records


def _formats() -> str:
    return f"known formats are {', '.join(FORMATS)}."


def _listed(names: list[str]) -> str:
    shown = ", ".join(quoted(column) for column in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
