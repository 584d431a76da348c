"""The known workloads of the prefix cache and of whole steps have their exact counts."""

import pytest

from engine.presets import NANO_VLLM, VLLM_V1, Preset
from tests.workloads.blocks import prompts, w1_cached
from tests.workloads.steps import conversations, w3
from tests.workloads.targets import TARGETS, misses


def test_prompts_and_conversations_are_the_seeded_ones() -> None:
    assert [len(prompts(kind)) for kind in ("unique", "shared")] == [2_000, 2_000]
    assert len({tuple(prompt[:256]) for prompt in prompts("shared")}) == 20
    lengths = [(len(prompt), output) for prompt, output in conversations()]
    assert len(lengths) == 256
    assert all(64 <= prompt <= 512 and 16 <= output <= 128 for prompt, output in lengths)


def test_prompts_that_share_nothing_hit_nothing() -> None:
    figures = w1_cached("unique")
    assert (figures["hit_tokens"], figures["free_blocks"]) == (0, 4_096)


def test_twenty_shared_beginnings_give_the_known_hit_rate() -> None:
    figures = w1_cached("shared")
    assert (round(figures["hit_rate"], 4), figures["free_blocks"]) == (0.8448, 4_096)


@pytest.mark.parametrize(("preset", "steps", "tokens"), [(VLLM_V1, 448, 95_303), (NANO_VLLM, 585, None)])
def test_whole_runs_take_the_known_number_of_steps(preset: Preset, steps: int, tokens: int | None) -> None:
    figures = w3(preset)
    assert (figures["steps"], figures["finished"]) == (steps, 256)
    assert tokens in (None, figures["scheduled_tokens"])


def test_a_count_that_is_not_the_engines_is_named() -> None:
    exact = {name: dict(targets) for name, targets in TARGETS.items()}
    assert misses(exact) == []
    exact["W3 nano-vllm"]["steps"] = 586
    exact["W1c"]["hit_rate"] = 0.84484
    assert misses(exact) == ["W3 nano-vllm: steps is 586, the engine has 585."]
