"""How the times of the requests are spread, run by run: which share of them had their first token, or ended, within x.

A curve that rises early is quick for most; a long tail to the right is what the 99th percentile sees. With few requests
every one is a point that names it. With many, a curve goes through equally spaced percentiles.
"""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import numpy as np

from engine.trace.metrics import RequestFigures
from viz.charts.drawing import MAX_ROWS, Drawing, MeasuredRun, Row, clock_unit, data, missing, nothing, number
from viz.charts.theme import Palette, dress
from viz.pages.parts.figures import seconds

MAX_NAMED = 100
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4])
QUARTILES = (0, 25, 50, 75, 90, 99, 100)


def first_token(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    return _draw("first_token_spread", "Requests that had their first token", lambda r: r.ttft, runs, palette)


def latency(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    return _draw("latency_spread", "Requests that had ended", lambda r: r.latency, runs, palette)


def _draw(
    name: str,
    title: str,
    times_of: Callable[[RequestFigures], np.ndarray],
    runs: Mapping[str, MeasuredRun],
    palette: Palette,
) -> Drawing:
    times = {run: times_of(measured.metrics.requests) for run, measured in runs.items()}
    known = {run: np.sort(of[np.isfinite(of)]) for run, of in times.items() if np.isfinite(of).any()}
    if not known:
        return nothing(name, title, "Nothing to show: no request came that far.")
    longest = max(float(of[-1]) for of in known.values())
    factor, unit = clock_unit(longest)
    named = max(map(len, times.values())) <= MAX_NAMED
    most = MAX_ROWS // len(known) - 2
    is_exact = all(len(of) <= most for of in known.values())
    rows: list[Row] = []
    for run in known:
        rows += _curve(run, times[run], runs[run], most, factor)
    order = list(known)
    color = alt.Color(
        "run:N",
        scale=alt.Scale(domain=order, range=list(palette.owners)),
        legend=None if len(order) == 1 else alt.Legend(symbolType="stroke"),
    )
    dash = alt.StrokeDash("run:N", scale=alt.Scale(domain=order, range=list(DASHES)))
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "time:Q", title=f"after, {unit}", scale=alt.Scale(domain=[0, number(longest * factor) or 1.0], nice=False)
        ),
        y=alt.Y("share:Q", title="share of requests", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        color=color,
    )
    layers = [base.mark_line(interpolate="step-after", strokeWidth=2).encode(strokeDash=dash)]
    if named:
        tooltip = [alt.Tooltip("request:N"), alt.Tooltip("run:N"), alt.Tooltip("text:N", title="after")]
        points = alt.Chart(data(row for row in rows if row["request"])).mark_point(filled=True, size=40, opacity=1)
        layers.append(points.encode(x="time:Q", y="share:Q", color=color, tooltip=tooltip))
    chart = alt.layer(*layers, name=name, title=title, height=200)
    total, num_known = sum(map(len, times.values())), sum(map(len, known.values()))
    caption = "Read upwards: how many of all requests were served within this time. Further left is better."
    if not is_exact:
        caption += f" {num_known:,} requests are drawn as {most:,} percentiles a run."
    caption += missing(total - num_known, total, "requests", "refused, or unfinished when the run ended")
    words = "; ".join(f"{run}: half of them within {seconds(float(np.median(of)))}" for run, of in known.items())
    table: dict[str, list[Any]] = {"run": order, "requests": [len(known[run]) for run in order]}
    for percent in QUARTILES:
        table[f"{percent} % within s"] = [number(float(np.percentile(known[run], percent))) for run in order]
    return Drawing(name, title, caption, dress(chart, palette), f"{title}. {words}.", table)


def _curve(run: str, times: np.ndarray, measured: MeasuredRun, most: int, factor: float) -> list[Row]:
    """Records of one run, from a share of 0; the share is of all requests, so a curve may end below 1."""
    order = np.argsort(times, kind="stable")[: int(np.isfinite(times).sum())]
    ids = [measured.trace.requests[index]["id"] for index in order] if len(times) <= MAX_NAMED else None
    if len(order) <= most:
        at, shares = times[order], np.arange(1, len(order) + 1) / len(times)
    else:
        percent = np.linspace(0, 100, most)
        at, shares = np.percentile(times[order], percent), percent / 100 * len(order) / len(times)
    rows: list[Row] = [{"run": run, "time": 0.0, "share": 0.0, "request": "", "text": ""}]
    for point, (time, upto) in enumerate(zip(at, shares, strict=True)):
        who = ids[point] if ids else ""
        rows.append(
            {
                "run": run,
                "time": number(time * factor),
                "share": number(upto),
                "request": who,
                "text": seconds(float(time)),
            }
        )
    return rows
