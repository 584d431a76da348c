"""The runners of recorded trees and queues, of radix cases and of W2: new inputs of the same grammar, right and wrong."""

import copy
from typing import Any

import pytest

from engine.presets import MINI_SGLANG, SGLANG
from tests.cases import radix
from tests.cases.verdict import Findings, judge
from tests.goldens import mini_sglang, sglang
from tests.workloads.radix import conversations, w2

Case = dict[str, Any]

OPS: list[Case] = [
    {"op": "insert", "tokens": [1, 2, 3], "as": "a"},
    {"op": "lock", "name": "a"},
    {"op": "evict", "n": 1},
]
NODE: Case = {"key": [1, 2, 3], "slots": [0, 1, 2], "lock": 1, "children": []}


def verdict(compare: Any, case: Case, lines: list[Case]) -> str:
    findings = Findings()
    compare(findings, case, lines)
    return findings.verdict()[0]


def test_a_recorded_tree_is_compared_field_by_field() -> None:
    case = {"engine": "sglang", "mode": "tree", "ops": OPS}
    node = {**NODE, "hits": 1, "age_rank": 1}
    lines: list[Case] = [
        {"result": {"already_cached": 0}, "evictable": 3, "leaves": [[1, 2, 3]], "tree": [{**node, "lock": 0}]},
        {"result": {}, "evictable": 0, "protected": 3, "leaves": [], "tree": [node], "events": []},
        {"result": {"evicted": 0, "freed_slots": []}, "total": 3, "tree": [node]},
    ]
    assert verdict(sglang.compare_tree, case, lines) == "PASS"
    for number, field, wrong in ((0, "leaves", []), (1, "protected", 2), (2, "total", 0)):
        changed = copy.deepcopy(lines)
        changed[number][field] = wrong
        assert verdict(sglang.compare_tree, case, changed) == "FAIL"
    assert verdict(sglang.compare_tree, case, lines[:2]) == "FAIL"
    assert verdict(sglang.compare_tree, case, [*lines[:2], {"weight": 3}]) == "SKIP"


def test_the_smaller_tree_refuses_to_evict_more_than_it_can_and_has_no_reset() -> None:
    case = {"engine": "mini-sglang", "mode": "tree", "ops": [*OPS, {"op": "reset"}]}
    refused = {"refused": "Cannot evict 1, only 0 is evictable"}
    lines: list[Case] = [{"result": {"already_cached": 0}}, {"protected": 3}, {"result": refused, "tree": [NODE]}]
    assert verdict(mini_sglang.compare, case, lines) == "PASS"
    lines[2]["result"] = {"freed_slots": [0, 1, 2]}
    assert verdict(mini_sglang.compare, case, lines) == "FAIL"


def test_a_recorded_queue_is_compared_as_far_as_it_is_listed() -> None:
    """Two tokens of B are cached and none of A; before the first look nothing is known of them."""
    ops: list[Case] = [
        {"op": "cache", "first": 10, "len": 2},
        {"op": "queue", "id": "A", "tokens": [1, 2]},
        {"op": "queue", "id": "B", "spans": [[10, 2], [30, 1]], "max_new": 4},
        {"op": "sort", "policy": "fcfs"},
        {"op": "sort", "policy": "lpm"},
    ]
    lines: list[Case] = [
        {
            "policy": "fcfs",
            "active": "CacheAgnosticPolicy.FCFS",
            "order": ["A", "B"],
            "matched": {"A": None, "B": None},
        },
        {"policy": "lpm", "active": "CacheAwarePolicy.LPM", "order": ["B", "..."], "matched": {"A": 0, "B": 2}},
    ]
    case = {"engine": "sglang", "mode": "policy", "ops": ops}
    assert verdict(sglang.compare_policy, case, lines) == "PASS"
    lines[1]["order"] = ["A", "..."]
    assert verdict(sglang.compare_policy, case, lines) == "FAIL"
    lines[1]["order"] = ["B", "A", "..."]
    assert verdict(sglang.compare_policy, case, lines) == "FAIL"
    ops[-1]["policy"] = "routing-key"
    assert verdict(sglang.compare_policy, case, lines) == "SKIP"


def test_radix_operations_of_another_case_are_checked(tmp_path) -> None:
    """Six tokens in pages of two: a request of five takes four, a third one needs room that is locked."""
    given = {
        "kind": "radix",
        "radix": {"capacity_tokens": 6, "page_size": 2},
        "ops": [
            ["insert", [1, 2, 3, 4, 5]],
            ["lock", "r", [1, 2, 9]],
            ["lock", "r", [1]],
            ["insert", 6],
            ["insert", 4],
        ],
    }
    expected = {
        "per_op": [
            {"already_cached": 0, "new_tokens": 4, "evicted": [], "free_tokens": 2},
            {"locked_tokens": 2, "evictable": 2, "protected": 2},
            {"error": "handle_in_use", "protected": 2},
            {"error": "out_of_space", "total_tokens": 4},
            {"evicted": [[3, 4]], "new_tokens": 4, "free_tokens": 0},
        ],
        "total_tokens": 6,
    }
    case = {"input": given, "expected": expected}
    assert judge(case, tmp_path, radix.check) == ("PASS", "")
    assert judge({"input": given, "expected": {"total_tokens": 4}}, tmp_path, radix.check)[0] == "FAIL"
    assert judge({"input": given, "expected": {"must_hold": "all is well"}}, tmp_path, radix.check)[0] == "SKIP"


def test_starvation_of_another_size_is_checked(tmp_path) -> None:
    """Newcomers bring 50 tokens, waiting counts 25 a pass: a tie after two passes, and the earlier arrival goes first."""
    given = {
        "kind": "queue_order",
        "policy": "longest_prefix_match",
        "passes": 6,
        "admit_per_pass": 1,
        "initial": [{"id": "cold", "match": 0, "arrival_pass": 1}],
        "arrivals_each_pass": [{"id": "hot{p}", "match": 50}],
        "variants": [{"aging_tokens_per_pass": 25}],
    }
    right = {"order": ["hot0", "hot1", "hot2", "cold"], "cold_admitted_in_pass": 3, "bound_passes": 2}
    assert judge({"input": given, "expected": {"aging_25": right}}, tmp_path, radix.check_order) == ("PASS", "")
    wrong = {"aging_25": {"cold_admitted_in_pass": 2}}
    assert judge({"input": given, "expected": wrong}, tmp_path, radix.check_order)[0] == "FAIL"
    assert judge({"input": given, "expected": {"aging_9": {}}}, tmp_path, radix.check_order)[0] == "SKIP"


@pytest.mark.parametrize(
    ("engine", "page_size", "hit_rate", "evicted_tokens", "evict_calls"),
    [
        (SGLANG, 1, 0.8380, 800_776, 8_163),
        (SGLANG, 16, 0.8022, 847_344, 8_258),
        (MINI_SGLANG, 1, 0.8401, 793_516, 8_150),
        (MINI_SGLANG, 16, 0.8050, 837_680, 8_248),
    ],
)
def test_the_radix_workload_has_the_counts_of_the_engines(
    engine, page_size, hit_rate, evicted_tokens, evict_calls
) -> None:
    done = w2(engine, page_size)
    assert (done["hit_rate"], done["evicted_tokens"], done["evict_calls"]) == (hit_rate, evicted_tokens, evict_calls)
    assert engine is MINI_SGLANG or done["nodes"] == {1: 585, 16: 570}[page_size]


def test_the_requests_of_the_radix_workload_share_system_prompts_and_templates() -> None:
    prompts = [prompt for prompt, _ in conversations(200)]
    assert len({tuple(prompt[:200]) for prompt in prompts}) == 20
    assert all(320 <= len(prompt) <= 360 for prompt in prompts)
