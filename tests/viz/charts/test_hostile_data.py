"""Data that broke charts elsewhere: infinite and missing values, names with dots and quotes, thousands of rows."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from tests.viz.charts.specs import channels, datasets, domain, records, spec_of
from viz.charts import gallery
from viz.charts.drawing import MAX_ROWS, Measured, number, span
from viz.charts.run_bars import run_bars
from viz.charts.theme import LIGHT

SERIES = ["R1.0", "layer[0]", "p=0.5", "A:B", "it's"]
IDS = ["会话.1", "a[0]", 'he said "hi"', "two\nlines", "=1+1", "🙂"]


def _request(name: str, arrival: float = 0.0, prompt: int = 5, output: int = 2) -> Request:
    return Request(name, arrival, Prompt.of_length(prompt), SamplingParams(max_tokens=output))


@cache
def _small() -> Measured:
    requests = [_request(name, 0.5 * index) for index, name in enumerate(IDS)]
    return Measured.of(simulate(Settings(num_blocks=64, step_time=0.1), ListWorkload(requests)))


def _with_times(latency: np.ndarray) -> Measured:
    """A run whose requests all arrive at 0 and have these latencies."""
    small, blank = _small(), np.zeros(len(latency))
    figures = replace(small.metrics.requests, arrival=blank, first_token=latency, finish=latency)
    return Measured(small.trace, replace(small.metrics, requests=figures))


def test_a_rate_over_no_time_is_missing_and_only_finite_values_make_the_axis() -> None:
    values = [1.0, 2.0, 3.0, float("inf"), 4.0]
    runs = {
        f"run {i}": replace(_small(), metrics=replace(_small().metrics, throughput=v)) for i, v in enumerate(values)
    }
    drawing = gallery.OF_RUNS["throughput"](runs, LIGHT)
    assert sorted(len(rows) for rows in datasets(spec_of(drawing))) == [4, 5]
    assert domain(drawing, "x") == [0, 4.0]
    assert [row["text"] for row in records(drawing)] == ["1 tokens/s", "2 tokens/s", "3 tokens/s", "–", "4 tokens/s"]
    assert "1 of 5 numbers is missing" in drawing.caption
    assert drawing.table["tokens per second"] == [1, 2, 3, None, 4]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), None])
def test_what_is_not_finite_becomes_nothing(value: float | None) -> None:
    assert number(value) is None
    assert span([value]) is None
    assert span([value, 3.0]) == (0, 3)


def test_no_latency_at_all_gives_a_sentence_and_no_axis() -> None:
    nobody = _with_times(np.full(6, np.nan))
    for name in ("first_token_spread", "latency_spread"):
        drawing = gallery.OF_RUNS[name]({"run": nobody}, LIGHT)
        assert drawing.chart is None and "no request came that far" in drawing.caption


def test_a_request_without_a_first_token_is_counted_and_keeps_the_curve_below_the_top() -> None:
    drawing = gallery.OF_RUNS["latency_spread"]({"run": _with_times(np.array([1.0, np.inf, 2.0, np.nan]))}, LIGHT)
    assert [row["share"] for row in records(drawing)] == [0, 0.25, 0.5]
    assert domain(drawing, "x") == [0, 2]
    assert "2 of 4 requests are missing" in drawing.caption


def test_times_that_are_all_zero_still_have_an_axis() -> None:
    drawing = gallery.OF_RUNS["latency_spread"]({"run": _with_times(np.zeros(4))}, LIGHT)
    assert domain(drawing, "x") == [0, 1]


def test_names_of_runs_are_values_and_never_fields() -> None:
    values = {name: {"a.b[0]": float(i + 1)} for i, name in enumerate(SERIES)}
    drawing = run_bars("throughput", "Throughput", values, str, "Longer is better.", LIGHT)
    assert [row["run"] for row in records(drawing)] == SERIES
    assert {definition["field"] for _, definition in channels(spec_of(drawing))} <= {
        *("at", "run", "series", "text", "label")
    }
    runs = {name: _small() for name in SERIES}
    for draw in gallery.OF_RUNS.values():
        drawing = draw(runs, LIGHT)
        assert list(dict.fromkeys(row["run"] for row in records(drawing))) == SERIES
        assert list(drawing.table["run"]) == SERIES


def test_the_curve_of_the_times_names_all_six_requests() -> None:
    drawing = gallery.OF_RUNS["latency_spread"]({"run": _small()}, LIGHT)
    named = [row["request"] for row in records(drawing) if row["request"]]
    assert sorted(named) == sorted(IDS)


def test_lengths_and_arrivals_count_requests_whatever_they_are_called() -> None:
    requests = [_request(name, 0.5 * index) for index, name in enumerate(IDS)]
    for draw in gallery.OF_WORKLOAD.values():
        assert sum(draw(requests, LIGHT).table["requests"]) == 6


@pytest.mark.parametrize("num_requests", [5_000, 5_001, 12_031])
def test_no_request_is_dropped_however_many_there_are(num_requests: int) -> None:
    rng = np.random.default_rng(num_requests)
    lengths = rng.integers(1, 4_000, num_requests).tolist()
    requests = [_request(str(i), 0.01 * i, length, length) for i, length in enumerate(lengths)]
    for draw in gallery.OF_WORKLOAD.values():
        assert sum(draw(requests, LIGHT).table["requests"]) == num_requests
    runs = {"a": _with_times(rng.exponential(1.0, num_requests)), "b": _with_times(rng.exponential(2.0, num_requests))}
    drawing = gallery.OF_RUNS["latency_spread"](runs, LIGHT)
    assert sum(map(len, datasets(spec_of(drawing)))) <= MAX_ROWS
    assert f"{2 * num_requests:,} requests are drawn as 998 percentiles a run" in drawing.caption
    assert drawing.table["requests"] == [num_requests, num_requests]


def test_six_hundred_steps_of_three_hundred_requests_are_averaged_and_the_caption_says_so() -> None:
    requests = [_request(str(i), prompt=8, output=600) for i in range(300)]
    settings = Settings(num_blocks=12_000, block_size=16, max_num_seqs=300, step_time=0.01)
    measured = Measured.of(simulate(settings, ListWorkload(requests)))
    assert measured.trace.num_steps >= 600
    for name in gallery.OF_ONE_RUN:
        drawing = gallery.OF_ONE_RUN[name](measured, LIGHT)
        assert sum(map(len, datasets(spec_of(drawing)))) <= MAX_ROWS
        assert f"{measured.trace.num_steps:,} iterations are drawn as" in drawing.caption


def test_a_long_tail_is_gathered_in_the_last_bar_and_the_caption_counts_it() -> None:
    requests = [_request(str(i), prompt=10 + i % 90) for i in range(1_000)] + [_request("huge", prompt=1_000_000_000)]
    drawing = gallery.OF_WORKLOAD["prompt_lengths"](requests, LIGHT)
    assert sum(drawing.table["requests"]) == 1_001
    assert domain(drawing, "x")[1] <= 110
    assert "The last bar also counts 1 longer ones." in drawing.caption


def test_later_rounds_of_a_conversation_are_counted_beside_the_arrivals() -> None:
    later = replace_after(_request("second"), "first")
    drawing = gallery.OF_WORKLOAD["arrivals"]([_request("first"), later], LIGHT)
    assert sum(drawing.table["requests"]) == 1
    assert "1 more arrive when the request before them has ended" in drawing.caption


def replace_after(request: Request, after: str) -> Request:
    request.after = after
    return request


def test_a_run_that_publishes_no_memory_says_so() -> None:
    small = _small()
    trace: Any = replace(small.trace, tracks={k: v for k, v in small.trace.tracks.items() if k != "blocks"})
    drawing = gallery.OF_ONE_RUN["kv_composition"](Measured.of(trace), LIGHT)
    assert drawing.chart is None and "publishes neither blocks nor strips" in drawing.caption
