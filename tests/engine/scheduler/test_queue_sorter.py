"""The waiting queue sorted by the prefix cache, the same on a radix tree and on known blocks."""

from typing import Any

import pytest

from engine.kv.eviction import POLICIES
from engine.kv.radix import RadixKV
from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.scheduler.order import ORDERS
from engine.settings import CHOICES, Settings
from engine.trace.listener import Listener
from engine.workload import ListWorkload

BOTH = pytest.mark.parametrize("cache", [{"kv_manager": "radix"}, {"prefix_caching": True}], ids=["radix", "blocks"])


class Admissions(Listener):
    def __init__(self) -> None:
        self.order: list[str] = []

    def admitted(self, group: Any, num_tokens: int, resumed: bool) -> None:
        self.order.append(group.request.request_id)


def admitted(prompts: dict[str, list[int]], **settings: Any) -> list[str]:
    """Who is admitted in which order, one at a time, when all come after `warm` has left its prompt in the cache."""
    heard = Admissions()
    engine = Engine(
        Settings(**{"block_size": 1, "num_blocks": 200, "max_num_seqs": 1, "step_time": 1.0, **settings}), heard
    )
    requests = [Request("warm", 0.0, Prompt.of_ids(prompts.pop("warm")), SamplingParams(1, 1))]
    requests += [Request(name, 5.0, Prompt.of_ids(ids), SamplingParams(1, 1)) for name, ids in prompts.items()]
    engine.run(ListWorkload(requests))
    engine.check()
    return heard.order[1:]


PROMPTS = {"warm": [1, 2, 3, 4, 5, 6], "cold": [9, 9], "two": [1, 2, 7, 7, 7], "five": [1, 2, 3, 4, 5, 8]}


@BOTH
def test_the_longest_cached_prefix_is_tried_first(cache):
    assert admitted(dict(PROMPTS), **cache) == ["cold", "two", "five"]
    assert admitted(dict(PROMPTS), **cache, queue_order="longest_prefix_first") == ["five", "two", "cold"]


@BOTH
def test_the_fewest_tokens_to_compute_are_tried_first(cache):
    assert admitted(dict(PROMPTS), **cache, queue_order="shortest_prefill_first") == ["five", "cold", "two"]


@BOTH
def test_depth_first_follows_the_heaviest_branch(cache):
    prompts = {"warm": [1, 2, 3, 4], "x": [9, 9], "light": [5, 5, 6], "heavy": [1, 2, 7], "heavier": [1, 2, 3, 4, 8]}
    assert admitted(prompts, **cache, queue_order="depth_first") == ["heavier", "heavy", "x", "light"]


@BOTH
def test_a_queue_that_is_too_long_is_served_as_it_stands(cache):
    chosen = {**cache, "queue_order": "longest_prefix_first", "queue_fall_back_above": 2}
    assert admitted(dict(PROMPTS), **chosen) == ["cold", "five", "two"]  # 3 wait, then 2


@BOTH
def test_who_shares_with_one_before_it_waits_until_that_is_cached(cache):
    prompts = {"warm": [1], "a": [5, 6, 7, 8], "b": [5, 6, 7, 9], "c": [4, 4]}
    chosen = {**cache, "queue_order": "longest_prefix_first"}
    assert admitted(dict(prompts), **chosen, max_num_batched_tokens=4) == ["a", "b", "c"]
    chosen |= {"in_batch_check": 2, "in_batch_share": 3, "max_num_seqs": 3}
    assert admitted(dict(prompts), **chosen) == ["a", "c", "b"]


@BOTH
def test_aging_lets_a_request_without_a_shared_prefix_pass(cache):
    prompts = {"warm": [1, 2, 3], "cold": [9, 9], **{f"hot{i}": [1, 2, 3, 10 + i] for i in range(4)}}
    chosen = {**cache, "queue_order": "longest_prefix_first"}
    assert admitted(dict(prompts), **chosen)[-1] == "cold"
    assert sorted(admitted(dict(prompts), **chosen, queue_aging=1)[:4]) == ["hot0", "hot1", "hot2", "hot3"]


def test_without_a_cache_a_cache_aware_order_is_first_come_first_served():
    assert admitted(dict(PROMPTS), queue_order="longest_prefix_first") == ["cold", "two", "five"]


def test_a_look_of_the_order_counts_as_a_use_only_when_asked_for():
    """While one request has the only seat, two others wait and are looked up in every step."""
    num_nodes, ages = {}, {}
    for touches in (False, True):
        chosen = Settings(kv_manager="radix", block_size=1, num_blocks=40, max_num_seqs=1, order_touches=touches).with_(
            queue_order="longest_prefix_first", step_time=1.0
        )
        engine = Engine(chosen)
        assert isinstance(engine.kv, RadixKV)
        engine.run(ListWorkload([Request("warm", 0.0, Prompt.of_ids([1, 2, 3, 4]), SamplingParams(1, 1))]))
        for name, ids in (("long", [7, 8]), ("a", [1, 2, 9]), ("b", [1, 2, 8])):
            engine.submit(Request(name, 0.0, Prompt.of_ids(ids), SamplingParams(1, 9)))
            engine.step()
        num_nodes[touches], ages[touches] = engine.kv.tree.num_nodes, engine.kv.tree.root.last_access
    assert num_nodes == {False: 2, True: 3}  # [1 2 3 4] and [7 8]; a look split the first one
    assert ages[False] < ages[True]


def test_the_settings_name_every_order_and_every_eviction_policy():
    assert CHOICES["queue_order"] == tuple(ORDERS)
    assert CHOICES["eviction"] == tuple(POLICIES)
