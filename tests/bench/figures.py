"""Measured figures beside their aims: medians, 95th percentiles, and the lines of a table."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WHAT, FIGURE, AIM = 46, 58, 32
"""Widths of the columns."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, the figure with its unit, the aim, and whether it is met (None where there is no aim)."""

    what: str
    figure: str
    aim: str = ""
    is_met: bool | None = None

    def __str__(self) -> str:
        verdict = "" if self.is_met is None else "met" if self.is_met else "MISSED"
        return f"{self.what:<{WHAT}}{self.figure:<{FIGURE}}{self.aim:<{AIM}}{verdict}".rstrip()


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 95th percentile of repeated times in milliseconds."""

    median: float
    p95: float

    @classmethod
    def of(cls, times: Sequence[float]) -> "Spread":
        return cls(statistics.median(times), percentile(times, 0.95)) if times else cls(math.nan, math.nan)

    def __str__(self) -> str:
        return f"{self.median:,.1f} / {self.p95:,.1f} ms"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def times(part: Spread, whole: Spread) -> str:
    """How many times as long the second one takes, by the medians."""
    return f"{whole.median / part.median:,.0f} x" if part.median else "-"


def kb(num_bytes: float) -> str:
    return f"{num_bytes / 1e3:,.1f} kB"
