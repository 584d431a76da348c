"""All charts by name, in three kinds: of one run, of runs side by side, of the requests of a workload.

A new chart is a file beside this one and a line here; the gallery test then draws it on every scenario.
"""

from collections.abc import Callable, Mapping, Sequence

from engine.request import Request
from viz.charts import (
    arrivals,
    batch_and_queue,
    kv_composition,
    latency,
    lengths,
    throughput,
    time_distribution,
    waste,
)
from viz.charts.drawing import Drawing, MeasuredRun
from viz.charts.theme import Palette

OF_ONE_RUN: Mapping[str, Callable[[MeasuredRun, Palette], Drawing]] = {
    "kv_composition": kv_composition.draw,
    "batch_and_queue": batch_and_queue.draw,
}
OF_RUNS: Mapping[str, Callable[[Mapping[str, MeasuredRun], Palette], Drawing]] = {
    "waste": waste.draw,
    "throughput": throughput.draw,
    "first_token": latency.first_token,
    "between_tokens": latency.between_tokens,
    "per_token": latency.per_token,
    "first_token_spread": time_distribution.first_token,
    "latency_spread": time_distribution.latency,
}
OF_WORKLOAD: Mapping[str, Callable[[Sequence[Request], Palette], Drawing]] = {
    "prompt_lengths": lengths.prompts,
    "output_lengths": lengths.outputs,
    "arrivals": arrivals.draw,
}
