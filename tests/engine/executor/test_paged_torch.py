"""The live engine answers as if there were no pages: every policy, block size and budget, preempted, cached, forked."""

import random
from functools import cache

import pytest

torch = pytest.importorskip("torch", reason="the live engine needs torch")

from engine.batch import Batch, StepOutput
from engine.executor.model_error import ModelError
from engine.executor.paged_torch import TorchExecutor, best_of, tokens_of
from engine.live import LiveEngine
from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from tests.engine.executor.tiny_llama import VOCABULARY, TinyLlama, TinyShape, all_logits, answer

MODEL = TinyLlama()
GREEDY = SamplingParams(max_tokens=12)
LENGTHS = (1, 3, 30, 4, 16, 17, 5, 22)


class Watched(TorchExecutor):
    """Counts the blocks that were copied and keeps the logits of the last step."""

    num_copies = 0

    def execute(self, batch: Batch) -> StepOutput:
        self.num_copies += len(batch.copies)
        return super().execute(batch)

    def _forward(self, rows):
        self.logits = super()._forward(rows)
        return self.logits


def prompt(length: int, seed: int = 0) -> tuple[int, ...]:
    draw = random.Random(f"{length} {seed}")
    return tuple(draw.randrange(VOCABULARY) for _ in range(length))


PROMPTS = tuple(prompt(length) for length in LENGTHS)


@cache
def expected(ids: tuple[int, ...], params: SamplingParams = GREEDY, sample: int = 0) -> list[int]:
    return answer(MODEL, ids, params, sample)


def run(settings: Settings, requests: list[tuple[tuple[int, ...], SamplingParams]], gap: float = 0.0) -> Engine:
    """Serve the requests to their end and check every answer against the reference."""
    engine = Engine(settings, executor=Watched(MODEL, settings))
    arrivals = [Request(str(i), i * gap, Prompt.of_ids(ids), params) for i, (ids, params) in enumerate(requests)]
    engine.run(ListWorkload(arrivals))
    engine.check()
    for group, (ids, params) in zip(engine.groups, requests, strict=True):
        assert group.is_finished
        for seq in group.sequences:
            assert seq.output_token_ids == expected(ids, params, seq.sample), f"{seq} of {len(ids)} prompt tokens"
    return engine


def num_preemptions(engine: Engine) -> int:
    return sum(group.num_preemptions for group in engine.groups)


@pytest.mark.parametrize("block_size", [1, 4, 16, 64])
@pytest.mark.parametrize("policy, budget", [("static", None), ("continuous", 64), ("chunked", 8), ("chunked", 64)])
def test_answers_do_not_depend_on_policy_block_size_and_budget(policy, budget, block_size):
    settings = Settings(
        policy=policy,
        block_size=block_size,
        num_blocks=-(-512 // block_size),
        max_num_batched_tokens=budget,
        max_num_seqs=5,
    )
    engine = run(settings, [(ids, GREEDY) for ids in PROMPTS])
    assert num_preemptions(engine) == 0


@pytest.mark.parametrize("block_size", [1, 4, 16])
@pytest.mark.parametrize("policy, budget", [("static", None), ("continuous", 64), ("chunked", 8)])
def test_a_preempted_request_computes_prompt_and_output_again_and_goes_on(policy, budget, block_size):
    settings = Settings(
        policy=policy, block_size=block_size, num_blocks=-(-64 // block_size), max_num_batched_tokens=budget
    )
    engine = run(settings, [(ids, GREEDY) for ids in PROMPTS])
    assert num_preemptions(engine) > 0


@pytest.mark.parametrize("cache_of", [{"prefix_caching": True}, {"kv_manager": "radix"}])
@pytest.mark.parametrize("policy, budget", [("continuous", None), ("chunked", 8)])
@pytest.mark.parametrize("num_blocks", [64, 22])
def test_cached_prefixes_give_the_same_answers(cache_of, policy, budget, num_blocks):
    system = prompt(19, seed=1)
    asked = [system + prompt(length, seed=length) for length in (2, 5, 9, 2, 13)]
    settings = Settings(
        policy=policy, num_blocks=num_blocks, block_size=4, max_num_batched_tokens=budget, max_num_seqs=2, **cache_of
    )
    engine = run(settings, [(ids, GREEDY) for ids in asked])
    # the last two prompts at least find the 4 full blocks that all share
    assert engine.scheduler.cache_stats.hits >= 2 * 16


@pytest.mark.parametrize("cache_of", [{"prefix_caching": True}, {"kv_manager": "radix"}])
def test_an_answer_that_is_asked_on_is_found_in_the_cache(cache_of):
    settings = Settings(num_blocks=64, block_size=4, **cache_of)
    first = prompt(10)
    second = first + tuple(expected(first)) + prompt(3, seed=2)
    engine = run(settings, [(first, GREEDY), (second, GREEDY)], gap=1e6)
    # 10 + 12 tokens, of which the last has no KV: 5 full blocks
    assert engine.scheduler.cache_stats.hits == 20


def test_equal_prompts_of_one_step_share_blocks_that_this_step_computes():
    settings = Settings(num_blocks=64, block_size=4, prefix_caching=True)
    engine = run(settings, [(prompt(21), GREEDY)] * 3)
    assert engine.scheduler.cache_stats.hits == 2 * 20


def test_the_tree_takes_over_equal_pages_and_tables_follow():
    settings = Settings(num_blocks=64, block_size=4, kv_manager="radix")
    engine = run(settings, [(prompt(21), GREEDY)] * 3)
    # all three computed their own copy in step 0; the tree kept one of each full page
    assert len(list(engine.kv.tree.root.below())) >= 1
    assert engine.kv.pool.num_cached == (21 + 12 - 1) // 4


@pytest.mark.parametrize("cache_of", [{}, {"prefix_caching": True}, {"kv_manager": "radix"}])
@pytest.mark.parametrize("num_blocks", [64, 17])
def test_four_samples_share_the_prompt_and_copy_the_open_block(cache_of, num_blocks):
    params = SamplingParams(n=4, max_tokens=10, temperature=1.0, seed=3)
    settings = Settings(num_blocks=num_blocks, block_size=4, **cache_of)
    requests = [(prompt(18), params), (prompt(7), GREEDY), (prompt(9), GREEDY)]
    engine = run(settings, requests)
    answers = {tuple(seq.output_token_ids) for seq in engine.groups[0].sequences}
    assert len(answers) == 4
    # 18 tokens leave two slots of the fifth block: three samples copy it, the last writes in place
    assert engine.executor.num_copies >= 3
    assert (num_preemptions(engine) > 0) == (num_blocks == 17)


def test_a_sampled_answer_is_the_same_alone_and_in_a_mixed_batch():
    params = SamplingParams(max_tokens=16, temperature=0.8, top_k=40, top_p=0.9, seed=11)
    alone = run(Settings(num_blocks=64, block_size=4), [(prompt(9), params)])
    crowd = [(prompt(9), params), *((ids, GREEDY) for ids in PROMPTS)]
    mixed = run(Settings(num_blocks=256, block_size=4, policy="chunked", max_num_batched_tokens=16), crowd)
    assert mixed.groups[0].sequences[0].output_token_ids == alone.groups[0].sequences[0].output_token_ids
    assert mixed.groups[0].sequences[0].output_token_ids != expected(prompt(9), SamplingParams(max_tokens=16))


@pytest.mark.parametrize("budget", [1, 7, 16, 50])
def test_a_chunk_attends_to_what_earlier_chunks_stored(budget):
    settings = Settings(policy="chunked", max_num_batched_tokens=budget, num_blocks=16, block_size=8)
    ids = prompt(50)
    engine = run(settings, [(ids, SamplingParams(max_tokens=1))])
    assert engine.num_steps == -(-50 // budget)
    whole = all_logits(MODEL, ids)[-1]
    assert (engine.executor.logits[0] - whole).abs().max() < 1e-5 * whole.abs().max()


def test_with_the_cache_32_tokens_cost_32_computations_and_without_it_528():
    one_layer = TinyLlama(TinyShape(num_layers=1))
    first, params = (5,), SamplingParams(max_tokens=32)
    settings = Settings(num_blocks=8, block_size=16)
    engine = Engine(settings, executor=TorchExecutor(one_layer, settings))
    engine.run(ListWorkload([Request("a", 0.0, Prompt.of_ids(first), params)]))
    with_cache = one_layer.num_computed_tokens
    again = answer(one_layer, first, params)
    assert engine.groups[0].sequences[0].output_token_ids == again
    # 1 + 2 + ... + 32
    assert (with_cache, one_layer.num_computed_tokens - with_cache) == (32, 528)


def test_500_requests_at_once_are_answered_one_after_the_other_and_who_can_never_run_disturbs_nobody():
    settings = Settings(policy="chunked", num_blocks=24, block_size=4, max_num_batched_tokens=32, max_model_len=64)
    live = LiveEngine(settings, TorchExecutor(MODEL, settings))
    asked = [prompt(1 + i % 9, seed=i % 4) for i in range(500)]
    params = SamplingParams(max_tokens=3)
    groups = [
        live.submit(() if i % 100 == 7 else ids * (70 if i % 100 == 8 else 1), params) for i, ids in enumerate(asked)
    ]
    while live.has_work:
        live.step()
    refused = [live.why_refused(group) for group in groups]
    assert refused[7] == "The prompt is empty; write at least one word."
    assert refused[8] == "The prompt needs a context of 631 tokens and there are 64; shorten it."
    assert sum(why is not None for why in refused) == 10
    for group, ids, why in zip(groups, asked, refused, strict=True):
        if why is None:
            assert group.sequences[0].output_token_ids == expected(ids, params)
    assert live.engine.kv.num_used == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_best_token_is_the_first_one_of_the_largest_logit(dtype):
    logits = torch.tensor([[0.0, 2.0, -1.0, 2.0], [-3.0, -2.0, -2.0, -5.0]], dtype=dtype)
    assert best_of(logits) == [1, 1]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_logits_that_are_no_numbers_cost_a_sentence(dtype, bad):
    logits = torch.tensor([[0.0, 2.0, -1.0], [-3.0, bad, float("-inf")]], dtype=dtype)
    assert best_of(logits[:1]) == [1]
    with pytest.raises(ModelError, match=r"gives no numbers .* its file may be damaged"):
        best_of(logits)


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(temperature=0.7), SamplingParams(temperature=0.7, top_k=5)])
def test_a_model_with_damaged_weights_ends_the_run_with_a_sentence(monkeypatch, params):
    damaged = TinyLlama(TinyShape())
    forward = damaged.forward
    monkeypatch.setattr(damaged, "forward", lambda *given: forward(*given) * float("nan"))
    settings = Settings(num_blocks=16, block_size=4)
    live = LiveEngine(settings, TorchExecutor(damaged, settings))
    live.submit(prompt(5), params)
    with pytest.raises(ModelError, match="gives no numbers"):
        live.step()
    assert not live.has_work


def test_every_step_has_a_measured_duration():
    settings = Settings(num_blocks=16, block_size=4)
    engine = run(settings, [(prompt(9), GREEDY)])
    assert 0 < engine.clock < 60


def test_tokens_are_prompt_then_output():
    engine = run(Settings(num_blocks=16, block_size=4), [(prompt(3), GREEDY)])
    seq = engine.groups[0].sequences[0]
    assert tokens_of(seq, 1, 4) == prompt(3)[1:] + tuple(seq.output_token_ids[:2])
    with pytest.raises(ValueError, match="not all of them are known"):
        tokens_of(seq, 10, 6)


def test_a_request_without_ids_is_refused_in_one_sentence():
    settings = Settings(num_blocks=16, block_size=4)
    engine = Engine(settings, executor=TorchExecutor(MODEL, settings))
    engine.submit(Request("a", 0.0, Prompt.of_length(5)))
    with pytest.raises(ValueError, match="request 'a' has no token ids"):
        engine.step()
