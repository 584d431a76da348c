"""Theorem 3.1 of the SGLang paper: with a cache that holds the longest request, depth-first order computes no token of
the requests' tree twice, which is the least possible; and going by the longest cached prefix is such an order.

A request here is the part of a prompt that is stored; the token after it, which is always computed, is not counted.
"""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.kv.eviction import POLICIES
from engine.kv.radix_tree import SPLIT_AGES, RadixTree
from engine.loop import simulate
from engine.request import Prompt as RequestPrompt
from engine.request import Request, SamplingParams
from engine.scheduler.order import QueueOrder, Waiting
from engine.settings import Settings
from engine.trace.track import HAPPENINGS
from engine.workload import ListWorkload

Prompt = tuple[int, ...]


class Cache:
    """A tree that never holds more than `capacity` tokens; runs one request at a time."""

    def __init__(self, capacity: int, policy: str = "lru", split_age: str = "upper") -> None:
        self.tree = RadixTree(policy=POLICIES[policy], split_age=split_age)
        self.capacity = capacity
        self.num_computed = 0
        self.num_evicted = 0

    def run(self, prompt: Prompt) -> None:
        match = self.tree.match_prefix(prompt)
        self.tree.lock(match.node)
        missing = self.tree.num_tokens + len(prompt) - match.num_tokens - self.capacity
        self.num_evicted += sum(len(node.key) for node in self.tree.evict(missing))
        self.num_computed += self.tree.insert(prompt).num_new
        self.tree.unlock(match.node)
        self.tree.check()
        assert self.tree.num_tokens <= self.capacity


def waiting(prompts: list[Prompt]) -> list[Waiting]:
    return [Waiting(prompt, len(prompt) + 1, prompt) for prompt in prompts]


def tree_of_all(prompts: list[Prompt]) -> RadixTree:
    tree = RadixTree()
    for prompt in prompts:
        tree.insert(prompt)
    return tree


def run_depth_first(cache: Cache, prompts: list[Prompt]) -> Cache:
    everything = tree_of_all(prompts)
    order = QueueOrder("depth_first").sort(waiting(prompts), lambda entry: everything.match_prefix(entry.tokens))
    for place in order.places:
        cache.run(prompts[place])
    return cache


def run_longest_prefix_first(cache: Cache, prompts: list[Prompt]) -> Cache:
    queue = list(prompts)
    while queue:
        order = QueueOrder("longest_prefix_first").sort(waiting(queue), lambda entry: cache.tree.probe(entry.tokens))
        cache.run(queue.pop(order.places[0]))
    return cache


@st.composite
def request_trees(draw) -> list[Prompt]:
    """Requests that branch off a beginning of an earlier one or start anew, in random order."""
    prompts: list[Prompt] = []
    new = iter(range(10_000))
    for _ in range(draw(st.integers(4, 14))):
        base = draw(st.sampled_from([(), *prompts]))
        kept = base[: draw(st.integers(0, len(base)))]
        prompts.append(kept + tuple(next(new) for _ in range(draw(st.integers(0 if kept else 1, 6)))))
    return draw(st.permutations(prompts))


@given(request_trees(), st.data(), st.sampled_from([*POLICIES]), st.sampled_from(sorted(SPLIT_AGES)))
def test_depth_first_and_longest_prefix_first_compute_every_shared_token_once(prompts, data, policy, split_age):
    total, longest = tree_of_all(prompts).num_tokens, max(map(len, prompts))
    assume(longest <= total // 2)
    capacity = data.draw(st.integers(longest, total // 2))
    for run in (run_depth_first, run_longest_prefix_first):
        cache = run(Cache(capacity, policy, split_age), prompts)
        assert cache.num_computed == total
        assert cache.num_evicted >= total - capacity > 0


@settings(max_examples=60)
@given(request_trees(), st.data())
def test_the_engine_computes_every_shared_token_once(trees, data):
    """The whole engine, one request at a time: the prompts in depth-first order, or in any order and the longest cached
    prefix first. Each prompt has an end of its own, because the engine always computes the last token."""
    prompts = [(*prompt, 10_000 + number) for number, prompt in enumerate(trees)]
    total, longest = tree_of_all(prompts).num_tokens, max(map(len, prompts))
    assume(longest <= total // 2)
    capacity = data.draw(st.integers(longest, total // 2))
    for order, arriving in (("fcfs", sorted(prompts)), ("longest_prefix_first", prompts)):
        requests = [
            Request(f"R{i}", 0.0, RequestPrompt.of_ids(ids), SamplingParams(1, 1)) for i, ids in enumerate(arriving)
        ]
        chosen = Settings(
            kv_manager="radix", block_size=1, num_blocks=capacity, max_num_seqs=1, queue_order=order, step_time=1.0
        )
        trace = simulate(chosen, ListWorkload(requests))
        assert trace.num_steps == len(prompts)
        assert trace.steps["num_scheduled_tokens"].sum() == total
        evicted = trace.happenings["kind"] == HAPPENINGS.index("evicted")
        assert trace.happenings["amount"][evicted].sum() >= total - capacity > 0


def test_in_order_of_arrival_the_same_cache_computes_shared_tokens_again():
    """Two documents of 10 tokens, two questions of 2 to each, asked in turn, room for one document and a question:
    fcfs computes 4 x 12, the others 2 x 10 + 4 x 2."""
    one, other = tuple(range(10)), tuple(range(50, 60))
    prompts = [(*one, 100, 101), (*other, 102, 103), (*one, 104, 105), (*other, 106, 107)]
    fcfs = Cache(14)
    for prompt in prompts:
        fcfs.run(prompt)
    assert fcfs.num_computed == 48
    assert run_depth_first(Cache(14), prompts).num_computed == 28
    assert run_longest_prefix_first(Cache(14), prompts).num_computed == 28
