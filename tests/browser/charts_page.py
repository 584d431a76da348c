"""A page with the charts that the browser test looks at: hostile names, a missing number, six strange ids."""

import streamlit as st

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from viz.charts import gallery
from viz.charts.drawing import Measured
from viz.charts.run_bars import run_bars
from viz.charts.theme import BOTH
from viz.pages.parts import charts

SERIES = ["R1.0", "layer[0]", "p=0.5", "A:B", "it's"]
IDS = ["会话.1", "a[0]", 'he said "hi"', "two\nlines", "=1+1", "🙂"]


def main() -> None:
    st.html("<style>.stApp { --ink-2: light-dark(#454E5C, #BCC5D1); }</style>")
    names = {name: {"tokens": float(i + 1)} for i, name in enumerate(SERIES)}
    charts.show(run_bars("names", "Names", names, str, "Five bars.", BOTH))
    holes = {f"run {i}": {"tokens": value} for i, value in enumerate((1.0, 2.0, 3.0, float("inf"), 4.0))}
    charts.show(run_bars("holes", "Holes", holes, str, "Four bars.", BOTH))
    requests = [
        Request(name, 0.5 * index, Prompt.of_length(5), SamplingParams(max_tokens=2)) for index, name in enumerate(IDS)
    ]
    run = Measured.of(simulate(Settings(num_blocks=64, step_time=0.1), ListWorkload(requests)))
    charts.show(gallery.OF_RUNS["latency_spread"]({"run": run}, BOTH))
    charts.show(gallery.OF_ONE_RUN["kv_composition"](run, BOTH))


if __name__ == "__main__":
    main()
