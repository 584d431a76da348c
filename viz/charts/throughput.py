"""Output tokens per second of several runs. A run that took no time has no throughput: a dash, not an infinite bar."""

from collections.abc import Mapping

from viz.charts.drawing import Drawing, MeasuredRun
from viz.charts.run_bars import run_bars
from viz.charts.theme import Palette
from viz.pages.parts.figures import count

NAME, TITLE = "throughput", "Throughput"
CAPTION = "Output tokens per second, from the first arrival to the last end. Longer is better."


def draw(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    values = {name: {"tokens per second": run.metrics.throughput} for name, run in runs.items()}
    return run_bars(NAME, TITLE, values, lambda value: f"{count(value)} tokens/s", CAPTION, palette)
