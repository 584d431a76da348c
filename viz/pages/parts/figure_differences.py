"""The figures of compared runs: the same rows for each run, and beside every other run how far it is from the first.

How a figure is written is decided by `figures`; here a difference gets its sign and, where it makes sense, a ratio.
"""

from collections.abc import Callable, Mapping
from typing import Any

from viz.pages.parts import figures

SAME = "same"


def table(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Columns for a data frame: the figures of every run, after each but the first its difference to the first."""
    values = figures.table(runs)
    names = list(runs)
    columns = {"Figure": values["Figure"]}
    for name in names:
        columns[name] = values[name]
        if name != names[0]:
            columns[f"{name}, against {names[0]}"] = [
                difference(value(runs[names[0]]), value(runs[name]), form) for _, value, form in figures.ROWS
            ]
    return columns


def difference(first: float | None, other: float | None, form: Callable[[float], str]) -> str:
    """ "+12 (1.50 x)", "-3.1 points" for shares, "same", or a dash where one of the two has no value."""
    if first is None or other is None:
        return figures.NOTHING
    if form(first) == form(other):
        return SAME
    sign = "+" if other > first else "−"
    if form is figures.share:
        return f"{sign}{100 * abs(other - first):.1f} points"
    ratio = f" ({other / first:.2f} x)" if first > 0 and other > 0 else ""
    return f"{sign}{form(abs(other - first))}{ratio}"
