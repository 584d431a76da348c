"""Operations on the radix tree: results by hand, one step each, and a trace that says what the tree was."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.settings import Settings
from engine.trace.trace import Trace
from engine.trace.tree import text_of, tree_at
from scenarios.fields import ScenarioError
from scenarios.radix_ops import RadixOps
from scenarios.run import run
from scenarios.scenario import Scenario

SMALL = Settings(kv_manager="radix", block_size=1, num_blocks=10, step_time=1.0)


def carried_out(ops: list[Any], chosen: Settings = SMALL) -> RadixOps:
    told = RadixOps(chosen, ops).run(RadixOps.check)
    told.check()
    return told


def test_every_operation_answers_with_its_numbers_and_the_sizes() -> None:
    ops = [
        ["insert", [1, 2, 3, 4]],
        ["lock", "a", [1, 2, 9]],
        ["insert", [5, 6, 7, 8, 9]],
        ["match", [1, 2, 3]],
        ["insert", [1, 2, 7, 7]],
        ["evict", 1],
        ["unlock", "a"],
    ]
    results = carried_out(ops).results
    sizes = [tuple(result[k] for k in ("evictable", "protected", "free_tokens")) for result in results]
    assert sizes == [(4, 0, 6), (2, 2, 6), (7, 2, 1), (7, 2, 1), (8, 2, 0), (3, 2, 5), (5, 0, 5)]
    assert results[1]["locked_tokens"] == 2
    assert results[3]["hit_tokens"] == 3
    assert results[4]["evicted"] == [[4]]  # 1 slot is missing; the match split [3 4] and used [3] only
    assert results[5]["evicted"] == [[5, 6, 7, 8, 9]]  # whole leaves go


@pytest.mark.parametrize(
    ("ops", "error"),
    [
        ([["insert", 11]], "out_of_space"),
        ([["insert", [1, 2, 3, 4, 5, 6]], ["lock", "a", [1, 2, 3, 4, 5, 6]], ["insert", 5]], "out_of_space"),
        ([["unlock", "a"]], "unlock_without_lock"),
        ([["lock", "a", [1]], ["unlock", "a"], ["unlock", "a"]], "unlock_without_lock"),
        ([["lock", "a", [1]], ["lock", "a", [1]]], "handle_in_use"),
    ],
)
def test_an_operation_that_fails_names_its_error_and_gets_a_step(ops: list[Any], error: str) -> None:
    told = carried_out(ops)
    assert [result.get("error") for result in told.results] == [None] * (len(ops) - 1) + [error]
    assert told.recorder.trace().num_steps == len(ops)


@pytest.mark.parametrize(
    "op", [["insert"], ["allocate", "a", 3], ["insert", [-1]], ["lock", 3, [1]], ["evict", "x"], ["match", 1.5], 7]
)
def test_what_is_no_operation_on_a_tree_is_refused_by_name(op: Any) -> None:
    with pytest.raises(ScenarioError, match=r"^ops\[0\] .*\.$"):
        RadixOps(SMALL, [op])


def test_a_tree_needs_a_pool_of_known_size() -> None:
    for chosen in (Settings(kv_manager="radix"), Settings(num_blocks=4)):
        with pytest.raises(ScenarioError, match="kv_manager 'radix' and a pool of known size"):
            RadixOps(chosen, [])


def words(trace: Trace, step: int) -> dict[str, int]:
    """Text of each node -> its locks, after a step."""
    nodes = tree_at(trace, int(trace.steps["updated"][step]))
    return {text_of(trace.header, node.tokens): node.lock_ref for node in nodes.values()}


def test_a_scenario_file_tells_a_story_in_words() -> None:
    data = {
        "kvscope_scenario": 1,
        "name": "words",
        "settings": {"kv_manager": "radix", "block_size": 1, "num_blocks": 8, "step_time": 1},
        "ops": [
            ["insert", "be kind and brief"],
            ["lock", "chat", "be kind"],
            ["insert", "be kind or go home now then"],
        ],
    }
    trace = run(Scenario.load(data))
    assert trace.header["vocabulary"] == ["be", "kind", "and", "brief", "or", "go", "home", "now", "then"]
    assert words(trace, 0) == {"be kind and brief": 0}
    assert words(trace, 1) == {"be kind": 1, "and brief": 0}
    assert words(trace, 2) == {"be kind": 1, "or go home now then": 0}
    assert trace.requests[0]["id"] == "chat"
    assert trace.cut(step=1).table(0) == [0, 1]
    assert run(Scenario.load(Scenario.load(data).dump())).run_id == trace.run_id


TOKENS = st.lists(st.integers(0, 1), max_size=7) | st.integers(0, 3)
HANDLES = st.sampled_from(["a", "b", "c"])
OPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), TOKENS),
        st.tuples(st.just("match"), TOKENS),
        st.tuples(st.just("lock"), HANDLES, TOKENS),
        st.tuples(st.just("unlock"), HANDLES),
        st.tuples(st.just("evict"), st.integers(0, 6)),
    ),
    max_size=25,
)


@given(ops=OPS, block_size=st.integers(1, 3), capacity=st.integers(3, 14))
@settings(deadline=None, max_examples=100)
def test_after_every_operation_the_trace_says_what_the_tree_is(ops: Any, block_size: int, capacity: int) -> None:
    chosen = Settings(kv_manager="radix", block_size=block_size, kv_capacity_tokens=capacity, step_time=1.0)
    seen: list[Any] = []

    def look(told: RadixOps) -> None:
        told.check()
        sizes = told.sizes()
        assert sizes["free_tokens"] + sizes["evictable"] + sizes["protected"] == capacity
        nodes = told.kv.tree.root.below()
        seen.append({n.number: (n.parent.number, n.key, n.slots, n.lock_ref, n.last_access) for n in nodes if n.parent})

    told = RadixOps(chosen, ops).run(look)
    look(told)
    trace = told.recorder.trace()
    assert trace.num_steps == len(ops)
    for step, expected in enumerate(seen[1:]):
        assert tree_at(trace, int(trace.steps["updated"][step])) == expected
