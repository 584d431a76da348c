"""Which runs stand side by side: what a link says, which runs come back, how far their figures lie apart."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pytest

from scenarios import catalogue
from scenarios.source import Cut
from viz.pages.parts import figure_differences, figures, kept_runs, uploads
from viz.pages.parts.compare_runs import Comparison, Pane, first_of, read

CSV = b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,200,40\n0.0,300,4\n"
SCENARIOS = catalogue.load()
OTHERWISE = first_of(SCENARIOS["step-by-step"])


def _read(params: Mapping[str, list[str]]) -> tuple[Comparison, str | None]:
    return read(params, SCENARIOS, OTHERWISE)


def test_a_link_names_runs_and_their_settings() -> None:
    link = {
        "scenario": ["ten-iterations"],
        "run": ["static", "static"],
        "p2.max_num_seqs": ["2"],
        "clock": ["steps"],
        "f": ["3"],
    }
    comparison, problem = _read(link)
    assert problem is None
    assert comparison == Comparison("ten-iterations", (Pane("static"), Pane("static", {"max_num_seqs": 2})))
    assert comparison.labels == ["static", "static (Sequences at a time: 2)"]


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({}, "static"),
        ({"block_size": 8}, "static (Tokens in a block: 8)"),
        (
            {"max_num_seqs": None, "eviction": "lfu", "seed": 3},
            "static (Sequences at a time: no limit, Evicted first: used least often (lfu) and 1 more)",
        ),
        ({"prefix_caching": True, "block_script": [7, 2]}, "static (Keep full blocks known: yes, First blocks: 7, 2)"),
    ],
)
def test_a_changed_run_is_called_in_the_words_of_the_settings_form(changes: dict[str, Any], label: str) -> None:
    assert Pane("static", changes).label == label


def test_the_parameters_of_a_comparison_lead_back_to_it() -> None:
    panes = (
        Pane("continuous", {"step_time": None, "free_list": "stack", "num_blocks": 32}),
        Pane("static"),
        Pane("continuous"),
    )
    comparison = Comparison("ten-iterations", panes)
    link = {key: value if isinstance(value, list) else [value] for key, value in comparison.params().items()}
    assert _read(link) == (comparison, None)


def test_settings_without_a_number_are_those_of_all_runs() -> None:
    comparison, _ = _read({"scenario": ["ten-iterations"], "p.max_num_seqs": ["2"], "p2.max_num_seqs": ["4"]})
    assert [pane.changes for pane in comparison.panes] == [{"max_num_seqs": 2}, {"max_num_seqs": 4}]


def test_a_setting_that_the_run_has_anyway_is_no_change() -> None:
    comparison, problem = _read({"scenario": ["ten-iterations"], "p1.max_num_seqs": ["3"]})
    assert (comparison.panes[0], problem) == (Pane("static"), None)


def test_a_scenario_of_four_runs_begins_with_two_of_them() -> None:
    assert [pane.run for pane in first_of(SCENARIOS["four-managers"]).panes] == ["max", "pow2"]


def test_two_equal_runs_have_different_names() -> None:
    assert Comparison("x", (Pane("a"), Pane("b"), Pane("a"))).labels == ["a", "b", "a (2)"]


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"scenario": ["<b>"]}, "There is no scenario “<b>”; this is “step-by-step” instead."),
        ({"run": ["static", "fast"]}, "There is no run “fast” here, only static, continuous."),
        ({"run": ["static"] * 4}, "The link names 4 runs; at most 3 stand side by side."),
        ({"p3.num_blocks": ["8"]}, "The link changes a setting of run 3; there are 2."),
        ({"p0.num_blocks": ["8"]}, "The link changes a setting of run 0; there are 2."),
        ({"p99999999999.num_blocks": ["8"]}, "The link changes a setting of run 99999999999; there are 2."),
        ({f"p{'9' * 5000}.num_blocks": ["8"]}, f"The link changes a setting of run {'9' * 60}…; there are 2."),
        ({"clock": ["hours"]}, "There is no clock “hours”, only steps and time."),
        ({"p1.block_size": ["0"]}, "A setting in the link cannot be used: run static: block_size is 0"),
        ({"p1.colour": ["red"]}, "A setting in the link cannot be used: there is no setting “colour”."),
    ],
)
def test_what_does_not_exist_is_named_in_one_sentence(link: dict[str, list[str]], sentence: str) -> None:
    comparison, problem = _read({"scenario": ["ten-iterations"], **link})
    assert problem is not None and problem.startswith(sentence)
    assert 1 <= len(comparison.panes) <= 3 and all(not pane.changes for pane in comparison.panes)


@pytest.mark.parametrize("link", [{"run": ["static"]}, {"p2.block_size": ["8"]}])
def test_a_link_without_a_scenario_says_so(link: dict[str, list[str]]) -> None:
    assert _read(link) == (OTHERWISE, "The link names no scenario; this is “step-by-step”.")


def test_a_link_to_a_file_names_its_part_and_its_runs() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    comparison, problem = _read({"file": [upload.digest], "first": ["2"], "run": ["static", "chunked"]})
    assert problem is None
    assert (comparison.file, comparison.cut) == (upload.digest, Cut(first=2))
    assert [pane.run for pane in comparison.panes] == ["static", "chunked"]
    link = {key: value if isinstance(value, list) else [value] for key, value in comparison.params().items()}
    assert _read(link) == (comparison, None)


@pytest.mark.parametrize("link", [{"file": ["0" * 16]}, {"file": ["x"], "first": ["-1"]}])
def test_a_link_to_a_file_that_is_not_here_gets_a_sentence(link: dict[str, list[str]]) -> None:
    comparison, problem = _read(link)
    assert comparison == OTHERWISE
    assert problem


def test_the_last_five_runs_off_the_screen_are_kept_each_once() -> None:
    used: list[Comparison] = []
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 3]:
        used = kept_runs.used_last([Comparison("x", (Pane("run", {"seed": number}),))], used)
    assert [run.panes[0].changes["seed"] for run in used] == [3, 9, 8, 7, 6, 5, 4, 2]


def test_a_kept_run_comes_back_beside_the_others_of_its_scenario() -> None:
    shown = Comparison("x", (Pane("a"), Pane("b")))
    kept = Comparison("x", (Pane("c"),))
    assert [pane.run for pane in kept_runs.brought_back(shown, kept).panes] == ["a", "b", "c"]
    full = shown.with_pane(2, Pane("d"))
    assert [pane.run for pane in kept_runs.brought_back(full, kept).panes] == ["a", "b", "c"]
    other = Comparison("y", (Pane("c"),))
    assert kept_runs.brought_back(shown, other) == other


def test_differences_of_figures_have_sign_ratio_and_unit() -> None:
    difference = figure_differences.difference
    assert difference(10, 15, figures.count) == "+5 (1.50 x)"
    assert difference(2.0, 0.5, figures.seconds) == "−1.50 s (0.25 x)"
    assert difference(0, 4, figures.count) == "+4"
    assert difference(0.667, 1.0, figures.share) == "+33.3 points"
    assert difference(0.5, 0.5001, figures.share) == "same"
    assert difference(None, 1.0, figures.share) == figures.NOTHING
