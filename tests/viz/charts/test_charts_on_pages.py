"""Charts on the pages, as Streamlit runs them: none is loaded with the page, a tab draws its own, a table stands by each."""

import json
from io import BytesIO
from pathlib import Path
from time import monotonic

import pytest
from streamlit.testing.v1 import AppTest

from viz.pages.parts import charts, uploads

APP = str(Path(__file__).parents[3] / "app.py")
CSV = 'id,arrival_s,prompt_len,output_len\n"a[0]",0,5,2\n"he said ""hi""",1,5,2\n=1+1,2,5,2\n🙂,2.5,5,2\n'.encode()


def _open(page: str, params: dict[str, str], **state: object) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in params.items():
        app.query_params[name] = value
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    return app.switch_page(page).run()


def _stage(tab: str | None, scenario: str = "three-wastes") -> AppTest:
    return _open("viz/pages/stage.py", {"scenario": scenario}, **({charts.KEY: tab} if tab else {}))


def _specs(app: AppTest) -> list[dict]:
    return [json.loads(element.proto.spec) for element in app.get("vega_lite_chart")]


def _texts(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in app.text)


def test_a_page_opens_with_its_figures_and_without_a_chart() -> None:
    app = _stage(None)
    assert not app.exception
    assert app.dataframe[0].value["Figure"].tolist()[:2] == ["Requests", "Finished"]
    assert _specs(app) == [] and len(app.get("bidi_component")) == 1


@pytest.mark.parametrize("tab", [charts.MEMORY, charts.BATCH, charts.SPEED, charts.SPREAD])
def test_a_tab_draws_its_charts_with_words_and_a_table_each(tab: str) -> None:
    app = _stage(tab)
    names = (*charts.OF_ONE_RUN.get(tab, ()), *charts.OF_RUNS.get(tab, ()))
    assert not app.exception
    assert [spec["name"] for spec in _specs(app)] == list(names)
    assert len(names) <= 6 and len(app.dataframe) == len(names)
    assert all(element.proto.alt for element in app.get("vega_lite_chart"))
    assert len(app.get("bidi_component")) == 1


def test_charts_side_by_side_have_every_run_of_the_scenario() -> None:
    app = _stage(charts.SPEED)
    end = monotonic() + 30
    while len(app.dataframe[0].value) < 4 and monotonic() < end:
        app.run()
    assert app.dataframe[0].value["run"].tolist() == ["max", "pow2", "oracle", "paged"]


def test_settings_that_another_run_refuses_leave_the_others() -> None:
    app = _open(
        "viz/pages/stage.py",
        {"scenario": "three-wastes", "run": "paged", "p.max_model_len": "none"},
        **{charts.KEY: charts.SPEED},
    )
    assert not app.exception
    assert "max: " in _texts(app) and len(_specs(app)) == 4


def test_a_scenario_of_operations_says_that_there_is_nothing_to_show() -> None:
    app = _stage(charts.SPREAD, "address-translation")
    assert not app.exception
    assert _specs(app) == [] and "Nothing to show: no request came that far." in _texts(app)


def test_the_requests_stand_in_a_table_with_a_file() -> None:
    app = _stage(charts.REQUESTS)
    assert not app.exception
    assert "status" in app.dataframe[0].value.columns
    assert "Download as CSV" in [button.proto.label for button in app.get("download_button")]


def test_a_file_shows_its_lengths_and_arrivals_before_it_runs() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open("viz/pages/bring_your_own.py", {"file": upload.digest})
    assert not app.exception
    assert [spec["name"] for spec in _specs(app)] == ["prompt_lengths", "output_lengths", "arrivals"]


def test_the_runs_of_a_file_have_the_same_tabs() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    params = {"file": upload.digest, "run": "static"}
    app = _open("viz/pages/bring_your_own.py", params, **{charts.KEY: charts.SPREAD})
    assert not app.exception
    assert [spec["name"] for spec in _specs(app)] == list(charts.OF_RUNS[charts.SPREAD])
