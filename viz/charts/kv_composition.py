"""KV memory of one run over time: tokens, reserved slots, the two wastes and what is free, as stacked areas.

Every step of the run is one stretch at the bottom-to-top order of `kv_kinds`; together they fill the memory. While no step
runs, all memory is free.
"""

import altair as alt
import numpy as np

from engine.trace.composition import KINDS
from viz.charts import kv_kinds
from viz.charts.drawing import MAX_ROWS, Drawing, MeasuredRun, clock_unit, data, nothing, number, numbers
from viz.charts.over_time import over_time
from viz.charts.theme import Palette, dress
from viz.pages.parts.figures import seconds, share

NAME, TITLE = "kv_composition", "KV memory over time"
MAX_POINTS = MAX_ROWS // len(KINDS) - 1


def draw(run: MeasuredRun, palette: Palette) -> Drawing:
    composition, trace = run.metrics.composition, run.trace
    if not composition.capacity:
        return nothing(NAME, TITLE, "Nothing to show: this run publishes neither blocks nor strips.")
    if not composition.durations.sum() > 0:
        return nothing(NAME, TITLE, "Nothing to show: no iteration of this run takes any time.")
    taken = np.stack([getattr(composition, kind) for kind in KINDS[:-1]], axis=1)
    curves = over_time(trace, taken, idle=0.0, max_points=MAX_POINTS)
    # free is what remains, also while nothing runs
    slots = np.column_stack([curves.mean, composition.capacity - curves.mean.sum(axis=1)])
    high = np.cumsum(slots, axis=1)
    low = high - slots
    factor, unit = clock_unit(float(curves.time[-1]))
    # the last point is repeated at the end, where its step ends
    at = np.append(np.arange(len(slots)), len(slots) - 1)
    rows = [
        {"time": number(time * factor), "kind": word, "low": number(low[point, k]), "high": number(high[point, k])}
        for k, word in enumerate(kv_kinds.WORDS.values())
        for time, point in zip(curves.time, at, strict=True)
    ]
    ends = [number(curves.time[0] * factor), number(curves.time[-1] * factor)]
    chart = (
        alt.Chart(data(rows), name=NAME, title=TITLE, height=200)
        .mark_area(interpolate="step-after", stroke=palette.mark, strokeWidth=0.5)
        .encode(
            x=alt.X("time:Q", title=f"time, {unit}", scale=alt.Scale(domain=ends, nice=False)),
            y=alt.Y("low:Q", title="slots", scale=alt.Scale(domain=[0, composition.capacity], nice=False)),
            y2=alt.Y2("high:Q"),
            color=kv_kinds.color(palette),
        )
    )
    shares = composition.shares()
    words = "; ".join(f"{share(shares[kind] or 0)} {kv_kinds.WORDS[kind]}" for kind in KINDS)
    caption = "The more of the memory is blue, the more requests fit into it."
    if curves.width is not None:
        caption += (
            f" {trace.num_steps:,} iterations are drawn as {len(slots):,} averages over {seconds(curves.width)} each."
        )
    table = {"from s": numbers(curves.time[:-1])}
    table |= {word: numbers(slots[:, k]) for k, word in enumerate(kv_kinds.WORDS.values())}
    alt_text = f"{TITLE}, {composition.capacity:,} slots, on average: {words}."
    return Drawing(NAME, TITLE, caption, dress(chart, palette), alt_text, table)
