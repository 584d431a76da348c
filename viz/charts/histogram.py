"""Counting values into bars of a round width, for the charts of a workload. Bars and their counts are made here, so a chart
of a million requests holds a few dozen records. A long tail is gathered in one last bar rather than stretching the axis.
"""

from dataclasses import dataclass

import altair as alt
import numpy as np

from viz.charts.drawing import data, number
from viz.charts.theme import SMALL, Palette

MAX_BARS = 40
FAR = 4.0
"""A greatest value so many times above the 99th percentile is a tail."""


@dataclass(frozen=True, slots=True)
class Bars:
    """edges float64 [n + 1], counts int64 [n]. The last bar also counts the `num_beyond` values above its upper edge."""

    edges: np.ndarray
    counts: np.ndarray
    num_beyond: int

    @property
    def width(self) -> float:
        return float(self.edges[1] - self.edges[0])


def count_up(values: np.ndarray, least_width: float = 0.0, max_bars: int = MAX_BARS) -> Bars:
    """Bars from a round number below the least value on. `values` are finite and at least one."""
    low, high = float(values.min()), float(values.max())
    near = float(np.percentile(values, 99))
    top = near if high - low > FAR * max(near - low, least_width) else high
    width = max(_round_up((top - low) / (max_bars - 2)), least_width)
    first = np.floor(low / width) * width
    num_bars = max(int(np.floor((top - first) / width)) + 1, 1)
    edges = first + width * np.arange(num_bars + 1)
    places = np.minimum(((values - first) / width).astype(np.int64), num_bars - 1)
    return Bars(edges, np.bincount(places, minlength=num_bars), int((values >= edges[-1]).sum()))


def bar_chart(bars: Bars, name: str, title: str, x_title: str, y_title: str, palette: Palette) -> alt.Chart:
    """The bars, each with its range and count as a tooltip."""
    rows = [
        {"low": number(low), "high": number(high), "count": int(count), "range": f"{low:,.6g} to {high:,.6g}"}
        for low, high, count in zip(bars.edges[:-1], bars.edges[1:], bars.counts, strict=True)
    ]
    domain = [number(bars.edges[0]), number(bars.edges[-1])]
    return (
        alt.Chart(data(rows), name=name, title=title, height=160)
        .mark_bar(color=palette.a, stroke=palette.paper, strokeWidth=0.5)
        .encode(
            x=alt.X(
                "low:Q", title=x_title, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(labelFontSize=SMALL)
            ),
            x2=alt.X2("high:Q"),
            y=alt.Y(
                "count:Q",
                title=y_title,
                scale=alt.Scale(domain=[0, int(bars.counts.max())]),
                axis=alt.Axis(tickMinStep=1, format=",d"),
            ),
            y2=alt.Y2Datum(0),
            tooltip=[alt.Tooltip("range:N", title=x_title), alt.Tooltip("count:Q", title=y_title)],
        )
    )


def _round_up(width: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 ...; 1 for nothing."""
    if width <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9)))
