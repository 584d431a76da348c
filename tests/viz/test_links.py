"""What a link says, and what is said when it names what is not there."""

import pytest

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Run, Scenario
from viz.pages.parts.links import Choice, quoted, read


def _scenario(name: str) -> Scenario:
    return Scenario(
        name=name,
        title={"en": name},
        story={"en": ""},
        settings=Settings(num_blocks=16),
        runs=(Run("continuous", {}), Run("static", {"policy": "static"})),
        requests=read_requests([{"id": "A", "prompt": {"len": 8}, "output_len": 2}]),
    )


CATALOGUE = {name: _scenario(name) for name in ("one", "two")}
OTHERWISE = Choice("one", "continuous")


def test_a_link_chooses_scenario_run_and_settings() -> None:
    choice, problems = read({"scenario": "two", "run": "static", "p.block_size": "8"}, CATALOGUE, OTHERWISE)
    assert (choice, problems) == (Choice("two", "static", {"block_size": "8"}), [])


def test_a_link_without_a_run_means_the_first_one() -> None:
    assert read({"scenario": "two"}, CATALOGUE, OTHERWISE) == (Choice("two", "continuous"), [])


def test_an_unknown_scenario_is_named_in_one_sentence() -> None:
    choice, problems = read({"scenario": "<b>three</b>", "run": "static"}, CATALOGUE, OTHERWISE)
    assert choice == OTHERWISE
    assert problems == ["There is no scenario “<b>three</b>”; this is “one” instead."]


def test_an_unknown_run_falls_back_to_the_first_of_its_scenario() -> None:
    choice, problems = read({"scenario": "two", "run": "fast"}, CATALOGUE, OTHERWISE)
    assert choice == Choice("two", "continuous")
    assert problems == ["Scenario “two” has no run “fast”, only continuous, static; this is continuous."]


def test_a_setting_out_of_range_is_refused_and_the_own_settings_stay() -> None:
    choice, problems = read({"scenario": "two", "p.block_size": "0"}, CATALOGUE, OTHERWISE)
    assert choice == Choice("two", "continuous")
    assert len(problems) == 1 and "block_size is 0" in problems[0] and "between 1 and 65536" in problems[0]


def test_an_unknown_setting_is_refused_by_name() -> None:
    _, problems = read({"scenario": "two", "p.colour": "red"}, CATALOGUE, OTHERWISE)
    assert problems == ["A setting in the link cannot be used, so none is changed: there is no setting “colour”."]


def test_the_parameters_of_a_choice_lead_back_to_it() -> None:
    changes = {"num_blocks": None, "block_script": [7, 2], "admit_full_prompt": False, "watermark": 0.1}
    params = Choice("two", "static", changes).params()
    choice, problems = read(params, CATALOGUE, OTHERWISE)
    assert problems == []
    settings = CATALOGUE["two"].with_settings(choice.changes).settings_of("static")
    assert (settings.num_blocks, settings.block_script) == (None, (7, 2))
    assert (settings.admit_full_prompt, settings.watermark) == (False, 0.1)


def test_a_link_can_take_the_block_script_away() -> None:
    scenario = CATALOGUE["one"].with_settings({"block_script": [7, 2]})
    params = Choice("one", "static", {"block_script": []}).params()
    assert params["p.block_script"] == "none"
    for text in ("none", ""):
        choice, problems = read({**params, "p.block_script": text}, {"one": scenario}, OTHERWISE)
        assert problems == []
        assert scenario.with_settings(choice.changes).settings_of("static").block_script == ()


@pytest.mark.parametrize("params", [{"run": "static"}, {"p.block_size": "8", "f": "3"}])
def test_a_link_without_a_scenario_says_so(params: dict[str, str]) -> None:
    assert read(params, CATALOGUE, OTHERWISE) == (OTHERWISE, ["The link names no scenario; this is “one”."])


@pytest.mark.parametrize("params", [{}, {"f": "3", "pane": "1"}])
def test_an_address_that_asks_for_nothing_gets_no_sentence(params: dict[str, str]) -> None:
    assert read(params, CATALOGUE, OTHERWISE) == (OTHERWISE, [])


def test_a_quoted_text_is_one_short_line() -> None:
    assert quoted("a\n b") == "“a b”"
    assert len(quoted("x" * 1000)) == 62
