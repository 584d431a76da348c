"""The acceptance list: complete, and computed with the real engine."""

import json
from collections import Counter

import pytest

from engine.executor.cost_model import STEP_OVERHEAD, CostModel, Hardware
from engine.settings import SettingsError
from scenarios import acceptance
from scenarios.acceptance import ROWS, check
from scenarios.acceptance.a import batching_table, kv_capacity, ridge_point
from scenarios.acceptance.b import static_use
from scenarios.acceptance.lab import Lab, batch_of, lanes_of, steps_of
from scenarios.acceptance.row import Outcome, Row

ROWS_OF_SECTION = {"A": 22, "B": 14, "C": 17, "D": 14, "E": 11, "F": 8, "G": 6, "H": 19, "I": 5, "J": 12, "L": 7}
ARITHMETIC = {
    "A": (1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18),
    "B": (1, 2, 3),
    "C": (3, 7, 9, 13),
    "G": (1, 2),
    "L": (2,),
}
CATALOGUE = {
    "B": (4, 5, 7),
    "C": (2, 4, 6, 12),
    "D": (1, 2, 3, 5),
    "E": (2, 3, 4, 9),
    "H": (*range(1, 7), *range(8, 20)),
}
BUILT = [f"{section}{n:02}" for rows in (ARITHMETIC, CATALOGUE) for section, numbers in rows.items() for n in numbers]


@pytest.fixture(scope="module")
def report() -> dict:
    return check()


def test_the_list_has_135_rows_in_the_order_of_their_ids():
    ids = [row.id for row in ROWS]
    assert len(ids) == len(set(ids)) == 135
    assert ids == sorted(ids)
    assert Counter(row_id[0] for row_id in ids) == ROWS_OF_SECTION


def test_every_row_says_what_it_expects():
    assert all(row.title and row.expected and row.cls for row in ROWS)
    assert {row.cls[0] for row in ROWS} == set("BDPS")


def test_the_report_has_the_fields_of_the_command_and_is_json(report):
    assert all(set(row) == {"id", "title", "class", "expected", "ours", "passed", "where"} for row in report["rows"])
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.parametrize("row_id", BUILT)
def test_a_row_that_is_built_passes_and_says_where_to_see_it(report, row_id):
    row = next(row for row in report["rows"] if row["id"] == row_id)
    assert row["passed"] is True, row["ours"]
    assert row["where"]
    assert row["ours"]


def test_chunks_have_the_logits_of_the_whole_prompt_where_there_is_torch(report):
    pytest.importorskip("torch", reason="the live engine needs torch")
    row = next(row for row in report["rows"] if row["id"] == "G06")
    assert row["passed"] is True
    assert row["ours"].startswith("50 tokens cut by budgets of 1, 7, 16: 53, 11, 7 steps, logits within ")


def test_a_number_that_no_page_shows_names_the_command_and_the_file_that_compute_it(report):
    where = {row["id"]: row["where"] for row in report["rows"]}
    assert where["A01"] == "python -m scenarios check, computed in scenarios/acceptance/a.py"
    assert where["H09"] == "python -m scenarios check, computed in scenarios/acceptance/hits.py"
    assert where["H03"] == "Stage: thousand-shared-tree"
    assert where["A22"] == ""


def test_no_row_fails_and_the_counts_are_those_of_the_rows(report):
    passed = Counter(row["passed"] for row in report["rows"])
    assert (report["passed"], report["failed"]) == (passed[True], 0)
    assert passed[None] == 135 - report["passed"]


def test_citations_are_never_our_result(report):
    assert all(row["passed"] is None for row in report["rows"] if row["class"] == "P")


def test_both_answers_of_exercise_1_are_shown(report):
    row = next(row for row in report["rows"] if row["id"] == "A16")
    assert "27 requests" in row["ours"]
    assert "29 only where GB is taken for GiB" in row["ours"]


def test_a_wrong_cost_model_fails(monkeypatch):
    slow = CostModel(0.02, 0.0, 0.0, 0.0, overhead=STEP_OVERHEAD)
    monkeypatch.setattr("scenarios.acceptance.a.COST", slow)
    assert batching_table(Lab()).passed is False


def test_a_wrong_card_fails(monkeypatch):
    small = Hardware("A100-40GB", memory=32e9, bandwidth=1e12, peak_flops=312e12)
    monkeypatch.setattr("scenarios.acceptance.a.A100", small)
    assert ridge_point(Lab()).passed is False
    monkeypatch.setitem(acceptance.a.HARDWARE, "A100-40GB", small)
    assert kv_capacity(Lab()) == Outcome("3,417 tokens", False)  # (32 x 0.9 - 26) GB / 819,200 B


def test_a_row_whose_run_is_refused_fails_alone(monkeypatch):
    def refused(lab: Lab) -> Outcome:
        raise SettingsError("num_blocks is 0.")

    rows = (Row("X1", "refused", "D", "1", refused), Row("X2", "fine", "D", "1", lambda lab: Outcome("1", True)))
    monkeypatch.setattr(acceptance, "ROWS", rows)
    report = check()
    assert [(row["ours"], row["passed"]) for row in report["rows"]] == [
        ("SettingsError: num_blocks is 0.", False),
        ("1", True),
    ]
    assert (report["passed"], report["failed"]) == (1, 1)


def test_a_static_batch_offers_all_places_until_its_longest_member_ends():
    assert static_use([1, 2, 3]) == (6, 9)


def test_a_scenario_is_run_once_for_all_rows():
    lab = Lab()
    assert lab.trace("last-block", "paged") is lab.trace("last-block", "paged")
    assert lab.metrics("last-block", "paged") is lab.metrics("last-block", "paged")


def test_steps_tell_who_emits_and_who_only_keeps_a_seat():
    trace = batch_of([2, 1], policy="static", max_num_seqs=2)
    first, second = steps_of(trace)
    assert (first.end, first.emitted) == (1.0, {"R1": 1, "R2": 1})
    assert (second.end, second.emitted) == (2.0, {"R1": 2})
    assert second.seats == {0: "R1", 1: "R2"}
    assert lanes_of(batch_of([2, 1, 1], max_num_seqs=2)) == {0: "R1R1", 1: "R2R3"}
