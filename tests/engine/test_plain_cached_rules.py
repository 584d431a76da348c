"""The engine with the settings of vLLM V1 takes every decision as the plain rules do: tokens, victims, blocks, hits."""

import random
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch import StepOutput
from engine.kv.paged import PagedKV
from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from tests.engine.plain_cached_rules import Asked, Limits, PlainCachedRules

MAX_LEN = 20
PROMPTS = st.one_of(
    st.lists(st.sampled_from([7, 8]), min_size=1, max_size=MAX_LEN - 2),
    st.integers(1, MAX_LEN - 2).map(lambda length: [7] * length),
)
ASKED = st.builds(
    dict,
    prompt=PROMPTS,
    output=st.integers(1, 12),
    emit=st.sampled_from([7, 8, 9]),
    priority=st.integers(0, 2),
    arrival=st.integers(0, 3),
)
LIMITS = st.builds(
    Limits,
    num_blocks=st.just(0),
    block_size=st.integers(1, 5),
    seats=st.integers(1, 5),
    budget=st.sampled_from([MAX_LEN, 3, 7, 40]),
    chunked=st.booleans(),
    reserve_full=st.booleans(),
    by_priority=st.booleans(),
    watermark=st.sampled_from([0.0, 0.0, 0.2]),
    threshold=st.sampled_from([0, 0, 4]),
    caching=st.booleans(),
    uncached_first=st.booleans(),
)
ORDERS = st.lists(st.one_of(ASKED, st.integers(1, 6)), min_size=1, max_size=14)


def engine_of(limits: Limits) -> Engine:
    return Engine(
        Settings(
            policy="chunked" if limits.chunked else "continuous",
            block_size=limits.block_size,
            num_blocks=limits.num_blocks,
            null_block=True,
            free_list="uncached_first" if limits.uncached_first else "all_at_tail",
            prefix_caching=limits.caching,
            on_duplicate="keep_first",
            keep_unwritten=True,
            max_num_seqs=limits.seats,
            max_num_batched_tokens=limits.budget,
            max_model_len=MAX_LEN,
            admit_full_prompt=limits.reserve_full,
            queue_order="priority" if limits.by_priority else "fcfs",
            victim="lowest_priority" if limits.by_priority else "last_admitted",
            watermark=limits.watermark,
            long_prefill_token_threshold=limits.threshold or None,
            over_budget="wait",
            step_time=1.0,
        )
    )


def state_of(engine: Engine, batch: Any) -> dict[str, Any]:
    kv = engine.kv
    assert isinstance(kv, PagedKV)
    rows = batch.rows if batch is not None else []
    running = [seq.group for seq in engine.scheduler.running.values()]
    return {
        "scheduled": {row.sequence.group.request.request_id: row.num_tokens for row in rows},
        "running": [group.request.request_id for group in running],
        "waiting": [group.request.request_id for group in engine.scheduler.waiting],
        "tables": {group.request.request_id: group.lead.block_table for group in running},
        "computed": {group.request.request_id: group.lead.num_computed_tokens for group in running},
        "free": kv.pool.free_list.ids(),
    }


@given(limits=LIMITS, orders=ORDERS, spare=st.integers(0, 8))
@settings(deadline=None, max_examples=200)
def test_every_step_is_that_of_the_plain_rules(limits: Limits, orders: list[Any], spare: int) -> None:
    compare(limits, orders, spare)


@pytest.mark.parametrize("seed", range(60))
def test_every_step_of_a_crowded_run_is_that_of_the_plain_rules(seed: int) -> None:
    limits, orders, spare = crowded(random.Random(seed))
    compare(limits, orders, spare)


def crowded(rng: random.Random) -> tuple[Limits, list[Any], int]:
    """Many requests with few beginnings and little memory, so that they preempt each other and find their blocks again."""
    limits = Limits(
        num_blocks=0,
        block_size=rng.choice([1, 2, 3, 4]),
        seats=rng.randint(2, 6),
        budget=rng.choice([3, 8, MAX_LEN, 60]),
        chunked=rng.random() < 0.7,
        reserve_full=rng.random() < 0.6,
        by_priority=rng.random() < 0.5,
        watermark=rng.choice([0.0, 0.0, 0.15]),
        threshold=rng.choice([0, 0, 5]),
        caching=rng.random() < 0.85,
        uncached_first=rng.random() < 0.7,
    )
    beginnings = [[rng.randrange(50) for _ in range(rng.randint(4, MAX_LEN - 4))] for _ in range(3)]
    orders: list[Any] = []
    for _ in range(rng.randint(8, 25)):
        prompt = (rng.choice(beginnings)[: rng.randint(1, MAX_LEN)] + [rng.randrange(50)] * rng.randint(0, 3))[
            : MAX_LEN - 2
        ]
        order = {"prompt": prompt, "output": rng.randint(1, 14), "emit": rng.randrange(50)}
        orders.append({**order, "priority": rng.randrange(3), "arrival": rng.randrange(4)})
        if rng.random() < 0.4:
            orders.append(rng.randint(1, 4))
    return limits, [*orders, 60], rng.randint(0, 6)


def compare(limits: Limits, orders: list[Any], spare: int) -> None:
    """Both step by step: an order is a request to add or a number of steps."""
    if not limits.chunked:
        limits.budget = max(limits.budget, MAX_LEN)
    limits.num_blocks = -(-MAX_LEN // limits.block_size) + spare
    rules, engine = PlainCachedRules(limits), engine_of(limits)
    for number, order in enumerate(orders):
        if isinstance(order, dict):
            output = min(order["output"], MAX_LEN - len(order["prompt"]))
            name = f"r{number:02}"
            rules.add(Asked(name, **{**order, "output": output}))
            script = ((order["emit"],) * output,)
            request = Request(name, order["arrival"], Prompt.of_ids(order["prompt"]), SamplingParams(1, output))
            request.priority, request.output_script = order["priority"], script
            engine.submit(request)
            continue
        for _ in range(order):
            before = astuple(engine.scheduler.cache_stats)
            batch = engine.schedule()
            rules.schedule()
            ours = state_of(engine, batch)
            assert ours == {
                "scheduled": rules.scheduled,
                "running": [request.name for request in rules.running],
                "waiting": [request.name for request in rules.waiting],
                "tables": {request.name: request.table for request in rules.running},
                "computed": {request.name: request.computed for request in rules.running},
                "free": rules.free,
            }
            now = astuple(engine.scheduler.cache_stats)
            assert [b - a for a, b in zip(before, now, strict=True)] == rules.looked_up
            if batch is not None:
                engine.update(batch, StepOutput(1.0))
            rules.update()
            engine.check()
