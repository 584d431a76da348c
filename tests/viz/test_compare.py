"""The Compare page: what it sends to the player, its figures, and what its controls do to the link."""

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.fields import ScenarioError
from scenarios.run import run
from scenarios.scenario import Scenario
from tests.viz.app_pages import given, header_of
from viz.pages.parts import runs, uploads
from viz.pages.parts.jobs import Report

APP = str(Path(__file__).parent.parent.parent / "app.py")
COMPARE = "viz/pages/compare.py"
CSV = b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,200,40\n0.0,300,4\n0.1,3000,5\n"
SCENARIOS = catalogue.load()

Params = Mapping[str, str | list[str]]


def _open(params: Params) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in params.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(COMPARE).run()


def _texts(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in app.text)


def test_the_player_gets_both_runs_with_their_difference() -> None:
    app = _open({"scenario": "ten-iterations", "run": ["static", "continuous"]})
    assert not app.exception
    blobs = given(app)[1]
    wanted = [run(SCENARIOS["ten-iterations"], name).run_id for name in ("static", "continuous")]
    assert [Trace.load(blob).run_id for blob in blobs] == wanted
    headers = [header_of(blob) for blob in blobs]
    assert [header["run_name"] for header in headers] == ["static", "continuous"]
    assert {header["clock"] for header in headers} == {"time"}
    assert [header["difference"]["steps"]["step"] for header in headers] == [3, 3]
    assert "in iteration 4, where continuous admits D in A's place" in _texts(app)


def test_static_and_continuous_part_at_once_in_the_demo_of_five_requests() -> None:
    app = _open({})
    assert not app.exception
    scripts = [html.proto.body for html in app.get("html") if "replaceState" in html.proto.body]
    assert "scenario=step-by-step&run=continuous&run=static" in scripts[0]
    assert "by iterations in iteration 1" in _texts(app)
    assert "by time at 0 ms" in _texts(app)


def test_the_same_figures_stand_beside_each_other_with_their_differences() -> None:
    app = _open({"scenario": "ten-iterations"})
    table = app.dataframe[0].value.set_index("Figure")
    assert table.loc["Iterations"].tolist() == ["15", "10", "−5 (0.67 x)"]
    assert table.loc["Seats in use"].tolist() == ["66.7%", "100.0%", "+33.3 points"]
    assert table.columns.tolist() == ["static", "continuous", "continuous, against static"]


def test_a_run_is_removed_and_comes_back_from_the_earlier_ones() -> None:
    app = _open({"scenario": "ten-iterations", "f": "3"})
    next(button for button in app.button if button.label == "Remove this run").click().run()
    assert (app.query_params["run"], "f" in app.query_params) == ("continuous", False)
    assert len(given(app)[1]) == 1
    assert "This is one run; add another one" in _texts(app)
    app.button(key="earlier-0").click().run()
    assert not app.exception
    assert app.query_params["run"] == ["continuous", "static"]
    assert len(given(app)[1]) == 2


def test_a_run_is_added_with_changed_settings() -> None:
    app = _open({"scenario": "ten-iterations"})
    app.segmented_control(key="pane-2").select(2).run()
    next(field for field in app.text_input if "`max_num_seqs`" in field.label).set_value("2")
    next(button for button in app.button if button.label == "Run with these settings").click().run()
    assert not app.exception
    assert app.query_params["run"] == ["static", "continuous", "static"]
    assert app.query_params["p3.max_num_seqs"] == "2"
    assert [Trace.load(blob).header["settings"]["max_num_seqs"] for blob in given(app)[1]] == [3, 3, 2]
    assert "Add a run" not in app.segmented_control(key="pane-3").options


def test_a_refused_setting_gets_a_sentence_and_the_runs_stay() -> None:
    app = _open({"scenario": "ten-iterations"})
    next(field for field in app.text_input if "`block_size`" in field.label).set_value("0")
    next(button for button in app.button if button.label == "Run with these settings").click().run()
    assert not app.exception
    assert "block_size is 0" in _texts(app)
    assert len(given(app)[1]) == 2


def test_another_scenario_stands_in_the_link() -> None:
    app = _open({"scenario": "ten-iterations"})
    app.selectbox(key="compared").select("three-wastes").run()
    assert not app.exception
    assert app.query_params == {"scenario": "three-wastes", "run": ["max", "pow2"]}
    assert [header_of(blob)["run_name"] for blob in given(app)[1]] == ["max", "pow2"]


def test_the_moment_of_the_player_stays_in_the_link() -> None:
    moment = {"f": "3", "clock": "steps", "pane": "2", "sel": "r3"}
    app = _open({"scenario": "ten-iterations", "p.block_size": "8", **moment})
    assert not app.exception
    changed = {"p1.block_size": "8", "p2.block_size": "8"}
    assert app.query_params == {"scenario": "ten-iterations", "run": ["static", "continuous"], **changed, **moment}


def test_a_scenario_of_one_run_is_shown_and_asks_for_another() -> None:
    app = _open({"scenario": "four-samples"})
    assert not app.exception
    assert len(given(app)[1]) == 1
    assert "This is one run; add another one" in _texts(app)


def test_a_wrong_link_gets_one_sentence_and_still_runs() -> None:
    app = _open({"scenario": "ten-iterations", "run": ["static", "<img>"], "p9.x": "1", "clock": "z"})
    assert not app.exception
    assert _texts(app).count("The link has a mistake") == 1
    assert len(given(app)[1]) == 1
    assert app.query_params == {"scenario": "ten-iterations", "run": "static"}


def test_the_runs_of_an_uploaded_file_are_compared() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open({"file": upload.digest, "run": ["static", "chunked"], "p1.max_num_seqs": "1"})
    assert not app.exception
    traces = [Trace.load(blob) for blob in given(app)[1]]
    assert [trace.header["settings"]["max_num_seqs"] for trace in traces] == [1, 256]
    assert len(traces[0].requests) == 3
    assert "First difference" in _texts(app)
    assert "works only on this server" in _texts(app)


def test_a_pane_that_cannot_be_computed_is_named_and_the_other_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    compute = runs._compute

    def refuse(scenario: Scenario, name: str, report: Report) -> runs.Finished:
        if name == "continuous":
            raise ScenarioError("this run is too large.")
        return compute(scenario, name, report)

    monkeypatch.setattr(runs, "_compute", refuse)
    app = _open({"scenario": "ten-iterations", "p.seed": "77"})
    assert not app.exception
    assert len(given(app)[1]) == 1
    assert "Without continuous (Seed: 77)" in _texts(app) and "this run is too large." in _texts(app)


def test_the_runs_of_an_uploaded_scenario_file_are_its_own() -> None:
    content = json.dumps(SCENARIOS["three-wastes"].dump()).encode()
    upload = uploads.store().keep(BytesIO(content), "mine.json")
    app = _open({"file": upload.digest, "run": ["oracle", "paged"]})
    assert not app.exception
    wanted = [run(SCENARIOS["three-wastes"], name).run_id for name in ("oracle", "paged")]
    assert [Trace.load(blob).run_id for blob in given(app)[1]] == wanted


def test_a_saved_run_cannot_be_compared_and_the_page_says_why() -> None:
    stream = BytesIO()
    run(SCENARIOS["four-samples"]).save(stream)
    app = _open({"file": uploads.store().keep(stream, "mine.kvscope").digest})
    assert not app.exception
    assert "A saved run keeps its settings" in _texts(app)
    assert len(given(app)[1]) == 2
