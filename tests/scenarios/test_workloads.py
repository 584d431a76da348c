"""Workload generators: the reference stream, its caps, and what is refused."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.fields import ScenarioError
from scenarios.workloads import ALPACA_LIKE, SHAREGPT_LIKE, LogNormalLengths, fixed, generate, poisson


def reference_stream(rate: float, medians: tuple[int, int], count: int, seed: int) -> list[tuple[float, int, int]]:
    """The stream as the acceptance list states it: gap, prompt, output of each request, in this order."""
    rng = random.Random(seed)
    clock, stream = 0.0, []
    for _ in range(count):
        clock += rng.expovariate(rate)
        prompt = min(1024, max(4, round(medians[0] * math.exp(rng.gauss(0, 1.2)))))
        output = min(1024, max(4, round(medians[1] * math.exp(rng.gauss(0, 1.2)))))
        stream.append((clock, min(prompt, 2048 - output), output))
    return stream


@pytest.mark.parametrize(("name", "medians"), [("sharegpt-like", (170, 220)), ("alpaca-like", (20, 50))])
def test_the_random_stream_is_the_reference_stream(name: str, medians: tuple[int, int]) -> None:
    requests = generate({"generator": name, "num_requests": 400, "rate": 3.0}, seed=1)
    stream = [(r.arrival_time, r.prompt.num_tokens, r.sampling.max_tokens) for r in requests]
    assert stream == reference_stream(3.0, medians, 400, seed=1)


def test_medians_and_rate_are_those_asked_for() -> None:
    requests = poisson(SHAREGPT_LIKE, num_requests=4001, rate=8.0, seed=3)
    prompts = sorted(request.prompt.num_tokens for request in requests)
    outputs = sorted(request.sampling.max_tokens for request in requests)
    assert prompts[2000] == pytest.approx(170, rel=0.06)
    assert outputs[2000] == pytest.approx(220, rel=0.06)
    assert requests[-1].arrival_time == pytest.approx(4001 / 8.0, rel=0.05)


def test_equal_lengths_keep_the_arrivals_and_prompts_of_the_mixed_stream() -> None:
    mixed = poisson(SHAREGPT_LIKE, num_requests=50, rate=8.0, seed=1)
    equal = poisson(SHAREGPT_LIKE, num_requests=50, rate=8.0, seed=1, output_len=220)
    assert {request.sampling.max_tokens for request in equal} == {220}
    assert [(r.arrival_time, r.prompt) for r in equal] == [(r.arrival_time, r.prompt) for r in mixed]


@given(st.integers(0, 2**32), st.sampled_from([SHAREGPT_LIKE, ALPACA_LIKE, LogNormalLengths(1, 1, sigma=10.0)]))
def test_lengths_stay_within_their_caps(seed: int, lengths: LogNormalLengths) -> None:
    for request in poisson(lengths, num_requests=20, rate=1.0, seed=seed):
        prompt, output = request.prompt.num_tokens, request.sampling.max_tokens
        assert 4 <= output <= 1024 and 4 <= prompt <= 1024 and prompt + output <= 2048


def test_the_prompt_gives_way_where_both_exceed_the_total() -> None:
    lengths = LogNormalLengths(1e9, 1e9, sigma=0.0, max_len=60, max_total=100)
    (request,) = poisson(lengths, num_requests=1, rate=1.0, seed=0)
    assert (request.prompt.num_tokens, request.sampling.max_tokens) == (40, 60)


def test_fixed_lengths_arrive_one_after_the_other() -> None:
    requests = fixed([10, 20], [1, 2], interval=0.5)
    assert [(r.request_id, r.arrival_time, r.prompt.num_tokens, r.sampling.max_tokens) for r in requests] == [
        ("R1", 0.0, 10, 1),
        ("R2", 0.5, 20, 2),
    ]


def test_one_number_stands_for_every_request() -> None:
    requests = generate({"generator": "fixed", "prompt_len": 8, "output_len": [20, 50, 100, 500]}, seed=0)
    assert [request.sampling.max_tokens for request in requests] == [20, 50, 100, 500]
    assert {request.prompt.num_tokens for request in requests} == {8}


def test_no_two_prompts_of_a_generator_are_equal() -> None:
    requests = generate({"generator": "fixed", "num_requests": 3, "prompt_len": 8, "output_len": 1}, seed=0)
    assert len({request.prompt for request in requests}) == 3


CHAT = {"generator": "sharegpt-like", "num_requests": 4, "rate": 1.0}
LISTS = {"generator": "fixed", "prompt_len": 8, "output_len": 1}


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ({}, "generator is None"),
        ({"generator": "zipf"}, "choose one of sharegpt-like"),
        ({"generator": ["fixed"]}, "choose one of"),
        ({**CHAT, "num_requests": 10**9}, "num_requests is 1000000000"),
        ({**CHAT, "rate": 0}, "rate is 0"),
        ({**CHAT, "rate": float("nan")}, "rate is nan"),
        ({**CHAT, "sigma": -1}, "sigma is -1"),
        ({**CHAT, "median": 3}, "unknown key 'median'"),
        ({**CHAT, "max_total": 1000}, "min_len <= max_len < max_total"),
        ({**CHAT, "output_len": 2048}, "output_len is 2048"),
        ({**LISTS, "prompt_len": [1, 2], "output_len": [1]}, "as many entries"),
        ({**LISTS, "prompt_len": [1, -2]}, "prompt_len is -2"),
        ({**LISTS, "num_requests": 2, "prompt_len": [1]}, "as many entries"),
        ({**LISTS, "interval_s": -1}, "interval_s is -1"),
        ({**LISTS, "interval_s": 2e12}, "interval_s is 2000000000000.0"),
        ({**LISTS, "num_requests": 3, "interval_s": 6e11}, "the last of 3 requests would arrive after 1e+12 s"),
    ],
)
def test_a_generator_names_what_is_wrong(workload: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        generate(workload, seed=0)
    assert words in str(caught.value)
