"""What a trace tells of the prefix cache: hits, blocks that are free and still known, evictions, the hit rate."""

from typing import Any

import pytest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS
from engine.workload import ListWorkload

PROMPT = tuple(range(100, 108))


def run(prompts: list[tuple[int, ...]], num_blocks: int = 4, output_len: int = 1, **changes: Any) -> Trace:
    """Prompts one after the other, ten steps apart, blocks of 4."""
    chosen = Settings.of(
        {"block_size": 4, "num_blocks": num_blocks, "prefix_caching": True, "step_time": 1.0, **changes}
    )
    requests = [
        Request(f"r{i}", 10.0 * i, Prompt.of_ids(prompt), SamplingParams(1, output_len))
        for i, prompt in enumerate(prompts)
    ]
    return simulate(chosen, ListWorkload(requests))


def happened(trace: Trace, kind: str) -> list[dict[str, int]]:
    rows = trace.happenings["kind"] == HAPPENINGS.index(kind)
    names = [name for name in trace.happenings if name != "kind"]
    return [
        dict(zip(names, row, strict=True))
        for row in zip(*(trace.happenings[n][rows].tolist() for n in names), strict=True)
    ]


def states(trace: Trace, step: int, at: str = "updated") -> list[str]:
    return [BLOCK_STATES[state] for state in trace.cut(step=step, at=at).tracks["blocks"]["state"].tolist()]


def test_a_block_that_is_given_back_full_is_shown_as_cached_and_full() -> None:
    trace = run([PROMPT[:7]])
    assert states(trace, 0, "scheduled") == ["used", "used", "free", "free"]
    assert states(trace, 0) == ["cached", "free", "free", "free"]
    blocks = trace.cut(step=0).tracks["blocks"]
    assert (blocks["fill"][0], blocks["ref_count"][0], blocks["owner"][0]) == (4, 0, -1)


def test_a_hit_names_its_tokens_and_its_last_block() -> None:
    trace = run([PROMPT, PROMPT])
    (hit,) = happened(trace, "hit")
    assert (hit["request"], hit["sequence"], hit["block"], hit["amount"]) == (1, 1, 0, 4)
    assert states(trace, 1, "scheduled")[0] == "used"
    assert trace.cut(step=1, at="scheduled").table(1)[0] == 0
    assert trace.steps["num_scheduled_tokens"].tolist() == [8, 4]


def test_full_blocks_are_told_when_they_become_known() -> None:
    learned = happened(run([PROMPT, PROMPT[:4] * 2]), "cached")
    assert [(row["sequence"], row["amount"]) for row in learned] == [(0, 2), (1, 1)]


def test_a_cached_block_that_is_taken_is_evicted_and_belongs_to_its_new_owner() -> None:
    trace = run([PROMPT[:4], (1, 2, 3, 4, 5, 6, 7, 8)], num_blocks=2)
    (evicted,) = happened(trace, "evicted")
    assert evicted["block"] == 0
    blocks = trace.cut(step=1, at="scheduled").tracks["blocks"]
    assert blocks["owner"].tolist() == [1, 1]


@pytest.mark.parametrize("register_at", ["schedule", "update"])
def test_a_decoded_block_is_known_after_the_step_that_fills_it(register_at: str) -> None:
    trace = run([PROMPT[:6]], output_len=4, register_at=register_at)
    learned = happened(trace, "cached")
    assert [trace.step_of(row["event"]) for row in learned] == [0, 2]
    assert states(trace, 3) == ["cached", "cached", "free", "free"]


def test_the_hit_rate_counts_prompts_at_their_first_admission() -> None:
    assert measure(run([PROMPT, PROMPT])).hit_rate == 4 / 16
    assert measure(run([PROMPT])).hit_rate == 0.0
    assert measure(run([PROMPT, PROMPT], prefix_caching=False)).hit_rate is None
    assert measure(run([])).hit_rate is None


def test_who_resumes_finds_what_is_left_of_its_own_blocks_and_that_is_no_part_of_the_hit_rate() -> None:
    """The first takes the end of the second's two blocks for its thirteenth token."""
    chosen = Settings(block_size=4, num_blocks=5, prefix_caching=True, step_time=1.0, free_list="uncached_first")
    requests = [Request(f"r{i}", 0.0, Prompt.of_length(8, i), SamplingParams(1, 8)) for i in range(2)]
    trace = simulate(chosen, ListWorkload(requests))
    metrics = measure(trace)
    assert metrics.num_preemptions == 1
    assert [hit["amount"] for hit in happened(trace, "hit")] == [4]
    assert metrics.hit_rate == 0.0
