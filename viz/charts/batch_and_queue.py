"""How many sequences run and how many requests wait, over the time of one run.

Running is a solid line, waiting a dashed one. Both are counted in every iteration when it has been scheduled; between
iterations nothing is drawn. Where iterations are averaged, a pale band reaches from the least to the greatest count.
"""

import altair as alt
import numpy as np

from viz.charts.drawing import MAX_ROWS, Drawing, MeasuredRun, Row, clock_unit, data, nothing, number, numbers, span
from viz.charts.over_time import Curves, over_time
from viz.charts.theme import Palette, dress
from viz.pages.parts.figures import seconds

NAME, TITLE = "batch_and_queue", "Batch and queue over time"
SERIES = ("sequences running", "requests waiting")
MAX_POINTS = MAX_ROWS // 6 - 2
"""Two curves and two bands, and one and a half records for a point where every second one is a hole."""


def draw(run: MeasuredRun, palette: Palette) -> Drawing:
    trace = run.trace
    if not trace.num_steps or not (trace.times[:, 1] > trace.times[:, 0]).any():
        return nothing(NAME, TITLE, "Nothing to show: no iteration of this run takes any time.")
    counts = np.stack([trace.steps["num_running"], trace.steps["num_waiting"]], axis=1).astype(float)
    curves = over_time(trace, counts, idle=np.nan, max_points=MAX_POINTS)
    factor, unit = clock_unit(float(curves.time[-1]))
    points = [_points(curves, k, name, factor) for k, name in enumerate(SERIES)]
    rows = [row for series in points for row in series]
    domain = [number(curves.time[0] * factor), number(curves.time[-1] * factor)]
    most = span(row["high"] for row in rows) or (0.0, 1.0)
    stroke = alt.StrokeDash("series:N", scale=alt.Scale(domain=list(SERIES), range=[[1, 0], [5, 3]]))
    hues = [palette.a, palette.ink3]
    colors = alt.Scale(domain=list(SERIES), range=hues)
    x = alt.X("time:Q", title=f"time, {unit}", scale=alt.Scale(domain=domain, nice=False))
    layers = [
        alt.Chart(data(rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("mean:Q", title="count", scale=alt.Scale(domain=list(most)), axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("series:N", scale=colors),
            strokeDash=stroke,
        )
    ]
    caption = "A batch below its limit while requests wait means that memory, or the policy, keeps them out."
    if curves.width is not None:
        for series, hue in zip(points, hues, strict=True):
            band = alt.Chart(data(series)).mark_area(interpolate="step-after", opacity=0.25, color=hue)
            layers.insert(0, band.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")))
        caption += (
            f" {trace.num_steps:,} iterations are drawn as {len(curves.mean):,} averages over {seconds(curves.width)} "
            "each; the band reaches from the least to the greatest count."
        )
    chart = alt.layer(*layers, name=NAME, title=TITLE, height=200)
    words = ", ".join(f"at most {int(counts[:, k].max())} {name}" for k, name in enumerate(SERIES))
    table = {"from s": numbers(curves.time[:-1])}
    for k, name in enumerate(SERIES):
        table[f"{name}, mean"] = numbers(curves.mean[:, k])
        if curves.width is not None:
            table[f"{name}, least"] = numbers(curves.low[:, k])
            table[f"{name}, most"] = numbers(curves.high[:, k])
    return Drawing(NAME, TITLE, caption, dress(chart, palette), f"{TITLE}: {words}.", table)


def _points(curves: Curves, k: int, name: str, factor: float) -> list[Row]:
    """Records of one curve; before a hole its last value is repeated, so that the last step keeps its width."""

    def row(time: float, point: int | None) -> Row:
        levels = {"mean": curves.mean, "low": curves.low, "high": curves.high}
        values = {field: None if point is None else number(of[point, k]) for field, of in levels.items()}
        return {"time": number(time * factor), "series": name, **values}

    rows: list[Row] = []
    known = np.isfinite(curves.mean[:, k])
    for point, time in enumerate(curves.time[:-1]):
        if known[point]:
            rows.append(row(time, point))
        elif point and known[point - 1]:
            rows += [row(time, point - 1), row(time, None)]
    if known[-1]:
        rows.append(row(curves.time[-1], len(known) - 1))
    return rows
