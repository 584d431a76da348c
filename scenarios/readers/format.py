"""What every trace format says about itself, and the row that it makes of a line.

A format is data (name, columns or keys, clock) and one method, `parse`; one object serves one file, so that a format
with sessions may hold rounds back until `finish`. `CsvFormat` gets the fields of its columns, `JsonFormat` an object.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from engine.request import Prompt


@dataclass(slots=True)
class Row:
    """One request of a file before it has a place in the run.

    `prompt` is a length where no more is known. `time` is in the ticks of the format. `rounds` are later requests of the
    same conversation: each comes `delay` seconds after the one before it has ended, and has no `time`.
    """

    line: int
    request_id: str
    prompt: Prompt | int
    output_len: int
    time: int | Decimal = 0
    delay: float = 0.0
    rounds: Sequence["Row"] = ()
    after: "Row | None" = None
    measured: dict[str, float] | None = None

    @property
    def num_pieces(self) -> int:
        """Runs and token ids that the prompt keeps in memory."""
        if isinstance(self.prompt, int):
            return 0
        return len(self.prompt.runs) + len(self.prompt.token_ids or ())


class Format:
    """One published format. `ticks` is the number of clock units in a second."""

    name: ClassVar[str]
    ticks: ClassVar[int] = 1
    block_size: ClassVar[int | None] = None
    has_arrivals: ClassVar[bool] = True

    def finish(self) -> Iterable[Row]:
        """Rows that could not be told before the end of the file; `parse` returned None for them."""
        return ()

    def notes(self) -> list[str]:
        """Sentences about the file that concern no single row."""
        return []


class CsvFormat(Format):
    """A table with a header line. `columns` have to be there, `optional` ones may be; the rest is ignored and named."""

    columns: ClassVar[tuple[str, ...]]
    optional: ClassVar[tuple[str, ...]] = ()

    def parse(self, values: Sequence[str], line: int, index: int) -> Row | None:
        """The row number `index` (from 0) from its fields in the order of `columns` and `optional` ("" where absent)."""
        raise NotImplementedError


class JsonFormat(Format):
    """JSON lines. `keys` are those that the format reads; the rest is ignored and named."""

    keys: ClassVar[frozenset[str]]

    @classmethod
    def recognises(cls, record: Mapping[str, Any]) -> bool:
        """Whether an object looks like a row of this format, even one with a field missing."""
        raise NotImplementedError

    def parse(self, record: Mapping[str, Any], line: int, index: int) -> Row | None:
        """The row number `index` (from 0) from its object."""
        raise NotImplementedError


def id_or(value: Any, default: str) -> str:
    """An id of a file as plain text; `default` where it is absent, empty or no plain value."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return default
    if isinstance(value, int) and abs(value) >= 10**30:
        return default
    return str(value) or default
