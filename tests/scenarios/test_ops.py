"""Stories told by operations: on the engine's own manager, one operation a step, failures change nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.settings import Settings
from engine.trace.track import DECISION_COLUMNS, HAPPENINGS
from scenarios.fields import ScenarioError
from scenarios.operations import read_ops
from scenarios.ops import BlockPoolOps, run_ops

FORKS = [
    ("allocate", "p", 6),
    ("fork", "p", "s1"),
    ("fork", "p", "s2"),
    ("append", "s1", 1),
    ("append", "s2", 1),
    ("free", "p"),
]
STACK = Settings(block_size=4, num_blocks=8, free_list="stack")


def test_two_forks_copy_the_open_block_and_share_the_full_one() -> None:
    run = BlockPoolOps(STACK, FORKS).run()
    assert run.tables == {"s1": [7, 5], "s2": [7, 4]}
    assert [run.kv.pool.ref_count(block) for block in range(8)] == [0, 0, 0, 0, 1, 1, 0, 2]
    assert [result["free_blocks"] for result in run.results] == [6, 6, 6, 5, 4, 5]
    assert [result.get("cow_copies") for result in run.results] == [None, None, None, 1, 1, None]


def test_every_operation_is_a_step_and_its_scheduled_cut_shows_the_result() -> None:
    trace = run_ops(STACK, FORKS, "forks")
    assert trace.num_steps == len(FORKS)
    tables = [[trace.cut(step=step, at="scheduled").table(seq) for seq in range(3)] for step in range(6)]
    assert tables[2] == [[7, 6], [7, 6], [7, 6]]
    assert tables[3] == [[7, 6], [7, 5], [7, 6]]
    assert tables[5] == [[], [7, 5], [7, 4]]
    assert trace.cut(step=5).tracks["blocks"]["fill"].tolist() == [0, 0, 0, 0, 3, 3, 0, 4]
    assert [request["id"] for request in trace.requests] == ["p", "s1", "s2"]


def test_the_last_reader_writes_in_place() -> None:
    ops = [("allocate", "a", 6), ("fork", "a", "b"), ("append", "a", 1), ("append", "b", 1)]
    run = BlockPoolOps(Settings(block_size=4, num_blocks=8), ops).run()
    assert [result.get("cow_copies") for result in run.results[2:]] == [1, 0]
    assert run.tables == {"a": [0, 2], "b": [0, 1]}


def test_a_scripted_order_names_the_first_blocks() -> None:
    chosen = Settings(block_size=4, num_blocks=8, block_script=(7, 2, 5, 3, 4))
    assert BlockPoolOps(chosen, [("allocate", "A", 10), ("allocate", "B", 6)]).run().tables == {
        "A": [7, 2, 5],
        "B": [3, 4],
    }


def test_tokens_are_given_as_ids_or_as_a_number() -> None:
    run = BlockPoolOps(
        Settings(block_size=4, num_blocks=8), [("allocate", "A", [5, 5, 5]), ("append", "A", [1, 2])]
    ).run()
    assert run.results == [
        {"hit_tokens": 0, "new_blocks": 1, "free_blocks": 7},
        {"new_blocks": 1, "cow_copies": 0, "free_blocks": 6},
    ]


def test_without_a_cache_nothing_matches_and_nothing_is_evicted() -> None:
    run = BlockPoolOps(Settings(num_blocks=8), [("match", [1, 2]), ("evict", 3)]).run()
    assert run.results == [{"hit_tokens": 0, "free_blocks": 8}, {"evicted": [], "free_blocks": 8}]


def test_of_several_errors_the_first_of_the_list_is_named() -> None:
    ops = [("allocate", "A", 4), ("allocate", "A", 90), ("allocate", "A", 0), ("allocate", "B", 0), ("fork", "x", "A")]
    results = BlockPoolOps(Settings(block_size=4, num_blocks=2), ops).run().results
    errors = [result.get("error") for result in results]
    assert errors == [None, "out_of_blocks", "duplicate_seq", "empty_prompt", "unknown_seq"]


def test_an_append_that_does_not_fit_says_what_is_missing() -> None:
    trace = run_ops(Settings(block_size=4, num_blocks=2), [("allocate", "A", 4), ("append", "A", 9)])
    decision = {name: int(trace.decisions[name][-1]) for name in DECISION_COLUMNS}
    assert (decision["needed"], decision["available"]) == (3, 1)
    assert trace.cut(step=1).table(0) == [0]


def test_a_freed_name_may_be_used_again() -> None:
    run = BlockPoolOps(Settings(num_blocks=2), [("allocate", "A", 4), ("free", "A"), ("allocate", "A", 20)]).run()
    assert [result.get("error") for result in run.results] == [None, None, None]
    assert len(run.recorder.trace().requests) == 2


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (("insert", [1]), "unknown operation 'insert'"),
        (("allocate", "A"), "1 operands"),
        (("allocate", "A", -1), "-1"),
        (("allocate", "A", 10**12), "10,000,000"),
        (("allocate", "A", [1, "2"]), "token ids"),
        (("append", "A", 1.5), "1.5"),
        (("append", "A", True), "True"),
        (("free", 3), "named by a text"),
        (("free", "\ud800"), "whole characters"),
        (("evict", "many"), "whole number"),
        ("free", "list"),
        ([], "list"),
    ],
)
def test_a_malformed_operation_is_refused_with_its_place(op: Any, words: str) -> None:
    with pytest.raises(ScenarioError) as error:
        run_ops(Settings(num_blocks=4), [("allocate", "first", 1), op])
    assert "ops[1]" in str(error.value) and words in str(error.value)


def test_a_sequence_may_not_grow_beyond_32_bits() -> None:
    grow = ("append", "A", 10_000_000)
    ops = [("allocate", "A", 7_483_647), *[grow] * 214]
    assert len(read_ops(ops)) == 215
    with pytest.raises(ScenarioError, match=r"ops\[215\] append gives 'A' 2,157,483,647 tokens; at most 2,147,483,647"):
        read_ops([*ops, grow])
    assert len(read_ops([*ops, ("free", "A"), grow])) == 217


def test_progress_is_told_before_every_operation_and_may_stop_the_run() -> None:
    seen: list[tuple[int, int]] = []
    run_ops(STACK, FORKS, progress=lambda run: seen.append((run.num_done, run.num_steps)))
    assert seen == [(number, number) for number in range(len(FORKS))]

    def stop(run: BlockPoolOps) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_ops(STACK, FORKS, progress=stop)


def test_operations_need_the_paged_manager() -> None:
    with pytest.raises(ScenarioError, match="paged"):
        run_ops(Settings(kv_manager="oracle", num_blocks=4), [])


NAMES = st.sampled_from(["A", "B", "C", "D"])
OPS = st.one_of(
    st.tuples(st.just("allocate"), NAMES, st.integers(0, 14)),
    st.tuples(st.just("append"), NAMES, st.integers(0, 9)),
    st.tuples(st.just("fork"), NAMES, NAMES),
    st.tuples(st.just("free"), NAMES),
    st.tuples(st.just("match"), st.integers(0, 9)),
    st.tuples(st.just("evict"), st.integers(0, 3)),
)


@given(st.lists(OPS, max_size=30))
@settings(max_examples=100)
def test_an_operation_that_fails_changes_nothing(ops: list[tuple[Any, ...]]) -> None:
    chosen = Settings(block_size=4, num_blocks=6)
    before: Any = ({}, 6, [])
    for count in range(len(ops) + 1):
        run = BlockPoolOps(chosen, ops[:count]).run()
        run.check()
        state = (run.tables, run.kv.num_free, run.kv.pool.free_list.ids())
        if count and "error" in run.results[-1]:
            assert state == before
        before = state
    trace = BlockPoolOps(chosen, ops).run().recorder.trace()
    happened = trace.happenings["kind"].tolist()
    copies = sum(result.get("cow_copies", 0) for result in BlockPoolOps(chosen, ops).run().results)
    assert happened.count(HAPPENINGS.index("copied")) == copies
