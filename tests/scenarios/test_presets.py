"""A preset in a scenario file, in a run, and on the command line."""

import json
from typing import Any

import pytest

from scenarios.__main__ import main
from scenarios.fields import ScenarioError
from scenarios.scenario import Scenario

FILE: dict[str, Any] = {
    "kvscope_scenario": 1,
    "name": "tiny",
    "settings": {"num_blocks": 8, "block_size": 4},
    "requests": [{"id": "A", "arrival_s": 0, "prompt": {"len": 6}, "output_len": 2}],
}


def test_the_settings_of_a_file_may_begin_with_a_preset():
    scenario = Scenario.load({**FILE, "settings": {**FILE["settings"], "preset": "vllm-v0-v2", "watermark": 0}})
    chosen = scenario.settings_of()
    assert (chosen.free_list, chosen.swap_sharing, chosen.watermark, chosen.num_blocks) == ("left", "lost", 0.0, 8)
    assert Scenario.load(scenario.dump()).settings_of() == chosen


def test_a_run_may_name_a_preset_of_its_own():
    runs = [
        {"name": "v1", "settings": {"preset": "vllm-v0-v1"}},
        {"name": "v2", "settings": {"preset": "vllm-v0-v2", "free_list": "fifo"}},
        {"name": "default"},
    ]
    scenario = Scenario.load({**FILE, "runs": runs})
    chosen = [scenario.settings_of(name) for name in ("v1", "v2", "default")]
    assert [each.free_list for each in chosen] == ["stack", "fifo", "fifo"]
    assert [each.swap_sharing for each in chosen] == ["kept", "lost", "kept"]
    assert [run.settings for run in Scenario.load(scenario.dump()).runs] == [run.settings for run in scenario.runs]


def test_settings_for_all_runs_may_name_a_preset_and_win_over_a_run():
    runs = [{"name": "a", "settings": {"free_list": "fifo"}}, {"name": "b", "settings": {"preset": "vllm-v0-v2"}}]
    scenario = Scenario.load({**FILE, "runs": runs}).with_settings({"preset": "vllm-v0-v1", "watermark": "0.25"})
    assert {scenario.settings_of(name).free_list for name in "ab"} == {"stack"}
    assert {scenario.settings_of(name).watermark for name in "ab"} == {0.25}


@pytest.mark.parametrize("place", ["settings", "run", "all"])
def test_an_unknown_preset_is_one_sentence(place: str):
    bad = {"preset": "orca"}
    with pytest.raises(ScenarioError, match=r"there is no preset 'orca'; known are vllm-v1, .*, mini-sglang\.$"):
        if place == "settings":
            Scenario.load({**FILE, "settings": bad})
        elif place == "run":
            Scenario.load({**FILE, "runs": [{"name": "a", "settings": bad}]})
        else:
            Scenario.load(FILE).with_settings(bad)


def test_a_preset_on_the_command_line_reaches_every_run(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "alan-turing", "--json", "--set", "preset=vllm-v0-v1"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [run["settings"]["free_list"] for run in report["runs"]] == ["stack"]
    assert main(["run", "alan-turing", "--set", "preset=orca"]) != 0
    assert "there is no preset 'orca'; known are vllm-v1" in capsys.readouterr().err
