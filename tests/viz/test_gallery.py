"""The gallery: a question on every card, a search that finds, chips, and one sentence when nothing fits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from scenarios import catalogue
from scenarios.scenario import Scenario
from viz import covers
from viz.pages.parts.gallery import drawn, found

APP = str(Path(__file__).parent.parent.parent / "app.py")
SCENARIOS = catalogue.load()


def _open(**state: Any) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in state.items():
        app.session_state[name] = value
    return app.run()


def _links(app: AppTest) -> list[str]:
    return [link.proto.label for link in app.get("page_link")]


def _names(chip: str | None, search: str) -> set[str]:
    return {scenario.name for scenario in found(SCENARIOS.values(), chip, search)}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_asks_one_short_question(name: str) -> None:
    question = SCENARIOS[name].question["en"]
    assert question.endswith("?") and question.count("?") == 1
    assert 15 < len(question) <= 43


def test_no_two_scenarios_ask_the_same() -> None:
    assert len({scenario.question["en"] for scenario in SCENARIOS.values()}) == len(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_question_and_cover_stay_out_of_the_file(name: str) -> None:
    data = SCENARIOS[name].dump()
    assert "question" not in data and "cover" not in data
    assert Scenario.load(data).question == {}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_cover_is_a_bookmark_of_its_scenario(name: str) -> None:
    scenario = SCENARIOS[name]
    assert scenario.cover is None or 0 <= scenario.cover < len(scenario.bookmarks)


def test_every_word_of_a_search_has_to_occur() -> None:
    assert _names(None, "turing") == {"alan-turing"}
    assert _names(None, "TURING  demand") == {"alan-turing"}
    assert _names(None, "turing oracle") == set()
    assert _names(None, "B05") == {"ten-iterations"}
    assert _names(None, "") == set(SCENARIOS)


def test_chip_and_search_narrow_each_other() -> None:
    both = _names("Sharing", "copied")
    assert both == _names("Sharing", "") & _names(None, "copied")
    assert "four-samples-aligned" in both and "static-vs-continuous" not in both


def test_every_card_has_a_picture_a_link_and_its_question() -> None:
    app = _open()
    assert not app.exception
    texts = [str(text.value) for text in app.text]
    for scenario in SCENARIOS.values():
        assert scenario.question["en"] in texts
    pictures = [each for each in app.get("bidi_component") if "cover" in each.proto.component_name]
    assert len(pictures) == len(_links(app)) == len(SCENARIOS)


def test_a_search_leaves_the_cards_that_it_finds() -> None:
    app = _open()
    app.text_input(key="search").set_value("turing").run()
    assert not app.exception
    assert _links(app) == ["Alan Turing\\: blocks on demand"]


def test_a_search_without_a_hit_is_answered_and_can_be_taken_back() -> None:
    app = _open()
    app.pills(key="chip").select("Sharing").run()
    app.text_input(key="search").set_value("<b>nothing</b>").run()
    assert not app.exception
    assert _links(app) == []
    assert "No scenario of Sharing has “<b>nothing</b>” in it." in [str(text.value) for text in app.text]
    app.button[0].click().run()
    assert not app.exception
    assert len(_links(app)) == len(SCENARIOS)


def test_every_card_has_its_true_picture_before_anything_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise AssertionError("a run was computed")

    monkeypatch.setattr(covers, "run", run)
    for scenario in SCENARIOS.values():
        assert drawn(scenario) != covers.blank(), scenario.name


def test_a_scenario_without_a_recorded_picture_has_it_drawn() -> None:
    stranger = replace(SCENARIOS["alan-turing"], name="stranger")
    assert drawn(stranger) == covers.cover(SCENARIOS["alan-turing"])


def test_a_picture_that_cannot_be_drawn_leaves_an_empty_place(caplog: pytest.LogCaptureFixture) -> None:
    broken = replace(SCENARIOS["alan-turing"], name="bad", cover=99)
    assert drawn(broken) == covers.blank()
    assert "the cover of bad could not be drawn" in caplog.text
