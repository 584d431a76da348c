"""The runners of single rules and files: formulas, batches, admissions, logs, exports, trace files with other numbers."""

from pathlib import Path
from typing import Any

from tests.cases.kinds import check as check_case
from tests.cases.verdict import judge

Case = dict[str, Any]


def case(kind: str, expected: Case, **given: Any) -> Case:
    return {"id": kind, "input": {"kind": kind, **given}, "expected": expected}


def answer(given: Case) -> tuple[str, str]:
    return judge(given, Path("case.json"), check_case)


def passes(given: Case) -> bool:
    return answer(given)[0] == "PASS"


def test_formulas_of_other_numbers_are_checked() -> None:
    given = {"block_size": 8, "lengths": [1, 8, 9]}
    right = {"num_blocks": [1, 1, 2], "last_block_tokens": [1, 8, 1], "wasted_slots": [7, 0, 7]}
    assert passes(case("formula", {**right, "next_write_needs_new_block": [False, True, False]}, **given))
    assert answer(case("formula", {**right, "num_blocks": [1, 2, 2]}, **given))[0] == "FAIL"
    padding = {
        "packed_tokens": 60,
        "padded_tokens": 80,
        "packed_admits": ["all two"],
        "padded_admits": "only the first",
    }
    assert passes(case("formula", padding, prompts=[40, 20], max_num_batched_tokens=64))
    padding["padded_admits"] = "all two"
    assert answer(case("formula", padding, prompts=[40, 20], max_num_batched_tokens=64))[0] == "FAIL"
    assert answer(case("formula", {"x": 1}, apples=3))[0] == "SKIP"


def test_pages_of_another_step_are_counted_and_have_to_fit() -> None:
    given = {"page_size": 4, "stored_tokens_before_step": [4, 3, 8], "new_tokens_each": 1, "free_pages": 2}
    right = {"new_pages_each": [1, 0, 1], "new_pages_total": 2, "fits": True}
    assert passes(case("formula", right, **given))
    assert answer(case("formula", right, **{**given, "free_pages": 1}))[0] == "FAIL"


def test_batches_of_other_lengths_are_checked() -> None:
    """Two slots, lengths 3, 1, 2: static (3, 1) then (2): 5 steps; continuous: 3 | 1, 2: 3 steps."""
    expected = {
        "static": {"steps": 5, "slot_steps": 10, "useful": 6, "padding_share": 0.4},
        "continuous": {"steps": 3, "slot_steps": 6, "useful": 6, "idle_share": 0.0},
    }
    given = {"output_lens": [3, 1, 2], "slots": 2, "policies": ["static", "continuous"]}
    assert passes(case("batching", expected, **given))
    expected["static"]["padding_share"] = 0.5
    assert answer(case("batching", expected, **given))[0] == "FAIL"


def test_admission_answers_are_compared_and_unknown_words_skipped() -> None:
    requests = [
        {"prompt_len": 8, "output_len": 1},
        {"prompt_len": 9, "output_len": 4},
        {"prompt_len": 3, "output_len": 20},
    ]
    answers = ["ok, 1 token", "ok, cut to 1 token (reason: length)", "ok, cut to 7 tokens"]
    given = {"max_model_len": 10, "requests": requests}
    assert passes(case("admission", {"result": answers}, **given))
    assert answer(case("admission", {"result": ["ok, 2 tokens", *answers[1:]]}, **given))[0] == "FAIL"
    assert answer(case("admission", {"result": ["perhaps", *answers[1:]]}, **given))[0] == "SKIP"


def test_a_log_that_breaks_no_rule_is_not_blamed() -> None:
    log = [{"scheduled": {"A": 5}, "emitted": ["A"]}]
    given = {"applies_to": "every simulation", "example": {"log": log, "verdict": "first step breaks the first rule"}}
    assert answer(case("invariants", {"must_hold": []}, **given))[0] == "FAIL"
    log[0]["emitted"] = ["A", "A"]
    assert passes(case("invariants", {"must_hold": []}, **given))


def test_intervals_that_share_a_track_are_noticed() -> None:
    intervals = [{"request": "A", "start_s": 0, "end_s": 3}, {"request": "B", "start_s": 1, "end_s": 4}]
    given = {"format": "chrome_trace_events", "intervals": intervals}
    assert passes(case("export", {"must_hold": ["A and B have different tid"]}, **given))
    assert answer(case("export", {"must_hold": ["A and A have different tid"]}, **given))[0] == "FAIL"


def test_a_trace_file_is_compared_row_by_row_and_line_by_line() -> None:
    text = "id,arrival_s,prompt_len,output_len\na,0,5,2\nb,1,-5,2\n"
    requests = [{"arrival_s": 0.0, "prompt_len": 5, "output_len": 2}]
    right = {"rows_ok": 1, "requests": requests, "errors": [{"line": 3, "reason": "negative"}], "ids": ["a"]}
    given = {"format": "generic_csv", "text": text}
    assert passes(case("trace_file", right, **given))
    wrongs: tuple[Case, ...] = (
        {"rows_ok": 2},
        {"errors": []},
        {"errors": [{"line": 3, "reason": "zero output tokens"}]},
        {"ids": ["b"]},
        {"requests": [{**requests[0], "prompt_len": 6}]},
    )
    for wrong in wrongs:
        assert answer(case("trace_file", {**right, **wrong}, **given))[0] == "FAIL"
    strange = {**right, "errors": [{"line": 3, "reason": "smells odd"}]}
    assert answer(case("trace_file", strange, **given))[0] == "SKIP"
