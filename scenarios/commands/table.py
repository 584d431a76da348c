"""Text tables and numbers for a terminal."""

import shutil
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from textwrap import wrap

from scenarios.terminal import printable

NO_TERMINAL = (100, 24)
"""Columns and lines where the output goes to a file or a pipe."""
LEAST = 12
"""Columns of a terminal below which no column of a table is made narrower."""
GAP = "  "


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int | None = None, width: int | None = None
) -> str:
    """Aligned columns; those from `numbers_from` on are set flush right. In a table of a `width` the widest columns give
    way: their texts go on in the lines below."""
    lines = [list(heads), *([printable(text) for text in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    while width is not None and sum(widths) + len(GAP) * (len(widths) - 1) > width and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    right = len(heads) if numbers_from is None else numbers_from

    def cell(text: str, column: int) -> str:
        return text.rjust(widths[column]) if column >= right else text.ljust(widths[column])

    parts = (zip_longest(*map(wrapped, line, widths), fillvalue="") for line in lines)
    return "\n".join(GAP.join(cell(text, i) for i, text in enumerate(part)).rstrip() for line in parts for part in line)


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of that width at most, one line at least; as it is where it fits."""
    return [text] if len(text) <= width else wrap(text, width)


def terminal_width() -> int:
    return shutil.get_terminal_size(NO_TERMINAL).columns


def text_of(lines: Iterable[str]) -> str:
    """Lines for a terminal; a line break that came out of a file is shown and breaks nothing."""
    return "\n".join(map(printable, lines))


def seconds(value: float | None) -> str:
    """A time in the unit that suits it; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:,.2f} s"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
