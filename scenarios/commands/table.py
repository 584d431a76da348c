"""Text tables and numbers for a terminal."""

from collections.abc import Iterable, Sequence

from scenarios.terminal import printable


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int | None = None) -> str:
    """Aligned columns; those from `numbers_from` on are set flush right."""
    lines = [list(heads), *([printable(text) for text in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    right = len(heads) if numbers_from is None else numbers_from

    def cell(text: str, column: int) -> str:
        return text.rjust(widths[column]) if column >= right else text.ljust(widths[column])

    return "\n".join("  ".join(cell(text, i) for i, text in enumerate(line)).rstrip() for line in lines)


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
