"""The runners of case files and golden runs: right is PASS, wrong is FAIL, what nobody can check is SKIP."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.shared import SHARED
from tests.cases import verdict
from tests.cases.kinds import check as check_case
from tests.cases.sentences import Sentences
from tests.cases.verdict import Findings, judge, run_files

Case = dict[str, Any]


def case(kind: str, expected: Case, **given: Any) -> Case:
    return {"id": kind, "input": {"kind": kind, **given}, "expected": expected}


def answer(given: Case) -> tuple[str, str]:
    return judge(given, Path("case.json"), check_case)


POOL = case(
    "block_pool",
    {
        "per_op": [
            {"hit_tokens": 0, "new_blocks": 2, "free_blocks": 1},
            {"free_blocks": 1},
            {"error": "out_of_blocks", "free_blocks": 1},
            {"new_blocks": 0, "cow_copies": 1, "free_blocks": 0},
            {"error": "out_of_blocks", "free_blocks": 0},
            {"error": "unknown_seq", "free_blocks": 0},
            {"error": "duplicate_seq", "free_blocks": 0},
            {"freed_blocks": 1, "free_blocks": 1},
            {"error": "empty_prompt", "free_blocks": 1},
        ],
        "block_tables": {"B": ["b0", "b1"]},
        "ref_counts": {"b0": 1, "b1": 1},
        "free_blocks": 1,
        "cow_copies": 1,
    },
    pool={"num_blocks": 3, "block_size": 4},
    ops=[
        ["allocate", "A", [1, 2, 3, 4, 5, 6]],
        ["fork", "A", "B"],
        ["append", "A", 11],
        ["append", "A", 1],
        ["allocate", "A", 1],
        ["free", "nobody"],
        ["fork", "A", "B"],
        ["free", "A"],
        ["allocate", "C", 0],
    ],
)


def test_a_new_block_pool_case_with_every_error_passes() -> None:
    assert answer(POOL) == ("PASS", "")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("per_op", 0, "new_blocks"), 3),
        (("per_op", 2, "error"), "unknown_seq"),
        (("per_op", 7, "freed_blocks"), 2),
        (("block_tables", "B"), ["b0", "b0"]),
        (("ref_counts", "b1"), 2),
        (("free_blocks",), 2),
        (("cow_copies",), 0),
    ],
)
def test_every_wrong_number_of_a_block_pool_case_fails(path: tuple[Any, ...], value: Any) -> None:
    wrong = copy.deepcopy(POOL)
    place = wrong["expected"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert answer(wrong)[0] == "FAIL"


def test_an_error_that_the_case_does_not_expect_fails() -> None:
    wrong = copy.deepcopy(POOL)
    del wrong["expected"]["per_op"][5]["error"]
    assert answer(wrong)[0] == "FAIL"


SCHEDULE = case(
    "schedule",
    {
        "steps": [
            {
                "step": 0,
                "time": 0,
                "scheduled": {"A": 5},
                "emitted": ["A", "A"],
                "admitted": ["A"],
                "rejected": ["none", "zero", "huge"],
                "free_blocks": 4,
            },
            {"step": 1, "time": 1, "scheduled": {"A": 2}, "emitted": ["A", "A"], "free_blocks": 3},
            {"step": 2, "time": 2, "scheduled": {"A": 2}, "emitted": ["A", "A"], "finished": ["A"], "free_blocks": 6},
            {"step": 3, "time": 9, "scheduled": {"B": 2}, "emitted": ["B"], "admitted": ["B"], "finished": ["B"]},
        ],
        "summary": {
            "steps": 4,
            "end_time": 10,
            "requests": {
                "A": {"status": "finished", "finish_time": 3, "ttft": 1, "preemptions": 0, "output_tokens": 6},
                "none": {"status": "rejected", "reason": "empty_prompt"},
                "zero": {"status": "rejected", "reason": "zero_output"},
                "huge": {"status": "rejected", "reason": "never_fits"},
                "late": {"status": "rejected", "reason": "zero_output"},
                "B": {"status": "finished", "output_tokens": 1},
            },
        },
        "must_hold": [
            "sum of scheduled tokens <= 5 in every step",
            "reference counts equal table entries at every step",
        ],
    },
    pool={"num_blocks": 6, "block_size": 4},
    scheduler={"policy": "continuous", "max_num_seqs": 2, "max_num_batched_tokens": 64},
    requests=[
        {"id": "A", "prompt": [9, 8, 7, 6, 5], "output_len": 3, "n": 2},
        {"id": "none", "prompt_len": 0, "output_len": 0},
        {"id": "zero", "prompt_len": 4, "output_len": 0},
        {"id": "huge", "prompt_len": 20, "output_len": 6},
        {"id": "B", "arrival": 9, "prompt_len": 2, "output_len": 1, "priority": 1},
        {"id": "late", "arrival": 6, "prompt_len": 2, "output_len": 0},
    ],
)


def test_a_new_run_with_samples_refusals_and_a_gap_passes() -> None:
    assert answer(SCHEDULE) == ("PASS", "")


@pytest.mark.parametrize(
    ("step", "field", "value"),
    [
        (0, "emitted", ["A"]),
        (0, "rejected", []),
        (1, "free_blocks", 4),
        (1, "preempted", ["A"]),
        (2, "finished", []),
        (3, "time", 3),
        (3, "scheduled", {"B": 3}),
    ],
)
def test_every_wrong_field_of_a_step_fails(step: int, field: str, value: Any) -> None:
    wrong = copy.deepcopy(SCHEDULE)
    wrong["expected"]["steps"][step][field] = value
    assert answer(wrong)[0] == "FAIL"


def test_a_missing_step_fails_and_so_does_a_wrong_summary() -> None:
    short, late = copy.deepcopy(SCHEDULE), copy.deepcopy(SCHEDULE)
    del short["expected"]["steps"][-1]
    late["expected"]["summary"]["requests"]["A"]["ttft"] = 2
    assert answer(short)[0] == answer(late)[0] == "FAIL"


def test_static_batches_keep_later_requests_out_until_all_members_end() -> None:
    steps = [
        {"scheduled": {"A": 2, "B": 2}, "emitted": ["A", "B"], "admitted": ["A", "B"], "finished": ["A"]},
        {"scheduled": {"B": 1}, "emitted": ["B"]},
        {"scheduled": {"B": 1}, "emitted": ["B"], "finished": ["B"]},
        {"scheduled": {"C": 2}, "emitted": ["C"], "admitted": ["C"], "finished": ["C"]},
    ]
    requests = [{"id": name, "prompt_len": 2, "output_len": length} for name, length in (("A", 1), ("B", 3), ("C", 1))]
    given = case("schedule", {"steps": steps}, scheduler={"policy": "static", "max_num_seqs": 2}, requests=requests)
    assert answer(given) == ("PASS", "")


def test_without_the_whole_prompt_gate_a_first_chunk_is_admitted() -> None:
    """Four blocks of 4; old holds 2 and grows to 3, long needs 4 blocks in all but only 1 for its first chunk."""
    requests = [
        {"id": "old", "prompt_len": 8, "output_len": 4},
        {"id": "long", "arrival": 1, "prompt_len": 12, "output_len": 2},
    ]
    scheduler = {"policy": "chunked", "max_num_batched_tokens": 5}
    pool = {"num_blocks": 4, "block_size": 4}
    for full, admitted in ((True, []), (False, ["long"])):
        given = {"pool": pool, "requests": requests, "scheduler": {**scheduler, "admit_full_prompt": full}}
        steps = [
            {"scheduled": {"old": 5}, "admitted": ["old"]},
            {"scheduled": {"old": 3, **dict.fromkeys(admitted, 2)}, "emitted": ["old"], "admitted": admitted},
        ]
        verdict_, why = answer(case("schedule", {"steps": steps}, **given))
        assert verdict_ == "FAIL"
        assert "steps, expected 2" in why and "(and" not in why


def test_a_wrong_sentence_fails_and_an_unknown_one_is_skipped_word_for_word() -> None:
    wrong, unknown = copy.deepcopy(SCHEDULE), copy.deepcopy(SCHEDULE)
    wrong["expected"]["must_hold"] = ["sum of scheduled tokens <= 4 in every step"]
    unknown["expected"]["must_hold"] = ["the moon is made of KV"]
    assert answer(wrong)[0] == "FAIL"
    assert answer(unknown) == ("SKIP", 'no check for "the moon is made of KV"')


def test_a_contradiction_outweighs_an_unknown_sentence() -> None:
    both = copy.deepcopy(SCHEDULE)
    both["expected"]["must_not"] = ["sing"]
    both["expected"]["summary"]["steps"] = 5
    assert answer(both)[0] == "FAIL"


def test_an_unknown_entry_of_expected_is_never_passed_over() -> None:
    unknown = copy.deepcopy(SCHEDULE)
    unknown["expected"]["colour"] = "green"
    assert answer(unknown)[0] == "SKIP"


@pytest.mark.parametrize("kind", ["ui", "schedule_ops", "one_step", "a kind of tomorrow"])
def test_kinds_without_a_runner_are_skipped(kind: str) -> None:
    assert answer(case(kind, {}))[0] == "SKIP"


def test_operations_on_a_pool_that_caches_prefixes_are_compared() -> None:
    prompt, expected = [1, 2, 3, 4, 5], {"per_op": [{"hit_tokens": 0}, {}, {"hit_tokens": 4, "new_blocks": 1}]}
    ops = [["allocate", "A", prompt], ["free", "A"], ["allocate", "B", prompt]]
    pool = {"num_blocks": 4, "block_size": 4, "prefix_caching": True}
    cached = {"input": {"kind": "block_pool", "pool": pool, "ops": ops}, "expected": expected}
    assert answer(cached) == ("PASS", "")
    expected["per_op"][2]["hit_tokens"] = 5
    assert answer(cached)[0] == "FAIL"


def test_a_slot_that_is_not_rewritten_to_the_cached_one_is_a_failure() -> None:
    ops = [["compute", "A", [1, 2], [0, 1]], ["compute", "B", [1, 2, 3], [2, 3, 4]], ["cache", "A"], ["cache", "B"]]
    after = {"slots_of_B": [0, 1, 4], "freed_slots": [2, 3], "free_count": 5}
    given = {"kind": "slots", "capacity_slots": 8, "page_size": 1, "ops": ops}
    assert answer({"input": given, "expected": {"after_cache_B": after}}) == ("PASS", "")
    assert answer({"input": given, "expected": {"after_cache_B": {**after, "slots_of_B": [2, 3, 4]}}})[0] == "FAIL"


def test_a_lookup_stops_at_the_first_block_that_is_missing() -> None:
    given = {"kind": "lookup", "block_size": 4, "cached_blocks_of_prompt": [True, False, True], "prompt_len": 12}
    assert answer({"input": given, "expected": {"hit_tokens": 4}}) == ("PASS", "")
    assert answer({"input": given, "expected": {"hit_tokens": 8}})[0] == "FAIL"


def test_a_case_that_breaks_the_program_is_a_failure_of_that_case_only(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": "broken"')
    (tmp_path / "b.json").write_text(json.dumps({"id": "odd", "input": {"kind": "schedule"}, "expected": {}}))
    (tmp_path / "c.json").write_text(json.dumps(POOL))
    lines: list[str] = []
    (tmp_path / "d.json").write_text("[" * 100_000)
    (tmp_path / "e.json").write_text(json.dumps({"id": "\ud800\x1b[2J\n!", "input": {"kind": "ui"}}))
    (tmp_path / "f.json").write_bytes(b"\xff")
    assert run_files(sorted(tmp_path.glob("*.json")), check_case, lines.append) == 1
    assert [line.split(":")[0] for line in lines] == [
        "FAIL a",
        "FAIL odd",
        "PASS block_pool",
        "FAIL d",
        r"SKIP \ud800\x1b[2J !",
        "FAIL f",
        "1 passed, 4 failed, 1 skipped",
    ]


def test_a_folder_without_cases_is_refused_with_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict.main([str(tmp_path)], "usage", "", check_case) == 2
    assert verdict.main([str(tmp_path / "nowhere")], "usage", "", check_case) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 2


def test_sentences_match_as_a_whole_and_hand_over_their_numbers() -> None:
    table, findings = Sentences(), Findings()
    table.says(r"at most (\d+) apples")(lambda facts, limit: None if facts <= int(limit) else f"there are {facts}")
    table.check(findings, ["at most 3 apples.", "At most  2 apples", "at most 2 apples and pears"], 3)
    assert findings.wrong == ['"At most 2 apples": there are 3']
    assert findings.unchecked == ['no check for "at most 2 apples and pears"']


@pytest.mark.skipif(
    not (SHARED / "cases").is_dir(), reason="the case files are not here; KVSCOPE_SHARED names their folder"
)
def test_all_given_cases_pass_or_are_skipped_with_a_reason() -> None:
    lines: list[str] = []
    assert run_files(sorted((SHARED / "cases").glob("*.json")), check_case, lines.append) == 0
    assert lines[-1] == "56 passed, 0 failed, 11 skipped"
    assert all(": " in line for line in lines if line.startswith("SKIP"))
