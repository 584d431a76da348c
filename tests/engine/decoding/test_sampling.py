"""Logits become tokens: greedy, tempered, cut; every draw with a number of its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.sampling import Draw, cut, sample_token, uniform
from engine.request import SamplingParams


def logits_of(*chances: float) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.array(chances, dtype=np.float32))


def drawn(logits: np.ndarray, times: int = 400, **params) -> dict[int, int]:
    """How often each token comes in draws at places 0, 1, 2, ..."""
    chosen = [sample_token(logits, Draw(SamplingParams(**params), 0, place)) for place in range(times)]
    return {token: chosen.count(token) for token in sorted(set(chosen))}


def test_temperature_0_takes_the_best_token_and_of_equal_ones_the_first():
    assert drawn(np.array([1.0, 3.0, 2.0, 3.0], dtype=np.float32), times=3) == {1: 3}


@pytest.mark.parametrize("number, chosen", [(0.0, 0), (0.2499, 0), (0.25, 1), (0.7499, 1), (0.75, 2), (0.9999999, 2)])
def test_a_number_falls_where_its_share_lies(number, chosen):
    assert cut(np.array([1.0, 2.0, 1.0]), number) == chosen


def test_a_token_without_weight_is_never_chosen():
    assert cut(np.array([0.0, 1.0, 0.0]), 0.0) == 1
    assert cut(np.array([0.0, 1.0, 0.0]), 1 - 2**-53) == 1


def test_temperature_1_draws_tokens_as_often_as_the_model_says():
    counts = drawn(logits_of(0.5, 0.3, 0.2), times=4000, temperature=1.0)
    assert [round(counts[token] / 4000, 1) for token in range(3)] == [0.5, 0.3, 0.2]


def test_a_low_temperature_prefers_the_best_and_a_high_one_levels():
    cold = drawn(logits_of(0.5, 0.3, 0.2), temperature=0.05)
    hot = drawn(logits_of(0.5, 0.3, 0.2), times=3000, temperature=100.0)
    assert cold == {0: 400}
    assert all(900 < hot[token] < 1100 for token in range(3))


def test_top_k_keeps_the_best_k():
    assert set(drawn(logits_of(0.1, 0.4, 0.2, 0.3), temperature=1.0, top_k=2)) == {1, 3}


def test_top_p_keeps_the_fewest_that_reach_it():
    chances = logits_of(0.1, 0.4, 0.2, 0.3)
    assert set(drawn(chances, temperature=1.0, top_p=0.35)) == {1}
    assert set(drawn(chances, temperature=1.0, top_p=0.65)) == {1, 3}
    assert set(drawn(chances, temperature=1.0, top_p=0.95)) == {0, 1, 2, 3}


def test_top_p_counts_what_top_k_has_left():
    # of 0.4 and 0.3 the first is 57 %
    assert set(drawn(logits_of(0.1, 0.4, 0.2, 0.3), temperature=1.0, top_k=2, top_p=0.5)) == {1}


def test_a_flat_distribution_over_a_large_vocabulary_keeps_its_nucleus():
    tokens = drawn(np.zeros(50_000, dtype=np.float32), times=50, temperature=1.0, top_p=0.5)
    assert max(tokens) < 25_000
    assert len(tokens) > 45


def test_a_temperature_near_0_takes_the_best_without_overflow():
    assert drawn(np.array([1e4, -1e4, 9e3], dtype=np.float32), temperature=1e-30) == {0: 400}


def test_each_sample_and_place_has_its_own_number_and_each_seed_another():
    numbers = {uniform(seed, sample, place) for seed in range(10) for sample in range(10) for place in range(10)}
    assert len(numbers) == 1000
    assert uniform(1, 23, 4) != uniform(12, 3, 4)


@given(st.integers(0, 2**63 - 1), st.integers(0, 100), st.integers(0, 2**31))
def test_numbers_are_in_0_to_1_and_repeat(seed, sample, place):
    assert 0 <= uniform(seed, sample, place) < 1
    assert uniform(seed, sample, place) == uniform(seed, sample, place)


@given(
    st.lists(st.floats(-20, 20, width=32), min_size=2, max_size=40),
    st.floats(0.1, 2),
    st.integers(0, 50),
    st.floats(0.05, 1),
    st.integers(0, 1000),
)
def test_only_tokens_of_top_k_and_nucleus_come(logits, temperature, top_k, top_p, place):
    params = SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p)
    token = sample_token(np.array(logits, dtype=np.float32), Draw(params, 0, place))
    weights = np.exp((np.array(logits) - max(logits)) / temperature)
    better = weights[weights > weights[token] * (1 + 1e-5)]
    assert not top_k or len(better) < top_k
    kept = np.sort(weights)[::-1][: top_k or None]
    assert better.sum() <= top_p * kept.sum() * (1 + 1e-5)
