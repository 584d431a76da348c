"""The waiting times of several runs side by side: to the first token, between two tokens, and per output token.

Median and 99th percentile of the first two, the mean of the third, as in the table of figures. Terms as in the vLLM
paper, section 6.1.
"""

from collections.abc import Mapping

from viz.charts.drawing import Drawing, MeasuredRun
from viz.charts.run_bars import run_bars
from viz.charts.theme import Palette
from viz.pages.parts.figures import seconds

PERCENTILES = {"median": 50.0, "99th percentile": 99.0}


def first_token(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    """Time to first token, TTFT."""
    values = {
        name: {word: run.metrics.ttft(percent) for word, percent in PERCENTILES.items()} for name, run in runs.items()
    }
    caption = "From the arrival of a request to its first token. Shorter is better."
    return run_bars("first_token", "Time to first token", values, seconds, caption, palette)


def between_tokens(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    """Inter-token latency, ITL."""
    values = {
        name: {word: run.metrics.itl_percentile(percent) for word, percent in PERCENTILES.items()}
        for name, run in runs.items()
    }
    caption = "From one token of a sequence to its next, pauses by preemption included. Shorter is better."
    return run_bars("between_tokens", "Time between two tokens", values, seconds, caption, palette)


def per_token(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    """Normalized latency: the whole latency of a request divided by its output length."""
    values = {name: {"mean": run.metrics.normalized_latency} for name, run in runs.items()}
    caption = "Latency of a request divided by its output tokens, mean over the finished requests. Shorter is better."
    return run_bars("per_token", "Latency per output token", values, seconds, caption, palette)
