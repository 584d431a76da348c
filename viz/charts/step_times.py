"""What the steps of a run on a real machine took, over what a cost model says of them, and the error step by step.

Measured times are points, predicted ones a line. A run of many steps is drawn as medians of as many stretches of steps as
the chart may hold.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.charts.drawing import Drawing, data, nothing, number, numbers, span
from viz.charts.theme import Palette, dress

TITLE, ERRORS = "Step times, measured and predicted", "Error of the prediction"
SERIES = ("measured", "predicted")
MAX_POINTS = 800


def draw(measured: Sequence[float], predicted: Sequence[float], palette: Palette) -> Drawing:
    """Both in seconds, one number a step."""
    if not measured:
        return nothing("step_times", TITLE, "Nothing to show: no step was measured.")
    ours, theirs = np.asarray(measured, float), np.asarray(predicted, float)
    steps, ours, theirs, binned = _thinned(np.arange(1, len(ours) + 1), ours, theirs)
    rows = [
        {"step": int(step), "series": name, "ms": number(1e3 * value)}
        for name, values in zip(SERIES, (ours, theirs), strict=True)
        for step, value in zip(steps, values, strict=True)
    ]
    x = _steps(len(measured))
    y = alt.Y("ms:Q", title="ms", scale=alt.Scale(domain=list(span([*(1e3 * ours), *(1e3 * theirs)]) or (0.0, 1.0))))
    color = alt.Color("series:N", scale=alt.Scale(domain=list(SERIES), range=[palette.b, palette.a]))
    dots = alt.Chart(data(rows[: len(steps)])).mark_point(filled=True, size=26).encode(x=x, y=y, color=color)
    line = alt.Chart(data(rows[len(steps) :])).mark_line(strokeWidth=2).encode(x=x, y=y, color=color)
    chart = alt.layer(dots, line, name="step_times", title=TITLE, height=170)
    caption = f"Points are measured, the line is what the cost model says of the same steps.{binned}"
    words = f"{len(measured):,} steps, {1e3 * np.median(measured):.1f} ms in the median, predicted {1e3 * np.median(predicted):.1f}"
    table = {"step": steps.tolist(), "measured, ms": numbers(1e3 * ours), "predicted, ms": numbers(1e3 * theirs)}
    return Drawing("step_times", TITLE, caption, dress(chart, palette), f"{TITLE}: {words} ms.", table)


def errors(measured: Sequence[float], predicted: Sequence[float], palette: Palette) -> Drawing:
    """(predicted - measured) / measured, in percent, of the steps that took any time."""
    ours, theirs = np.asarray(measured, float), np.asarray(predicted, float)
    timed = np.flatnonzero(ours > 0)
    if not len(timed):
        return nothing("step_errors", ERRORS, "Nothing to show: no step took any time.")
    steps, ours, theirs, binned = _thinned(timed + 1, ours[timed], theirs[timed])
    percent = 100 * (theirs - ours) / ours
    rows = [{"step": int(step), "percent": number(value)} for step, value in zip(steps, percent, strict=True)]
    most = max(5.0, float(np.abs(percent).max()))
    x = _steps(len(measured))
    y = alt.Y("percent:Q", title="%", scale=alt.Scale(domain=[number(-most), number(most)]))
    bars = alt.Chart(data(rows)).mark_rule(strokeWidth=2, color=palette.a).encode(x=x, y=y, y2=alt.datum(0))
    chart = alt.layer(bars, name="step_errors", title=ERRORS, height=170)
    median = float(np.median(np.abs(percent)))
    num_left_out = len(measured) - len(timed)
    left_out = {0: "", 1: " 1 step took no time and has no error."}.get(
        num_left_out, f" {num_left_out:,} steps took no time and have no error."
    )
    caption = (
        "Above zero the cost model says more than was measured; half of the steps lie within "
        f"{median:.1f} %.{left_out}{binned}"
    )
    table = {"step": steps.tolist(), "error, %": numbers(percent)}
    return Drawing(
        "step_errors", ERRORS, caption, dress(chart, palette), f"{ERRORS}: {median:.1f} % in the median.", table
    )


def _steps(count: int) -> alt.X:
    """Steps from 1, named at whole numbers alone."""
    scale = alt.Scale(domain=[1, max(2, count)], nice=False)
    return alt.X("step:Q", title="step", scale=scale, axis=alt.Axis(tickMinStep=1, format=",d"))


def _thinned(steps: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Numbers of steps and both times, as many as a chart may hold, and how they were binned."""
    if len(steps) <= MAX_POINTS:
        return steps, ours, theirs, ""
    parts = [np.array_split(values, MAX_POINTS) for values in (steps, ours, theirs)]
    first, *medians = (np.array([np.median(part) for part in of]) for of in parts)
    return first.astype(int), medians[0], medians[1], f" {len(steps):,} steps are drawn as {MAX_POINTS} medians."
