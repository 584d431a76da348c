"""Lines made into records: the fields of a CSV row, or the object of a JSON line; what is neither becomes a `RowError`.

Quoted CSV fields may hold line breaks; a quote that stays open for more than 100 lines costs its own line only. JSON
numbers with a fraction become Decimal. Blank lines are counted and are no records.
"""

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from operator import itemgetter
from typing import Any

from scenarios.readers.errors import RowError, quoted
from scenarios.readers.format import CsvFormat, JsonFormat
from scenarios.readers.source import MAX_LINE

MAX_QUOTED_LINES = 100
MAX_NAMES = 100
MAX_BLANK_LINES = 1000

Line = tuple[int, str | None]


class BlankLines:
    """Numbers of the first blank lines, and how many there are in all."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.count = 0

    def add(self, number: int) -> None:
        self.count += 1
        if self.count <= MAX_BLANK_LINES:
            self.numbers.append(number)


def csv_records(lines: Iterable[Line], delimiter: str, blank: BlankLines) -> Iterator[tuple[int, list[str] | RowError]]:
    """(line of its beginning, fields) of every row that is not blank."""
    source = iter(lines)
    waiting: deque[Line] = deque()
    while True:
        number, line = waiting.popleft() if waiting else next(source, (0, ""))
        if number == 0:
            return
        if line is None:
            yield number, _too_long()
        elif not line.strip():
            blank.add(number)
        elif '"' not in line:
            yield number, line.rstrip("\r\n").split(delimiter)
        else:
            yield number, _quoted_fields(number, line, source, waiting, delimiter)


def _quoted_fields(
    number: int, line: str, source: Iterator[Line], waiting: deque[Line], delimiter: str
) -> list[str] | RowError:
    """The fields of a row with quotes, with as many of the next lines as they need; the others stay `waiting`."""
    taken: list[Line] = []

    def parts() -> Iterator[str]:
        yield line
        while len(taken) < MAX_QUOTED_LINES:
            following = waiting.popleft() if waiting else next(source, (0, ""))
            if following[0] == 0:
                return
            taken.append(following)
            if following[1] is None:
                return
            yield following[1]

    try:
        fields = next(csv.reader(parts(), delimiter=delimiter, strict=True))
    except csv.Error as error:
        waiting.extendleft(reversed(taken))
        return RowError("text", f"a quoted field that begins on line {number} does not end properly ({error}).")
    except StopIteration:
        return RowError("text", f"line {number} holds no row.")
    return fields


class CsvTable:
    """The fields of one format in a table with a header; `filter` keeps rows whose columns have these values."""

    def __init__(self, header: list[str], layout: CsvFormat, filter: Mapping[str, str]) -> None:
        self.width = len(header)
        self.columns = layout.columns + layout.optional
        places = [header.index(name) if name in header else self.width for name in self.columns]
        self.values = itemgetter(*places)
        self.filter = [(header.index(name), value) for name, value in filter.items()]
        self.ignored = [name for name in dict.fromkeys(header) if name and name not in (*self.columns, *filter)][
            :MAX_NAMES
        ]
        self.last_needed = max(place for place in places if place < self.width)

    def pick(self, fields: list[str]) -> tuple[str, ...] | None:
        """The fields in the order of the format, None for a row that the filter leaves out."""
        width = len(fields)
        if width > self.width and any(fields[self.width :]):
            raise RowError(
                "text", f"the row has {width} fields, the header {self.width}; put text with commas in quotes."
            )
        if width < self.width:
            fields = fields + [""] * (self.width - width)
        if any(fields[place].strip() != value for place, value in self.filter):
            return None
        if width <= self.width:
            fields.append("")
        else:
            fields[self.width] = ""
        return self.values(fields)


class JsonTable:
    """The objects of one format; collects the keys that nobody reads."""

    def __init__(self, layout: JsonFormat, filter: Mapping[str, str]) -> None:
        self.filter = filter
        self._known = layout.keys | filter.keys()
        self._ignored: dict[str, None] = {}

    @property
    def ignored(self) -> list[str]:
        return list(self._ignored)

    def pick(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """The object itself, None for one that the filter leaves out."""
        if len(self._ignored) < MAX_NAMES:
            for key in record:
                if key not in self._known and key not in self._ignored and len(self._ignored) < MAX_NAMES:
                    self._ignored[key] = None
        if any(str(record.get(key)) != value for key, value in self.filter.items()):
            return None
        return record


def json_records(lines: Iterable[Line], blank: BlankLines) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """(line, object) of every line that is not blank."""
    for number, line in lines:
        if line is None:
            yield number, _too_long()
        elif not line.strip():
            blank.add(number)
        else:
            yield number, _object(line)


def _object(line: str) -> dict[str, Any] | RowError:
    try:
        record = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        return RowError("not_json", f"the line is not JSON: {error.msg} at character {error.pos + 1}.")
    except (ValueError, ArithmeticError):
        return RowError("not_json", "the line holds a number with too many digits.")
    except RecursionError:
        return RowError("not_json", "the line is nested too deeply.")
    if not isinstance(record, dict):
        return RowError("not_json", f"the line is {quoted(record)}, not a JSON object.")
    return record


def _too_long() -> RowError:
    return RowError("text", f"the line is longer than {MAX_LINE:,} characters.")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=float)
