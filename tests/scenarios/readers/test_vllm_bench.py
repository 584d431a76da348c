"""Two clocks in one row: arrivals are compared with arrivals, stamps with stamps."""

import json

import pytest

from scenarios.readers import read

ROW = {
    "request_id": "bench-0",
    "input_toks": 2358,
    "output_toks": 531,
    "arrival_time": 1787267980.0827403,
    "queued_ts": 27536.660701067,
    "scheduled_ts": 27536.660721646,
    "first_token_ts": 27537.350135653,
    "last_token_ts": 27554.231018618,
}


def bench(*changes: dict):
    return read("\n".join(json.dumps(ROW | change) for change in changes).encode())


def test_measured_times_are_differences_of_one_clock():
    (request,) = bench({}).requests
    assert request.measured == pytest.approx(
        {"queue_s": 0.000020579, "ttft_s": 0.689434586, "tpot_s": 16.880882965 / 530, "latency_s": 17.570317551}
    )


def test_arrivals_are_differences_of_the_other_clock():
    trace_file = bench({}, {"request_id": "bench-1", "arrival_time": 1787267980.3478317})
    assert [(r.request_id, r.arrival_time) for r in trace_file.requests] == [("bench-0", 0.0), ("bench-1", 0.2650914)]


def test_one_output_token_has_no_time_per_further_token():
    (request,) = bench({"output_toks": 1}).requests
    assert "tpot_s" not in request.measured


def test_stamps_that_are_absent_are_left_out():
    (request,) = bench({"scheduled_ts": None, "last_token_ts": None}).requests
    assert set(request.measured) == {"ttft_s"}


@pytest.mark.parametrize(
    "change", [{"queued_ts": 30000.0}, {"queued_ts": "soon"}, {"last_token_ts": -1}, {"last_token_ts": 9e9}]
)
def test_stamps_that_cannot_be_right_are_not_shown_but_the_row_is_used(change):
    trace_file = bench(change, {"request_id": "b"})
    assert [request.measured != {} for request in trace_file.requests] == [False, True]
    assert trace_file.notes == ["Rows whose measured times are unreadable or run backwards, and are not shown: 1."]
