"""What a chart gives to a page: the chart itself, words for whoever does not see it, and its numbers as a table.

Every chart is a pure function of runs or of a workload and a palette. Its data are plain records with stated types: names
made by users are values of a column, never names of one. A missing number is None and drawn as missing; an axis spans
finite numbers only; without any, there is no chart but a sentence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol

import altair as alt
import numpy as np

from engine.trace.metrics import Metrics, measure
from engine.trace.trace import Trace
from viz.charts.theme import Chart

MAX_ROWS = 2_000
"""Records that one chart holds at most; whatever has more is binned, and the caption says how."""

Row = Mapping[str, Any]


class MeasuredRun(Protocol):
    """A finished run and its figures."""

    @property
    def trace(self) -> Trace: ...

    @property
    def metrics(self) -> Metrics: ...


@dataclass(frozen=True, slots=True)
class Measured:
    """A trace with the figures that `measure` reads from it."""

    trace: Trace
    metrics: Metrics

    @classmethod
    def of(cls, trace: Trace) -> "Measured":
        return cls(trace, measure(trace))


@dataclass(frozen=True, slots=True)
class Drawing:
    """One chart. `chart` is None where there is nothing to show; the caption then says why.

    name      stable, of letters, digits and underscores
    caption   what to look at, how rows were binned, what is missing
    alt       the chart in words, with its main numbers
    table     column title -> values, all of one length
    """

    name: str
    title: str
    caption: str
    chart: Chart | None
    alt: str
    table: Mapping[str, Sequence[Any]]


def nothing(name: str, title: str, why: str) -> Drawing:
    """The drawing of a chart without data."""
    return Drawing(name, title, why, None, f"{title}: {why}", {})


def number(value: float | None) -> float | None:
    """A value as a chart may hold it: finite, of seven digits, or None."""
    if value is None or not isfinite(value):
        return None
    return float(f"{float(value):.7g}")


def numbers(values: Iterable[float | None]) -> list[float | None]:
    return [number(value) for value in values]


def span(values: Iterable[float | None]) -> tuple[float, float] | None:
    """The domain from 0 to the greatest finite value, None without one; (0, 1) where all are zero."""
    finite = [value for value in values if value is not None and isfinite(value)]
    if not finite:
        return None
    return 0.0, max(finite) if max(finite) > 0 else 1.0


def data(rows: Iterable[Row]) -> alt.InlineData:
    """Records for a chart, without anything that could be guessed from them."""
    records = [dict(row) for row in rows]
    assert len(records) <= MAX_ROWS, f"{len(records)} rows in one chart; bin them"
    return alt.InlineData(values=records)


def clock_unit(seconds: float) -> tuple[float, str]:
    """Factor and name of the unit in which a time axis up to `seconds` reads best."""
    return (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1.0, "s")


def missing(count: int, total: int, noun: str, why: str) -> str:
    """A sentence for what the chart leaves out, empty if nothing."""
    if not count:
        return ""
    return f" {count:,} of {total:,} {noun} {'is' if count == 1 else 'are'} missing: {why}."


def finite(values: np.ndarray) -> np.ndarray:
    """The finite values, in their order."""
    kept: np.ndarray = values[np.isfinite(values)]
    return kept
