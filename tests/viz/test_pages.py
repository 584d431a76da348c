"""Every page as Streamlit runs it, without a browser: nothing fails, the player gets bytes that hold the right run."""

import json
import struct
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from viz.pages.parts import uploads

APP = str(Path(__file__).parent.parent.parent / "app.py")
STAGE = "viz/pages/stage.py"
OWN = "viz/pages/bring_your_own.py"
LARGE = ("four-managers", "static-vs-continuous", "equal-lengths", "h100-capacity")
CSV = b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,20,4\n0.5,many,4\n1.0,30,5\n"


def _open(page: str | None = None, params: Mapping[str, str] | None = None, **state: Any) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in (params or {}).items():
        app.query_params[name] = value
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    return app.switch_page(page).run() if page else app


def _texts(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in app.text)


def _runs(app: AppTest) -> list[Trace]:
    """The runs inside the bytes of the player on the page."""
    (component,) = app.get("bidi_component")
    data = component.proto.bytes
    (length,) = struct.unpack("<I", data[:4])
    traces, at = [], 4 + length
    for size in json.loads(data[4:at])["lengths"]:
        traces.append(Trace.load(data[at : at + size]))
        at += size
    return traces


def test_the_gallery_shows_every_scenario() -> None:
    app = _open()
    assert not app.exception
    links = [link.proto.label for link in app.get("page_link")]
    assert len(links) == len(catalogue.load())
    assert "Four samples share one prompt" in links


def test_a_chip_leaves_its_scenarios() -> None:
    app = _open()
    app.pills(key="chip").select("Sharing").run()
    assert not app.exception
    sharing = [scenario for scenario in catalogue.load().values() if "Sharing" in scenario.chips]
    assert 0 < len(app.get("page_link")) == len(sharing) < len(catalogue.load())


@pytest.mark.parametrize("name", [name for name in catalogue.load() if name not in LARGE])
def test_the_stage_sends_the_run_of_every_scenario(name: str) -> None:
    scenario = catalogue.load()[name]
    last = scenario.runs[-1].name
    app = _open(STAGE, {"scenario": name, "run": last})
    assert not app.exception
    (trace,) = _runs(app)
    assert trace.run_id == run(scenario, last).run_id
    assert "Cannot show this" not in _texts(app)


def test_the_stage_without_a_link_shows_the_first_scenario() -> None:
    app = _open(STAGE)
    assert not app.exception
    assert app.selectbox(key="scenario").value == next(iter(catalogue.load()))
    assert app.query_params["scenario"] == next(iter(catalogue.load()))


def test_another_scenario_is_another_run_and_drops_the_frame_of_the_link() -> None:
    app = _open(STAGE, {"scenario": "step-by-step", "run": "static", "f": "3"})
    app.selectbox(key="scenario").select("four-samples").run()
    assert not app.exception
    assert _runs(app)[0].run_id == run(catalogue.load()["four-samples"]).run_id
    assert "f" not in app.query_params


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"scenario": "<script>"}, "There is no scenario “<script>”"),
        ({"scenario": "step-by-step", "run": "fast"}, "has no run “fast”"),
        ({"scenario": "step-by-step", "p.block_size": "1e99"}, "block_size"),
        ({"scenario": "step-by-step", "p.kv_manager": "max"}, "set max_model_len"),
    ],
)
def test_a_wrong_link_gets_a_sentence_and_still_a_run(params: dict[str, str], sentence: str) -> None:
    app = _open(STAGE, params)
    assert not app.exception
    assert sentence in _texts(app)
    assert len(_runs(app)) == 1


def test_settings_of_a_link_reach_the_run() -> None:
    app = _open(STAGE, {"scenario": "four-samples", "p.block_size": "8", "p.num_blocks": "96"})
    assert not app.exception
    (trace,) = _runs(app)
    assert (trace.header["block_size"], trace.header["settings"]["num_blocks"]) == (8, 96)


def test_an_empty_upload_page_says_what_it_takes() -> None:
    app = _open(OWN)
    assert not app.exception
    assert "at most 200 MB" in _texts(app)


def test_a_file_is_read_with_every_rejected_row_named() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, upload=upload.digest)
    assert not app.exception
    assert "3 rows: 2 accepted (2 requests), 1 rejected" in _texts(app)
    (rejected,) = [frame.value for frame in app.dataframe if "code" in frame.value]
    assert rejected["line"].tolist() == [3] and rejected["code"].tolist() == ["text"]


@pytest.mark.parametrize("view", ["static", "continuous", "chunked"])
def test_a_file_runs_under_three_policies(view: str) -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, upload=upload.digest, asked=True, show=view)
    assert not app.exception
    (trace,) = _runs(app)
    assert trace.header["settings"]["policy"] == view
    assert (app.query_params["file"], app.query_params["run"]) == (upload.digest, view)
    assert app.dataframe[0].value["Figure"].tolist()[:2] == ["Requests", "Finished"]


def test_the_figures_of_all_runs_stand_side_by_side() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, upload=upload.digest, asked=True, show="chunked")
    end = monotonic() + 60
    while len(app.dataframe[0].value.columns) < 4 and monotonic() < end:
        app.run()
    table = app.dataframe[0].value.set_index("Figure")
    assert table.loc["Finished"].to_dict() == {"static": "2", "continuous": "2", "chunked": "2"}


@pytest.mark.parametrize("params", [{"file": "0" * 16}, {"file": "0" * 16, "run": "<b>"}, {"file": "x", "first": "-1"}])
def test_a_link_to_a_file_that_is_not_here_gets_a_sentence(params: dict[str, str]) -> None:
    app = _open(OWN, params)
    assert not app.exception
    assert "Cannot show this" in _texts(app)
