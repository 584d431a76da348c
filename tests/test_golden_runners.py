"""The runners of golden runs and of known workloads: every field of a recorded line counts."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.shared import SHARED
from tests.cases.verdict import judge, run_files
from tests.goldens.engines import check as check_golden
from tests.workloads.blocks import w1a, w1d

Case = dict[str, Any]

V1: Case = {"engine": "vllm-v1", "mode": "cache", "caching": False, "block_size": 2, "num_blocks": 4}
V1_OPS = [{"op": "add", "id": "A", "tokens": [1, 2, 3]}, {"op": "append", "id": "A", "tokens": [4, 5]}]
V1_LINES: list[Case] = [
    {"result": {"ok": True, "hit_tokens": 0, "new_blocks": [1, 2]}, "tables": {"A": [1, 2]}, "free_queue": [3]},
    {
        "result": [
            {"ok": True, "hit_tokens": 0, "new_blocks": []},
            {"ok": True, "hit_tokens": 0, "new_blocks": [3]},
        ],
        "ref": {"1": 1, "2": 1, "3": 1},
    },
]


def golden(folder: Path, given: Case, lines: list[Case]) -> tuple[str, str]:
    for name in ("cases", "expected"):
        (folder / name).mkdir(exist_ok=True)
    path = folder / "cases" / "new.json"
    path.write_text(json.dumps(given))
    (folder / "expected" / "new.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return judge(given, path, check_golden)


def test_a_new_recorded_run_is_compared_field_by_field(tmp_path: Path) -> None:
    assert golden(tmp_path, {**V1, "ops": V1_OPS}, V1_LINES) == ("PASS", "")
    wrong = copy.deepcopy(V1_LINES)
    wrong[0]["free_queue"] = [2]
    assert golden(tmp_path, {**V1, "ops": V1_OPS}, wrong)[0] == "FAIL"
    assert golden(tmp_path, {**V1, "ops": V1_OPS}, V1_LINES[:1])[0] == "FAIL"
    assert golden(tmp_path, {**V1, "ops": V1_OPS, "caching": True}, V1_LINES) == ("PASS", "")
    assert golden(tmp_path, {**V1, "ops": V1_OPS, "mode": "beam"}, V1_LINES)[0] == "SKIP"
    assert golden(tmp_path, {"engine": "orca", "ops": []}, [])[0] == "SKIP"


def test_block_ids_of_manager_v0_are_exact_but_for_the_order_in_which_a_table_came_back(tmp_path: Path) -> None:
    given = {"engine": "vllm-v0", "manager": "v1", "block_size": 2, "num_gpu": 4, "watermark": 0.0}
    ops: list[Case] = [
        {"op": "add", "id": "A", "tokens": [1, 2, 3]},
        {"op": "free", "id": "A"},
        {"op": "add", "id": "B", "tokens": [1, 2, 3]},
    ]

    def lines(first: list[int], last: list[int]) -> list[Case]:
        states: list[tuple[Any, dict[str, list[int]]]] = [
            ({"can_allocate": "OK"}, {"A": first}),
            (None, {}),
            ({"can_allocate": "OK"}, {"B": last}),
        ]
        return [
            {
                "result": result,
                "tables": tables,
                "ref": {f"gpu{block}": 1 for table in tables.values() for block in table},
                "free_gpu": 4 - sum(map(len, tables.values())),
                "free_cpu": 8,
            }
            for result, tables in states
        ]

    assert golden(tmp_path, {**given, "ops": ops}, lines([3, 2], [3, 2])) == ("PASS", "")
    assert golden(tmp_path, {**given, "ops": ops}, lines([3, 2], [2, 3])) == ("PASS", "")
    assert golden(tmp_path, {**given, "ops": ops}, lines([2, 3], [3, 2]))[0] == "FAIL"
    assert golden(tmp_path, {**given, "ops": ops}, lines([3, 2], [3, 3]))[0] == "FAIL"
    assert golden(tmp_path, {**given, "ops": ops}, lines([3, 2], [3, 1]))[0] == "FAIL"


def test_manager_v2_moves_a_shared_block_once_for_each_reader(tmp_path: Path) -> None:
    given = {"engine": "vllm-v0", "manager": "v2", "block_size": 2, "num_gpu": 4, "num_cpu": 4, "watermark": 0.0}
    ops: list[Case] = [
        {"op": "add", "id": "A", "tokens": [1, 2]},
        {"op": "fork", "id": "A", "child": "B"},
        {"op": "swap_out", "id": "B"},
    ]
    states: list[tuple[Any, dict[str, list[int]], int, int]] = [
        ({"can_allocate": "OK"}, {"A": [0]}, 3, 4),
        (None, {"A": [0], "B": [0]}, 3, 4),
        ({"can": True, "map": [[0, 0], [0, 1]]}, {"A": [4], "B": [5]}, 4, 2),
    ]
    lines: list[Case] = [
        {"result": result, "tables": tables, "free_gpu": gpu, "free_cpu": cpu, "ref": {}}
        for result, tables, gpu, cpu in states
    ]
    for line, ref in zip(lines, ({"gpu0": 1}, {"gpu0": 2}, {"gpu4": 1, "gpu5": 1}), strict=True):
        line["ref"] = ref
    assert golden(tmp_path, {**given, "ops": ops}, lines) == ("PASS", "")
    lines[2]["tables"] = {"A": [4], "B": [4]}
    assert golden(tmp_path, {**given, "ops": ops}, lines)[0] == "FAIL"


def test_known_workloads_have_their_exact_counts() -> None:
    """300 tokens are 19 blocks of 16; 428 are 27, eight more for each of 64 sequences."""
    first, last = w1a(), w1d()
    assert (first["allocated_blocks"], first["free_blocks"]) == (2_000 * 19, 4_096)
    assert (last["new_blocks"], last["used_blocks"], last["tokens"]) == (64 * 8, 64 * 27, 64 * 128)


@pytest.mark.skipif(
    not (SHARED / "goldens").is_dir(), reason="the golden runs are not here; KVSCOPE_SHARED names their folder"
)
def test_every_golden_run_passes() -> None:
    lines: list[str] = []
    assert run_files(sorted((SHARED / "goldens" / "cases").glob("*.json")), check_golden, lines.append) == 0
    assert lines[-1].endswith(" passed, 0 failed, 0 skipped")
