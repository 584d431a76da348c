"""Prefill first: a step computes prompts or decodes, never both."""

from typing import Any

from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings


def steps(requests: list[tuple[str, int, int]], **changes: Any) -> list[dict[str, int]]:
    """Tokens by request of every step; all requests are there from the start."""
    chosen = Settings.of(
        {"policy": "prefill_first", "block_size": 4, "over_budget": "wait", "step_time": 1.0, **changes}
    )
    engine = Engine(chosen)
    for index, (name, prompt_len, output_len) in enumerate(requests):
        engine.submit(Request(name, 0.0, Prompt.of_length(prompt_len, index), SamplingParams(1, output_len)))
    taken = []
    while (batch := engine.schedule()) is not None:
        taken.append({row.sequence.group.request.request_id: row.num_tokens for row in batch.rows})
        engine.update(batch, engine.executor.execute(batch))
    return taken


def test_prompts_run_alone_and_everybody_decodes_after_them() -> None:
    assert steps([("a", 6, 3), ("b", 5, 2)]) == [{"a": 6, "b": 5}, {"a": 1, "b": 1}, {"a": 1}]


def test_only_the_first_prompt_of_a_step_may_be_cut() -> None:
    taken = steps([("a", 6, 2), ("b", 12, 2)], max_num_batched_tokens=10)
    assert taken == [{"a": 6}, {"b": 10}, {"b": 2}, {"a": 1, "b": 1}]


def test_who_decodes_waits_while_a_prompt_enters() -> None:
    taken = steps([("a", 4, 4), ("b", 4, 2), ("c", 4, 2)], max_num_seqs=2)
    assert taken == [{"a": 4, "b": 4}, {"a": 1, "b": 1}, {"c": 4}, {"a": 1, "c": 1}, {"a": 1}]
