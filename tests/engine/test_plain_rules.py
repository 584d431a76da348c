"""The engine takes every decision as the plain rules do: same tokens, same victims, same order, same free blocks."""

from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.request import Prompt, Request, SamplingParams
from engine.settings import POLICIES, Settings
from tests.cases.run_facts import RunFacts
from tests.engine.plain_rules import Asked, PlainRules

SHAPES = st.lists(st.tuples(st.integers(0, 25), st.integers(1, 20), st.integers(0, 14)), min_size=1, max_size=10)
LIMITS = st.tuples(st.integers(5, 24), st.integers(1, 4), st.integers(1, 6), st.sampled_from([3, 8, 16, 64]))


@pytest.mark.parametrize("policy", POLICIES)
@given(shapes=SHAPES, limits=LIMITS, full=st.booleans())
@settings(max_examples=200)
def test_every_step_is_that_of_the_plain_rules(
    policy: str, shapes: list[tuple[int, int, int]], limits: tuple[int, int, int, int], full: bool
) -> None:
    num_blocks, block_size, seats, budget = limits
    shapes = sorted(shapes, key=lambda shape: shape[0])
    rules = PlainRules(
        num_blocks, block_size, seats, budget, chunked=policy == "chunked", static=policy == "static", full=full
    )
    expected = rules.run([Asked(f"r{i}", *shape) for i, shape in enumerate(shapes)])
    chosen = Settings(
        policy=policy,
        num_blocks=num_blocks,
        block_size=block_size,
        max_num_seqs=seats,
        max_num_batched_tokens=budget,
        admit_full_prompt=full,
        step_time=1.0,
        max_steps=5_000,
    )
    requests = [
        Request(f"r{i}", float(arrival), Prompt.of_length(prompt, i), SamplingParams(1, output))
        for i, (arrival, prompt, output) in enumerate(shapes)
    ]
    ours = [step.as_expected() for step in RunFacts.of(chosen, requests).steps]
    for step in ours:
        del step["step"]
    assert ours == [asdict(step) for step in expected]
