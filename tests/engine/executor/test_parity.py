"""The real model on pages answers as transformers does without: 8 prompts in five languages, 64 tokens each, float32.

Not every setting meets every other one here (the tiny model does that in `test_paged_torch`); each value of each setting
comes up, and the pairs that are most likely to disturb each other. `pytest -s` shows the near-ties of the reference.
"""

from itertools import takewhile

import pytest

pytest.importorskip("torch", reason="the live engine needs torch")
pytest.importorskip("transformers", reason="the reference is transformers")

from engine.executor.paged_torch import TorchExecutor
from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from tests.engine.executor.parity import NUM_TOKENS, num_preemptions, serve
from tests.engine.executor.tiny_checkpoint import greedy

pytestmark = pytest.mark.slow

CACHES = {"hashed": {"prefix_caching": True}, "radix": {"kv_manager": "radix"}}


def pool(num_tokens: int, block_size: int, **settings) -> Settings:
    return Settings(block_size=block_size, num_blocks=-(-num_tokens // block_size), **settings)


def test_the_reference_has_few_near_ties(answers) -> None:
    assert len(answers) == 8
    assert sum(answer.num_certain for answer in answers) > 0.9 * 8 * NUM_TOKENS


def test_the_decoder_without_pages_is_the_same(decoder, answers) -> None:
    answer = answers[0]
    ids = greedy(decoder, list(answer.prompt), NUM_TOKENS)
    assert ids[: answer.num_certain] == answer.token_ids[: answer.num_certain]


@pytest.mark.parametrize(
    ("policy", "budget", "seats", "block_size"),
    [
        ("static", None, 4, 16),
        ("continuous", 256, 5, 64),
        ("continuous", None, None, 1),
        ("chunked", 8, None, 4),
        ("chunked", 64, None, 16),
    ],
)
def test_policies_block_sizes_and_budgets(decoder, answers, policy, budget, seats, block_size) -> None:
    engine = serve(
        decoder, pool(2048, block_size, policy=policy, max_num_batched_tokens=budget, max_num_seqs=seats), answers
    )
    assert num_preemptions(engine) == 0


@pytest.mark.parametrize(
    ("policy", "budget", "block_size"),
    [("static", None, 4), ("continuous", None, 16), ("chunked", 64, 1), ("chunked", 8, 64)],
)
def test_whoever_is_preempted_goes_on_as_if_nothing_had_been(decoder, answers, policy, budget, block_size) -> None:
    engine = serve(decoder, pool(448, block_size, policy=policy, max_num_batched_tokens=budget), answers)
    assert num_preemptions(engine) > 0


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize(
    ("policy", "budget", "block_size", "num_tokens"),
    [("continuous", None, 1, 2048), ("chunked", 64, 16, 2048), ("chunked", 8, 4, 320)],
)
def test_found_prefixes_change_nothing(decoder, answers, cache, policy, budget, block_size, num_tokens) -> None:
    settings = pool(
        num_tokens, block_size, policy=policy, max_num_batched_tokens=budget, max_num_seqs=4, **CACHES[cache]
    )
    engine = serve(decoder, settings, answers)
    # every other prompt is a question, and all four begin alike; the last two ask when that is known
    questions = zip(*(answer.prompt for answer in answers[::2]), strict=False)
    num_shared = len(list(takewhile(lambda tokens: len(set(tokens)) == 1, questions)))
    assert num_shared > 16
    assert engine.scheduler.cache_stats.hits >= 2 * (num_shared // block_size * block_size)


@pytest.mark.parametrize("manager", ["paged", *CACHES])
def test_four_samples_share_their_prompt_and_copy_what_they_write(decoder, answers, manager) -> None:
    settings = pool(2048, 16, policy="chunked", max_num_batched_tokens=64, **CACHES.get(manager, {}))
    engine = serve(decoder, settings, answers[:2], n=4)
    assert engine.executor.num_copies >= 3 * sum(len(answer.prompt) % 16 > 0 for answer in answers[:2])


def test_a_sampled_answer_is_the_same_alone_and_in_a_mixed_batch(decoder, answers) -> None:
    sampling = SamplingParams(max_tokens=NUM_TOKENS, temperature=0.8, top_k=50, top_p=0.95, seed=7)
    first = Request("sampled", 0.0, Prompt.of_ids(answers[0].prompt), sampling)
    others = [
        Request(str(i), 0.0, Prompt.of_ids(answer.prompt), SamplingParams(max_tokens=NUM_TOKENS))
        for i, answer in enumerate(answers[1:5])
    ]

    def answer_of(settings: Settings, requests: list[Request]) -> list[int]:
        engine = Engine(settings, executor=TorchExecutor(decoder, settings))
        engine.run(ListWorkload(requests))
        return engine.groups[0].sequences[0].output_token_ids

    alone = answer_of(pool(256, 16), [first])
    assert alone != answers[0].token_ids
    mixed = pool(320, 4, policy="chunked", max_num_batched_tokens=24, prefix_caching=True)
    assert answer_of(mixed, [first, *others]) == alone
