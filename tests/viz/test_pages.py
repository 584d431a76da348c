"""Every page as Streamlit runs it, without a browser: nothing fails, the player gets bytes that hold the right run."""

import json
import struct
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine.trace import codec
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS
from scenarios import catalogue
from scenarios.run import run
from scenarios.scenario import Scenario
from viz.pages.parts import cut_form, example_file, page, runs, uploads
from viz.pages.parts.compare_runs import Comparison, Pane
from viz.pages.parts.jobs import Report

APP = str(Path(__file__).parent.parent.parent / "app.py")
STAGE = "viz/pages/stage.py"
OWN = "viz/pages/bring_your_own.py"
LARGE = ("four-managers", "static-vs-continuous", "equal-lengths", "h100-capacity")
CSV = b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,20,4\n0.5,many,4\n1.0,30,5\n"


def _open(name: str | None = None, params: Mapping[str, str] | None = None, **state: Any) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in (params or {}).items():
        app.query_params[key] = value
    for key, value in state.items():
        app.session_state[key] = value
    app.run()
    return app.switch_page(name).run() if name else app


def _texts(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in app.text)


def _in_place(app: AppTest) -> str:
    """The script that puts the address into place where the page was opened without one."""
    return "".join(html.proto.body for html in app.get("html") if "replaceState" in html.proto.body)


def _story(app: AppTest) -> list[str]:
    return [str(text.value) for text in app.text if "tory" in str(text.value)]


def _player_of(app: AppTest) -> dict[str, Any]:
    """What the header of the run on the page holds for the player."""
    (component,) = app.get("bidi_component")
    data = component.proto.bytes
    (length,) = struct.unpack("<I", data[:4])
    return next(codec.unpack(data[4 + length :]))[0]["player"]


def _bookmarks(app: AppTest) -> list[Any]:
    return _player_of(app)["bookmarks"]


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
    assert f"scenario={next(iter(catalogue.load()))}&run=" in _in_place(app)


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
        ({"run": "static"}, "The link names no scenario; this is “"),
        ({"scenario": "step-by-step", "run": "fast"}, "has no run “fast”"),
        ({"scenario": "step-by-step", "p.block_size": "1e99"}, "block_size"),
        ({"scenario": "step-by-step", "p.kv_manager": "max"}, "set max_model_len"),
    ],
)
def test_a_wrong_link_gets_a_sentence_and_still_a_run(params: dict[str, str], sentence: str) -> None:
    app = _open(STAGE, params)
    assert not app.exception
    assert sentence in _texts(app)
    assert "The link has a mistake" in _texts(app) and "Cannot show this" not in _texts(app)
    assert len(_runs(app)) == 1
    app.run()
    assert sentence in _texts(app)
    app.button(key="act-on-link").click().run()
    assert "The link has a mistake" not in _texts(app)
    assert len(_runs(app)) == 1


def test_changed_settings_have_no_lecture_steps_and_the_story_says_so() -> None:
    app = _open(STAGE, {"scenario": "four-samples"})
    assert len(_bookmarks(app)) == 3
    assert _story(app) == ["The story", "The story"]
    app = _open(STAGE, {"scenario": "four-samples", "p.block_size": "8"})
    assert _bookmarks(app) == []
    assert _story(app) == ["Story of the original settings"] * 2
    app = _open(STAGE, {"scenario": "four-samples", "p.block_size": "16"})
    assert len(_bookmarks(app)) == 3


def test_the_way_back_leads_to_the_settings_of_the_scenario() -> None:
    app = _open(STAGE, {"scenario": "four-samples", "p.block_size": "8"})
    app.button(key="back-to-own").click().run()
    assert not app.exception
    assert "p.block_size" not in app.query_params
    assert _runs(app)[0].header["block_size"] == 16
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
    app = _open(STAGE, params)
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
    app = _open(STAGE, {"scenario": "four-samples", "p.seed": "78"})
    assert not app.exception
    assert "The run is being computed: 3 of 12 requests" in _texts(app)
    assert any("outlines" in html.proto.body for html in app.get("html"))
    assert app.button(key="stop").label == "Stop"
    go.set()
    monkeypatch.setattr(page, "PATIENCE", 60.0)
    app.run()
    assert not app.exception
    assert len(_runs(app)) == 1


def test_stop_ends_a_run_for_the_session_that_pressed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    go, compute, begun = Event(), runs._compute, []
    monkeypatch.setattr(page, "PATIENCE", 0.1)

    def wait(scenario: Scenario, name: str, report: Report) -> runs.Finished:
        begun.append(name)
        while not go.wait(0.01):
            report(0.25, "3 of 12 requests")
        return compute(scenario, name, report)

    monkeypatch.setattr(runs, "_compute", wait)
    ann, bob = (_open(STAGE, {"scenario": "four-samples", "p.seed": "79"}) for _ in range(2))
    ann.button(key="stop").click().run()
    assert "Stopped" in _texts(ann)
    bob.run()
    assert "The run is being computed: 3 of 12 requests" in _texts(bob)
    bob.button(key="stop").click().run()
    assert "Stopped" in _texts(bob)
    go.set()
    monkeypatch.setattr(page, "PATIENCE", 60.0)
    for app in (ann, bob):
        next(button for button in app.button if button.label == "Run again").click().run()
        app.run()
        assert not app.exception
        assert len(_runs(app)) == 1
    assert begun == ["shared"] * 2


def test_reading_a_file_and_running_it_may_both_take_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Event().wait
    read, compute = uploads._read, runs._compute
    monkeypatch.setattr(uploads, "_read", lambda *args: (wait(0.2), read(*args))[1])
    monkeypatch.setattr(runs, "_compute", lambda *args: (wait(0.2), compute(*args))[1])
    upload = uploads.store().keep(BytesIO(CSV + b"9.0,30,5\n"), "slow.csv")
    app = _open(OWN, {"file": upload.digest, "run": "static"})
    assert not app.exception
    assert len(_runs(app)[0].requests) == 3


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
    app = _open(OWN, {"file": upload.digest})
    assert not app.exception
    assert "3 rows: 2 accepted (2 requests), 1 rejected" in _texts(app)
    (rejected,) = [frame.value for frame in app.dataframe if "code" in frame.value]
    assert rejected["line"].tolist() == [3] and rejected["code"].tolist() == ["text"]


def test_one_request_is_counted_as_one() -> None:
    upload = uploads.store().keep(BytesIO(CSV.replace(b"1.0,30,5\n", b"")), "one.csv")
    app = _open(OWN, {"file": upload.digest})
    assert "2 rows: 1 accepted (1 request), 1 rejected" in _texts(app)


@pytest.mark.parametrize("view", ["static", "continuous", "chunked"])
def test_a_file_runs_under_three_policies(view: str) -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, {"file": upload.digest, "run": view})
    assert not app.exception
    (trace,) = _runs(app)
    assert trace.header["settings"]["policy"] == view
    assert (app.query_params["file"], app.query_params["run"]) == (upload.digest, view)
    assert app.dataframe[0].value["Figure"].tolist()[:2] == ["Requests", "Finished"]


def test_the_figures_of_all_runs_stand_side_by_side() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, {"file": upload.digest, "run": "chunked"})
    end = monotonic() + 60
    while len(app.dataframe[0].value.columns) < 4 and monotonic() < end:
        app.run()
    table = app.dataframe[0].value.set_index("Figure")
    assert table.loc["Finished"].to_dict() == {"static": "2", "continuous": "2", "chunked": "2"}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"file": "0" * 16}, uploads.GONE),
        ({"file": "0" * 16, "run": "<b>"}, uploads.GONE),
        ({"file": "x", "first": "-1"}, "The link has a mistake"),
    ],
)
def test_a_link_to_a_file_that_is_not_here_gets_a_sentence(params: dict[str, str], sentence: str) -> None:
    app = _open(OWN, params)
    assert not app.exception
    assert sentence in _texts(app)
    assert "at most 200 MB" in _texts(app)


@pytest.mark.parametrize("run_name", ["", "static"])
def test_a_file_that_others_have_pushed_out_is_said_to_be_gone_until_it_is_back(run_name: str) -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, {"file": upload.digest, "run": run_name})
    assert not app.exception and uploads.GONE not in _texts(app)
    for number in range(uploads.MAX_FILES):
        uploads.store().keep(BytesIO(CSV + f"{number + 2},9,9\n".encode()), "other.csv")
    for _ in range(2):
        app.run()
        assert not app.exception
        assert _texts(app).count(uploads.GONE) == 1 and "at most 200 MB" in _texts(app)
    uploads.store().keep(BytesIO(CSV), "mine.csv")
    app.run()
    assert not app.exception and uploads.GONE not in _texts(app)


def test_compare_says_that_the_file_it_was_about_is_gone() -> None:
    left = Comparison("", (Pane("static"), Pane("chunked")), file="0" * 16)
    app = _open("viz/pages/compare.py", comparison=left)
    assert not app.exception
    assert uploads.GONE in _texts(app)
    assert len(app.get("bidi_component")) == 1


def test_each_session_sees_its_own_name_of_a_file() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "ann.csv")
    params = {"file": upload.digest, "run": "static"}
    assert _player_of(_open(OWN, params, **{"file names": {upload.digest: "ann.csv"}}))["title"] == "ann.csv"
    uploads.store().keep(BytesIO(CSV), "zoe.csv")
    bob = _open(OWN, params, **{"file names": {upload.digest: "bob.csv"}})
    assert not bob.exception
    assert _player_of(bob)["title"] == "bob.csv"
    assert "bob.csv" in _texts(bob) and "ann.csv" not in _texts(bob) and "zoe.csv" not in _texts(bob)


def test_a_run_that_a_file_does_not_have_is_named_and_the_file_is_shown() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, {"file": upload.digest, "run": "<b>fast</b>"})
    assert not app.exception
    assert "The file mine.csv has no run “<b>fast</b>”, only static, continuous, chunked" in _texts(app)
    assert "2 accepted" in _texts(app)
    assert "run" not in app.query_params


def test_settings_apply_to_all_runs_of_a_file_and_stand_in_the_link() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = _open(OWN, {"file": upload.digest, "run": "static", "p.num_blocks": "40"})
    assert _runs(app)[0].header["settings"]["num_blocks"] == 40
    app.segmented_control(key="view").select("chunked").run()
    assert not app.exception
    assert _runs(app)[0].header["settings"]["num_blocks"] == 40
    assert app.query_params["p.num_blocks"] == "40"


def test_a_setting_that_one_run_refuses_leaves_the_others_alone() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    params = {"file": upload.digest, "p.chunk_size": "8"}
    app = _open(OWN, {**params, "run": "chunked"})
    assert not app.exception
    assert _runs(app)[0].header["settings"]["chunk_size"] == 8
    assert "static: run static: chunk_size is 8" in _texts(app)
    app = _open(OWN, {**params, "run": "static"})
    assert not app.exception
    assert "Cannot show this" in _texts(app) and "chunk_size is 8" in _texts(app)


def test_memory_is_fitted_to_the_requests_and_named_in_the_link() -> None:
    upload = uploads.store().keep(BytesIO(example_file.text().encode()), example_file.NAME)
    app = _open(OWN, {"file": upload.digest, "run": "continuous"})
    assert "Llama-3-8B on H100-80GB" in _texts(app)
    app.button(key="fit").click().run()
    assert not app.exception
    assert app.query_params["p.num_blocks"] == "330"
    assert int((_runs(app)[0].decisions["action"] == ACTIONS.index("preempt")).sum()) > 0


def test_a_scenario_file_is_opened_with_its_own_runs_and_settings() -> None:
    scenario = catalogue.load()["three-wastes"]
    upload = uploads.store().keep(BytesIO(json.dumps(scenario.dump()).encode()), "mine.json")
    app = _open(OWN, {"file": upload.digest})
    assert not app.exception
    assert "A scenario file" in _texts(app) and "it runs as max, pow2, oracle, paged" in _texts(app)
    app = _open(OWN, {"file": upload.digest, "run": "oracle"})
    assert not app.exception
    assert _runs(app)[0].run_id == run(scenario, "oracle").run_id


def test_a_saved_run_is_opened_as_it_was() -> None:
    trace = run(catalogue.load()["four-samples"])
    stream = BytesIO()
    trace.save(stream)
    upload = uploads.store().keep(stream, "mine.kvscope")
    app = _open(OWN, {"file": upload.digest})
    assert not app.exception
    assert "A saved run: four-samples, shared. 1 request, 50 iterations" in _texts(app)
    app = _open(OWN, {"file": upload.digest, "run": "shared"})
    assert not app.exception
    assert _runs(app)[0].run_id == trace.run_id


@pytest.mark.parametrize(
    "content", [b"KVSCOPE1nonsense", b'{"kvscope_scenario": 1, "name": 7}', b'{"kvscope_scenario"']
)
def test_a_broken_scenario_file_or_saved_run_gets_one_sentence(content: bytes) -> None:
    upload = uploads.store().keep(BytesIO(content), "broken")
    app = _open(OWN, {"file": upload.digest})
    assert not app.exception
    assert "Cannot show this" in _texts(app)


def test_the_example_is_read_and_its_columns_are_told() -> None:
    app = _open(OWN)
    next(button for button in app.button if button.label == "Try the example").click().run()
    assert not app.exception
    assert "Read as generic_csv. 61 rows: 60 accepted (60 requests), 1 rejected" in _texts(app)
    assert "Arrival from arrival_s, prompt tokens from prompt_len, output tokens from output_len." in _texts(app)
    (requests,) = [frame.value for frame in app.dataframe if "request" in frame.value]
    assert "after" not in requests.columns


def test_a_file_runs_where_only_the_browser_has_put_it_into_the_address() -> None:
    app = _open(OWN)
    next(button for button in app.button if button.label == "Try the example").click().run()
    app.query_params.clear()
    next(button for button in app.button if button.label == cut_form.RUN).click().run()
    assert not app.exception
    assert "&run=continuous" in _in_place(app)


def test_a_filter_of_the_gallery_stands_in_the_address_and_comes_back_with_it() -> None:
    app = _open()
    app.pills(key="chip").select("Sharing").run()
    assert "show=Sharing" in _in_place(app)
    app = _open(params={"show": "Sharing", "search": "aligned"})
    assert app.pills(key="chip").value == "Sharing"
    assert app.text_input(key="search").value == "aligned"
    assert len(app.get("page_link")) == 1


def test_a_filter_that_does_not_exist_gets_a_sentence_and_every_scenario() -> None:
    app = _open(params={"show": "<b>"})
    assert not app.exception
    assert app.pills(key="chip").value == "All"
    assert "The link has a mistake" in _texts(app)
    assert "There is nothing called “<b>”, only " in _texts(app)
    assert len(app.get("page_link")) == len(catalogue.load())
    app.button(key="act-on-link").click().run()
    assert "The link has a mistake" not in _texts(app)
    assert "The link has a mistake" not in _texts(_open(params={"show": "All"}))
