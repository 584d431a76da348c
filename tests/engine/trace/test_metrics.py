"""Figures of small traces written by hand, so that each number can be checked on paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.metrics import measure, weighted_percentile
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from tests.engine.trace.sheet import DECODE, FINISHED, LAST, PREEMPTED, PREFILL, START, WAITING, Sheet


def two_requests() -> Trace:
    """A (prompt 5, 4 tokens) arrives at 0 and runs in steps 0-3; B (prompt 5, 2 tokens) arrives at 0.5, runs in 2-3."""
    sheet = Sheet(pool=100, max_num_seqs=2)
    sheet.request(5, 4)
    sheet.request(5, 2, arrival=0.5)
    for request, first, last in ((0, 0, 3), (1, 2, 3)):
        sheet.row("sequences", first, START, request, PREFILL, request, 5, 0, 0)
        sheet.row("sequences", first, LAST, request, DECODE, request, 6, 5, 1)
        sheet.row("sequences", last, 3, request, FINISHED, -1, 6 + last - first, 5 + last - first, 0)
        sheet.happened("admitted", first, START, request)
        sheet.happened("finished", last, 3, request)
    return sheet.trace(4, working=[1, 1, 2, 2])


def test_times_of_a_request_are_the_ends_of_its_steps():
    requests = measure(two_requests()).requests
    assert requests.first_token.tolist() == [1.0, 3.0]
    assert requests.ttft.tolist() == [1.0, 2.5]
    assert requests.finish.tolist() == [4.0, 4.0]
    assert requests.queue_time.tolist() == [0.0, 1.5]
    assert requests.output_len.tolist() == [4, 2]
    assert requests.normalized_latency.tolist() == [1.0, 1.75]


def test_run_figures_are_those_of_all_requests_together():
    figures = measure(two_requests()).as_dict()
    assert figures["duration_s"] == 4.0
    assert figures["throughput_tok_s"] == 1.5
    assert figures["ttft_s"] == {"p50": 1.75, "p99": pytest.approx(2.485)}
    assert figures["itl_s"] == {"p50": 1.0, "p99": 1.0}
    assert figures["normalized_latency_s"] == 1.375
    assert (figures["requests"], figures["finished"], figures["rejected"], figures["steps"]) == (2, 2, 0, 4)
    assert figures["hit_rate"] is None


def test_seats_are_compared_with_those_that_the_batch_offers():
    assert measure(two_requests()).seats.utilization == 6 / 8


def test_a_finished_member_that_keeps_its_seat_idles():
    sheet = Sheet(pool=100, policy="static")
    for sequence, last in enumerate((3, 1, 0)):
        sheet.request(5, last + 1)
        sheet.row("sequences", 0, START, sequence, PREFILL, sequence, 5, 0, 0)
        sheet.row("sequences", last, 3, sequence, FINISHED, sequence, 6 + last, 5 + last, 0)
        sheet.row("sequences", 3, 4, sequence, FINISHED, -1, 6 + last, 5 + last, 0)
    seats = measure(sheet.trace(4, working=[3, 2, 1, 1])).seats
    assert (seats.working, seats.held) == (7, 12)
    assert seats.idle_share == pytest.approx(5 / 12)


def test_a_preemption_is_one_long_gap_between_two_tokens():
    sheet = Sheet(pool=100)
    sheet.request(5, 4)
    sheet.row("sequences", 0, LAST, 0, DECODE, 0, 6, 5, 1)
    sheet.row("sequences", 2, START, 0, PREEMPTED, -1, 7, 0, 0)  # two tokens are out
    sheet.row("sequences", 5, LAST, 0, DECODE, 0, 8, 7, 1)  # recomputed, and the third appears
    sheet.row("sequences", 6, 3, 0, FINISHED, -1, 9, 8, 0)
    sheet.happened("preempted", 2, START, 0)
    sheet.happened("finished", 6, 3, 0)
    metrics = measure(sheet.trace(7))
    assert sorted(np.repeat(metrics.itl, metrics.itl_weights).tolist()) == [1.0, 1.0, 4.0]
    assert metrics.num_preemptions == 1
    assert metrics.requests.num_preemptions.tolist() == [1]


def test_samples_that_start_with_a_known_token_count_it():
    sheet = Sheet(pool=100)
    sheet.request(5, 2, n=2)
    sheet.row("sequences", 0, START, 0, PREFILL, 0, 5, 0, 0)
    for sample in (0, 1):
        sheet.row("sequences", 0, LAST, sample, DECODE, sample, 6, 5, 1)
        sheet.row("sequences", 1, 3, sample, FINISHED, -1, 7, 6, 0)
    sheet.happened("finished", 1, 3, 0)
    metrics = measure(sheet.trace(2))
    assert metrics.requests.num_output_tokens.tolist() == [4]
    assert metrics.requests.output_len.tolist() == [2]
    assert metrics.throughput == 2.0
    assert metrics.itl_weights.sum() == 2


def test_a_run_without_a_step_has_no_figures():
    figures = measure(Sheet(pool=10).trace(0)).as_dict()
    assert figures["duration_s"] == 0.0
    for name in ("throughput_tok_s", "normalized_latency_s", "hit_rate", "seat_utilization"):
        assert figures[name] is None
    assert figures["ttft_s"] == figures["itl_s"] == {"p50": None, "p99": None}


def test_a_rejected_request_has_no_times_and_is_counted():
    sheet = Sheet(pool=100)
    sheet.request(500, 2)
    sheet.happened("rejected", 0, START, 0)
    metrics = measure(sheet.trace(1))
    assert (metrics.num_rejected, metrics.num_finished) == (1, 0)
    assert metrics.ttft(50) is None


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 9)), max_size=20), st.sampled_from([0, 37.5, 50, 99, 100])
)
def test_a_weighted_percentile_is_numpys_of_the_repeated_values(pairs, percent):
    values, weights = (np.array([pair[i] for pair in pairs], dtype) for i, dtype in ((0, float), (1, np.int64)))
    values = values / 7
    repeated = np.repeat(values, weights)
    expected = float(np.percentile(repeated, percent)) if len(repeated) else None
    assert weighted_percentile(values, weights, percent) == expected


@st.composite
def histories(draw):
    """For each sequence the steps in which it emits."""
    steps = draw(st.integers(1, 12))
    return steps, draw(st.lists(st.lists(st.booleans(), min_size=steps, max_size=steps), min_size=1, max_size=4))


@given(histories())
def test_gaps_and_tokens_are_those_of_the_steps_written_out(history):
    num_steps, sequences = history
    sheet = Sheet(pool=10, step_time=0.5)
    gaps = []
    for sequence, emits in enumerate(sequences):
        sheet.request(3, max(sum(emits), 1))
        known, rate = 3, 0
        for step, emitted in enumerate(emits):
            known += emitted
            if emitted and not rate:
                sheet.row("sequences", step, LAST, sequence, DECODE, 0, known, known - 1, rate := 1)
            elif not emitted and rate:
                sheet.row("sequences", step, START, sequence, WAITING, -1, known, 0, rate := 0)
        gaps += np.diff(np.flatnonzero(emits)).tolist()
    metrics = measure(sheet.trace(num_steps))
    assert sorted(np.repeat(metrics.itl, metrics.itl_weights) / 0.5) == sorted(gaps)
    assert metrics.requests.num_output_tokens.tolist() == [sum(emits) for emits in sequences]


@given(
    st.lists(st.tuples(st.floats(0, 9), st.integers(1, 9), st.integers(1, 6), st.integers(1, 3)), max_size=6),
    st.sampled_from(["static", "continuous", "chunked"]),
    st.sampled_from(["paged", "max", "pow2", "oracle"]),
)
def test_figures_of_a_run_agree_with_its_frames(arrivals, policy, kv_manager):
    requests = [
        Request(f"R{i}", arrival, Prompt.of_length(prompt), SamplingParams(n=n, max_tokens=output))
        for i, (arrival, prompt, output, n) in enumerate(sorted(arrivals))
    ]
    settings = {"max_num_batched_tokens": 12, "max_model_len": 20, "block_size": 4, "num_blocks": 12, "step_time": 1.0}
    trace = simulate(Settings(policy=policy, kv_manager=kv_manager, **settings), ListWorkload(requests))
    metrics = measure(trace)
    composition = metrics.composition

    assert metrics.requests.num_output_tokens.sum() == trace.steps["num_emitted"].sum()
    first_tokens = sum(r["n"] for r, time in zip(trace.requests, metrics.requests.first_token, strict=True) if time > 0)
    assert metrics.itl_weights.sum() == trace.steps["num_emitted"].sum() - first_tokens
    assert metrics.num_finished + metrics.num_rejected == len(requests)
    kinds = [composition.token, composition.reserved, composition.internal, composition.external, composition.free]
    assert all(kind.min(initial=0) >= 0 for kind in kinds)
    assert np.all(sum(kinds) == composition.capacity)
    for step in range(trace.num_steps):
        state = trace.cut(step=step, at="scheduled").tracks
        stored = state["blocks"]["fill"] if kv_manager == "paged" else state["strips"]["used"]
        assert composition.token[step] == stored.sum()
    if trace.num_steps:
        assert sum(composition.shares().values()) == pytest.approx(1)
