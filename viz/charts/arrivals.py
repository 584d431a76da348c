"""When the requests of a workload arrive: how many in each stretch of time.

Later rounds of a conversation arrive when the round before has ended; when that is, only a run can tell, so they are
counted in the caption.
"""

from collections.abc import Sequence

import numpy as np

from engine.request import Request
from viz.charts.drawing import Drawing, finite, nothing, numbers
from viz.charts.histogram import bar_chart, count_up
from viz.charts.theme import Palette, dress
from viz.pages.parts.figures import seconds

NAME, TITLE = "arrivals", "Arrivals over time"


def draw(requests: Sequence[Request], palette: Palette) -> Drawing:
    times = finite(np.array([request.arrival_time for request in requests if request.after is None], float))
    if not len(times):
        return nothing(NAME, TITLE, "Nothing to show: no request has an arrival of its own.")
    bars = count_up(times, max_bars=60)
    chart = bar_chart(bars, NAME, TITLE, "time, s", "requests", palette)
    elapsed = float(times.max() - times.min())
    caption = f"{len(times):,} requests arrive in {seconds(elapsed)}; each bar is {seconds(bars.width)}."
    if bars.num_beyond:
        caption += f" The last bar also counts {bars.num_beyond:,} later ones."
    if len(times) < len(requests):
        caption += f" {len(requests) - len(times):,} more arrive when the request before them has ended."
    table = {"from s": numbers(bars.edges[:-1]), "to s": numbers(bars.edges[1:]), "requests": bars.counts.tolist()}
    return Drawing(NAME, TITLE, caption, dress(chart, palette), f"{TITLE}. {caption}", table)
