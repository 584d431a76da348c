"""What the download buttons hand out can be opened again, and gives the same run."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from scenarios.scenario import Scenario
from viz.pages.parts.download import file_name, saved_run, scenario_file

APP = str(Path(__file__).parent.parent.parent / "app.py")
LABELS = ["Offline page", "Save as scenario file", "Saved run (.kvscope)"]


def test_a_scenario_file_keeps_changed_settings() -> None:
    scenario = catalogue.load()["four-samples"].with_settings({"block_size": 8})
    again = Scenario.load(json.loads(scenario_file(scenario)))
    assert again.settings_of("shared").block_size == 8
    assert run(again, "shared").run_id == run(scenario, "shared").run_id


def test_a_saved_run_is_the_run() -> None:
    trace = run(catalogue.load()["four-samples"])
    assert Trace.load(saved_run(trace)).run_id == trace.run_id


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("four-samples-shared.html", "four-samples-shared.html"),
        ("../../etc/passwd.json", "etc-passwd.json"),
        ("<b>a b</b>.kvscope", "b-a-b-b.kvscope"),
        ("聊天记录-static.html", "聊天记录-static.html"),
        ("///.html", "run.html"),
        ("x" * 300 + ".html", "x" * 80 + ".html"),
    ],
)
def test_a_file_name_holds_nothing_that_a_file_system_minds(text: str, name: str) -> None:
    assert file_name(text) == name


def test_the_stage_offers_all_three_files() -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["scenario"] = "four-samples"
    app.run().switch_page("viz/pages/stage.py").run()
    assert not app.exception
    assert [button.proto.label for button in app.get("download_button")] == LABELS
