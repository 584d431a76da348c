"""What a run would take is known before it starts, and who asks for too much is told what helps."""

from typing import Any

import pytest

from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from scenarios import memory
from scenarios.fields import ScenarioError
from scenarios.memory import (
    BYTES_PER_BLOCK,
    BYTES_PER_KEPT_TOKEN,
    BYTES_PER_PAGE,
    BYTES_PER_REQUEST,
    BYTES_PER_STEP,
    BYTES_PER_TOKEN,
    Need,
    estimate,
    refuse_if_too_large,
)
from scenarios.operations import need_of_ops
from scenarios.run import run
from scenarios.scenario import Scenario


def need(num_requests: int, num_blocks: int, num_steps: int) -> Need:
    return Need(num_requests * BYTES_PER_REQUEST, num_blocks * BYTES_PER_BLOCK, num_steps * BYTES_PER_STEP)


def test_requests_need_blocks_for_their_prompt_and_all_tokens_but_the_last() -> None:
    requests = [Request("a", 0.0, Prompt.of_length(9), SamplingParams(2, 8))]
    assert estimate(Settings(block_size=4), requests) == need(2, 2 * 4, 8)
    assert estimate(Settings(block_size=4, num_blocks=3), requests) == need(2, 0, 8)
    assert estimate(Settings(block_size=4, max_steps=5), requests) == need(2, 8, 5)


def test_a_radix_tree_needs_memory_for_each_token_and_more_while_it_is_kept() -> None:
    """Two prompts of 8 tokens and 2 tokens of their answers that are stored: 20 tokens, of which 16 fit into the pool."""
    requests = [Request(name, 0.0, Prompt.of_length(8), SamplingParams(1, 3)) for name in "ab"]
    tree = estimate(Settings(kv_manager="radix", block_size=4, num_blocks=4), requests).tree
    assert tree == 5 * BYTES_PER_PAGE + 20 * BYTES_PER_TOKEN + 16 * BYTES_PER_KEPT_TOKEN
    assert estimate(Settings(kv_manager="radix", block_size=4, num_blocks=2), requests).tree == 0
    inserts = [("insert", [1, 2, 3, 4, 5]), ("lock", "a", [1, 2, 3])]
    wanted = need_of_ops(Settings(kv_manager="radix", block_size=1, num_blocks=20), inserts)
    assert wanted.tree == 8 * (BYTES_PER_PAGE + BYTES_PER_TOKEN + BYTES_PER_KEPT_TOKEN)


@pytest.mark.parametrize(
    ("ops", "requests", "blocks"),
    [
        ([("allocate", "a", 9)], 1, 3),
        ([("allocate", "a", 9), ("append", "a", 3), ("append", "a", 1)], 1, 4),
        ([("allocate", "a", [1, 2]), ("free", "a"), ("allocate", "a", 4)], 2, 2),
        ([("allocate", "a", 9), ("fork", "a", "b"), ("append", "b", 1)], 2, 3 + 3 + 1),
        ([("allocate", "a", 41)], 0, 0),
        ([("allocate", "a", 32), ("allocate", "b", 12), ("allocate", "c", 8)], 2, 10),
        ([("free", "a"), ("fork", "a", "b"), ("append", "a", 3), ("match", 3), ("evict", 2)], 0, 0),
    ],
)
def test_operations_need_a_block_for_each_that_a_sequence_gets(ops: list[Any], requests: int, blocks: int) -> None:
    assert need_of_ops(Settings(block_size=4, num_blocks=10), ops) == need(requests, blocks, len(ops))


@pytest.mark.parametrize(
    ("wanted", "advice"),
    [
        (need(0, 100, 10), "take fewer chats, or a larger block_size."),
        (need(0, 10, 1000), "take fewer chats, or a smaller max_steps."),
        (need(100, 10, 10), "take fewer chats."),
    ],
)
def test_the_advice_names_what_most_of_the_memory_is_spent_on(
    monkeypatch: pytest.MonkeyPatch, wanted: Need, advice: str
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2 * wanted.total)
    refuse_if_too_large(wanted)
    monkeypatch.setattr(memory, "available", lambda: 2 * wanted.total - 2)
    with pytest.raises(ScenarioError, match="of memory") as caught:
        refuse_if_too_large(wanted, "fewer chats")
    assert str(caught.value).endswith(advice)


def test_a_story_told_by_operations_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    story = Scenario(
        name="wide",
        title={"en": ""},
        story={"en": ""},
        settings=Settings(block_size=1),
        ops=(("allocate", "a", 10**7),),
    )
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    with pytest.raises(
        ScenarioError, match=r"about 5\.5 GB of memory .* take fewer or smaller operations, or a larger"
    ):
        run(story)
