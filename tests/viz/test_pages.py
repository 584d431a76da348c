"""Every page as Streamlit runs it, without a browser: nothing fails, the player gets bytes that hold the right run."""

from threading import Event

import pytest

from scenarios import catalogue
from scenarios.run import run
from scenarios.scenario import Scenario
from tests.viz.app_pages import STAGE, bookmarks, in_place, open_page, runs_of, story, texts
from viz.pages.parts import page, runs
from viz.pages.parts.jobs import Report

LARGE = ("four-managers", "static-vs-continuous", "equal-lengths", "h100-capacity")


def test_the_gallery_shows_every_scenario() -> None:
    app = open_page()
    assert not app.exception
    links = [link.proto.label for link in app.get("page_link")]
    assert len(links) == len(catalogue.load())
    assert "Four samples share one prompt" in links


def test_a_chip_leaves_its_scenarios() -> None:
    app = open_page()
    app.pills(key="chip").select("Sharing").run()
    assert not app.exception
    sharing = [scenario for scenario in catalogue.load().values() if "Sharing" in scenario.chips]
    assert 0 < len(app.get("page_link")) == len(sharing) < len(catalogue.load())


@pytest.mark.parametrize("name", [name for name in catalogue.load() if name not in LARGE])
def test_the_stage_sends_the_run_of_every_scenario(name: str) -> None:
    scenario = catalogue.load()[name]
    last = scenario.runs[-1].name
    app = open_page(STAGE, {"scenario": name, "run": last})
    assert not app.exception
    (trace,) = runs_of(app)
    assert trace.run_id == run(scenario, last).run_id
    assert "Cannot show this" not in texts(app)


def test_the_stage_without_a_link_shows_the_first_scenario() -> None:
    app = open_page(STAGE)
    assert not app.exception
    assert app.selectbox(key="scenario").value == next(iter(catalogue.load()))
    assert f"scenario={next(iter(catalogue.load()))}&run=" in in_place(app)


def test_another_scenario_is_another_run_and_drops_the_frame_of_the_link() -> None:
    app = open_page(STAGE, {"scenario": "step-by-step", "run": "static", "f": "3"})
    app.selectbox(key="scenario").select("four-samples").run()
    assert not app.exception
    assert runs_of(app)[0].run_id == run(catalogue.load()["four-samples"]).run_id
    assert "f" not in app.query_params


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"scenario": "<script>"}, "There is no scenario “<script>”"),
        ({"run": "static"}, "The link names no scenario; this is “"),
        ({"scenario": "step-by-step", "run": "fast"}, "has no run “fast”"),
        ({"scenario": "step-by-step", "p.block_size": "1e99"}, "block_size"),
        ({"scenario": "step-by-step", "p.kv_manager": "max"}, "set max_model_len"),
    ],
)
def test_a_wrong_link_gets_a_sentence_and_still_a_run(params: dict[str, str], sentence: str) -> None:
    app = open_page(STAGE, params)
    assert not app.exception
    assert sentence in texts(app)
    assert "The link has a mistake" in texts(app) and "Cannot show this" not in texts(app)
    assert len(runs_of(app)) == 1
    app.run()
    assert sentence in texts(app)
    app.button(key="act-on-link").click().run()
    assert "The link has a mistake" not in texts(app)
    assert len(runs_of(app)) == 1


def test_changed_settings_have_no_lecture_steps_and_the_story_says_so() -> None:
    app = open_page(STAGE, {"scenario": "four-samples"})
    assert len(bookmarks(app)) == 3
    assert story(app) == ["The story", "The story"]
    app = open_page(STAGE, {"scenario": "four-samples", "p.block_size": "8"})
    assert bookmarks(app) == []
    assert story(app) == ["Story of the original settings"] * 2
    app = open_page(STAGE, {"scenario": "four-samples", "p.block_size": "16"})
    assert len(bookmarks(app)) == 3


def test_the_way_back_leads_to_the_settings_of_the_scenario() -> None:
    app = open_page(STAGE, {"scenario": "four-samples", "p.block_size": "8"})
    app.button(key="back-to-own").click().run()
    assert not app.exception
    assert "p.block_size" not in app.query_params
    assert runs_of(app)[0].header["block_size"] == 16
    assert not [button for button in app.button if button.key == "back-to-own"]


@pytest.mark.parametrize(
    ("params", "runs"),
    [
        ({"scenario": "step-by-step", "run": "static"}, "run=static&run=continuous"),
        ({"scenario": "four-samples"}, None),
        ({"scenario": "four-samples", "p.block_size": "8"}, "run=shared&run=shared&p1.block_size=8"),
    ],
)
def test_the_stage_leads_to_compare_where_there_is_something_to_compare(
    params: dict[str, str], runs: str | None
) -> None:
    app = open_page(STAGE, params)
    links = [link.proto for link in app.get("page_link") if link.proto.label == "Compare"]
    assert len(links) == (runs is not None)
    assert all(runs in link.query_string for link in links)


def test_a_run_that_takes_long_shows_at_once_what_is_being_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    go, compute = Event(), runs._compute
    monkeypatch.setattr(page, "PATIENCE", 0.1)

    def wait(scenario: Scenario, name: str, report: Report) -> runs.Finished:
        report(0.25, "3 of 12 requests")
        go.wait(60)
        return compute(scenario, name, report)

    monkeypatch.setattr(runs, "_compute", wait)
    app = open_page(STAGE, {"scenario": "four-samples", "p.seed": "78"})
    assert not app.exception
    assert "The run is being computed: 3 of 12 requests" in texts(app)
    assert any("outlines" in html.proto.body for html in app.get("html"))
    assert app.button(key="stop").label == "Stop"
    go.set()
    monkeypatch.setattr(page, "PATIENCE", 60.0)
    app.run()
    assert not app.exception
    assert len(runs_of(app)) == 1


def test_stop_ends_a_run_for_the_session_that_pressed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    go, compute, begun = Event(), runs._compute, []
    monkeypatch.setattr(page, "PATIENCE", 0.1)

    def wait(scenario: Scenario, name: str, report: Report) -> runs.Finished:
        begun.append(name)
        while not go.wait(0.01):
            report(0.25, "3 of 12 requests")
        return compute(scenario, name, report)

    monkeypatch.setattr(runs, "_compute", wait)
    ann, bob = (open_page(STAGE, {"scenario": "four-samples", "p.seed": "79"}) for _ in range(2))
    ann.button(key="stop").click().run()
    assert "Stopped" in texts(ann)
    bob.run()
    assert "The run is being computed: 3 of 12 requests" in texts(bob)
    bob.button(key="stop").click().run()
    assert "Stopped" in texts(bob)
    go.set()
    monkeypatch.setattr(page, "PATIENCE", 60.0)
    for app in (ann, bob):
        next(button for button in app.button if button.label == "Run again").click().run()
        app.run()
        assert not app.exception
        assert len(runs_of(app)) == 1
    assert begun == ["shared"] * 2


def test_settings_of_a_link_reach_the_run() -> None:
    app = open_page(STAGE, {"scenario": "four-samples", "p.block_size": "8", "p.num_blocks": "96"})
    assert not app.exception
    (trace,) = runs_of(app)
    assert (trace.header["block_size"], trace.header["settings"]["num_blocks"]) == (8, 96)


def test_a_filter_of_the_gallery_stands_in_the_address_and_comes_back_with_it() -> None:
    app = open_page()
    app.pills(key="chip").select("Sharing").run()
    assert "show=Sharing" in in_place(app)
    app = open_page(params={"show": "Sharing", "search": "aligned"})
    assert app.pills(key="chip").value == "Sharing"
    assert app.text_input(key="search").value == "aligned"
    assert len(app.get("page_link")) == 1


def test_a_filter_that_does_not_exist_gets_a_sentence_and_every_scenario() -> None:
    app = open_page(params={"show": "<b>"})
    assert not app.exception
    assert app.pills(key="chip").value == "All"
    assert "The link has a mistake" in texts(app)
    assert "There is nothing called “<b>”, only " in texts(app)
    assert len(app.get("page_link")) == len(catalogue.load())
    app.button(key="act-on-link").click().run()
    assert "The link has a mistake" not in texts(app)
    assert "The link has a mistake" not in texts(open_page(params={"show": "All"}))
