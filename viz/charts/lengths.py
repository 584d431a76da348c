"""How long the prompts and the outputs of a workload are, in tokens, as histograms."""

from collections.abc import Sequence

import numpy as np

from engine.request import Request
from viz.charts.drawing import Drawing, nothing, numbers
from viz.charts.histogram import bar_chart, count_up
from viz.charts.theme import Palette, dress


def prompts(requests: Sequence[Request], palette: Palette) -> Drawing:
    lengths = [request.prompt.num_tokens for request in requests]
    return _draw("prompt_lengths", "Prompt lengths", "prompt tokens", lengths, palette)


def outputs(requests: Sequence[Request], palette: Palette) -> Drawing:
    lengths = [request.sampling.max_tokens for request in requests]
    return _draw("output_lengths", "Output lengths", "output tokens", lengths, palette)


def _draw(name: str, title: str, unit: str, lengths: Sequence[int], palette: Palette) -> Drawing:
    if not lengths:
        return nothing(name, title, "Nothing to show: there is no request.")
    values = np.array(lengths, float)
    bars = count_up(values, least_width=1.0)
    chart = bar_chart(bars, name, title, unit, "requests", palette)
    middle, most = float(np.median(values)), float(values.max())
    caption = f"Half of the requests have at most {middle:,.0f} {unit}, the longest {most:,.0f}."
    caption += f" Each bar counts the requests of {bars.width:,.0f} lengths." if bars.width > 1 else ""
    if bars.num_beyond:
        caption += f" The last bar also counts {bars.num_beyond:,} longer ones."
    table = {
        f"{unit} from": numbers(bars.edges[:-1]),
        "below": numbers(bars.edges[1:]),
        "requests": bars.counts.tolist(),
    }
    return Drawing(
        name, title, caption, dress(chart, palette), f"{title} of {len(lengths):,} requests. {caption}", table
    )
