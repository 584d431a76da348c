"""The form of the charts that put one figure of several runs side by side: a bar a run, or two of different thickness.

The number stands at the end of its bar in the words of the table of figures. A figure that a run does not have is a dash
without a bar, and only finite numbers make the axis.
"""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt

from viz.charts.drawing import Drawing, Row, data, missing, nothing, number, span
from viz.charts.theme import BODY, Palette, dress
from viz.pages.parts.figures import NOTHING

ROOM_FOR_NUMBER = 120
"""Pixels right of the longest bar that are left for its number."""


def run_bars(
    name: str,
    title: str,
    values: Mapping[str, Mapping[str, float | None]],
    form: Callable[[float], str],
    caption: str,
    palette: Palette,
) -> Drawing:
    """Bars of `values`: run -> series -> number; with several series each has its own row and is named at its bar."""
    rows: list[Row] = []
    for run, series in values.items():
        for which, value in series.items():
            known = number(value)
            text = NOTHING if known is None else form(known)
            label = f"{text}  {which}" if len(series) > 1 else text
            rows.append({"run": run, "series": which, "value": known, "at": known or 0.0, "text": text, "label": label})
    domain = span(row["value"] for row in rows)
    if domain is None:
        return nothing(name, title, "Nothing to show: no run has this figure.")
    runs, series_names = list(values), list(dict.fromkeys(which for series in values.values() for which in series))
    room = {"expr": f"max(width - {ROOM_FOR_NUMBER}, width / 2)"}
    x = alt.X("at:Q", title=None, axis=None, scale=alt.Scale(domain=list(domain), range=[0, room], nice=False))
    y = alt.Y("run:N", title=None, sort=runs, axis=alt.Axis(labelFontSize=BODY, labelColor=palette.ink, domain=False))
    offset = alt.YOffset("series:N", sort=series_names, scale=alt.Scale(paddingInner=0.15))
    known_rows = data(row for row in rows if row["value"] is not None)
    bars = (
        alt.Chart(known_rows)
        .mark_bar(stroke=palette.a, strokeWidth=1)
        .encode(
            x=x,
            y=y,
            yOffset=offset,
            x2=alt.X2Datum(0),
            color=alt.Color(
                "series:N", scale=alt.Scale(domain=series_names, range=[palette.a, palette.private]), legend=None
            ),
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("series:N"), alt.Tooltip("text:N")],
        )
    )
    texts = alt.Chart(data(rows)).mark_text(align="left", dx=6, fontSize=BODY)
    texts = texts.encode(x=x, y=y, yOffset=offset, text=alt.Text("label:N"))
    height = len(runs) * (40 if len(series_names) > 1 else 28)
    chart = alt.layer(bars, texts, name=name, title=title, height=height)
    absent = sum(row["value"] is None for row in rows)
    caption += missing(absent, len(rows), "numbers", "these runs have nothing to measure")
    words = "; ".join(f"{row['run']} {row['series']} {row['text']}" for row in rows)
    table: dict[str, list[Any]] = {"run": runs}
    for which in series_names:
        table[which] = [number(values[run].get(which)) for run in runs]
    return Drawing(name, title, caption, dress(chart, palette), f"{title}: {words}.", table)
