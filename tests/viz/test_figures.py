"""The figures of a run as a table."""

import pytest

from engine.request import Prompt, Request, SamplingParams
from viz.pages.parts.figures import NOTHING, ROWS, measured, seconds, table

FIGURES = {
    "requests": 1200,
    "finished": 1199,
    "rejected": 1,
    "steps": 62,
    "duration_s": 12.5,
    "throughput_tok_s": 2048.4,
    "ttft_s": {"p50": 0.0182, "p99": 1.5},
    "itl_s": {"p50": 0.0182, "p99": 0.0182},
    "normalized_latency_s": 0.0005,
    "preemptions": 0,
    "cow_copies": 3,
    "kv": {"token": 0.985, "reserved": 0.0, "internal": 0.015, "external": 0.0, "free": 0.0},
    "seat_utilization": None,
}


def test_a_run_is_a_column_and_a_figure_a_row() -> None:
    columns = table({"static": FIGURES})
    rows = dict(zip(columns["Figure"], columns["static"], strict=True))
    assert list(columns) == ["Figure", "static"] and len(columns["static"]) == len(ROWS)
    assert rows["Requests"] == "1,200"
    assert rows["Time to first token, median"] == "18.2 ms"
    assert rows["KV memory holding tokens"] == "98.5%"
    assert rows["Seats in use"] == NOTHING


@pytest.mark.parametrize(
    ("value", "text"), [(12.345, "12.35 s"), (0.0182, "18.2 ms"), (0.0000123, "12.3 µs"), (0.0, "0 µs")]
)
def test_seconds_are_shown_in_the_unit_that_reads_best(value: float, text: str) -> None:
    assert seconds(value) == text


def test_times_that_a_file_measured_stand_in_their_own_column() -> None:
    requests = [
        Request(
            str(i), 0.0, Prompt.of_length(8), SamplingParams(max_tokens=10), measured={"ttft_s": t, "latency_s": 10 * t}
        )
        for i, t in enumerate((1.0, 2.0, 3.0))
    ]
    column = measured(requests)
    assert column is not None
    assert (column["requests"], column["ttft_s"]["p50"], column["normalized_latency_s"]) == (3, 2.0, 2.0)
    assert column["itl_s"] == {"p50": None, "p99": None}
    assert table({"measured": column})["measured"].count(NOTHING) > 5


def test_a_file_without_measured_times_has_no_column() -> None:
    assert measured([Request("a", 0.0, Prompt.of_length(8))]) is None
