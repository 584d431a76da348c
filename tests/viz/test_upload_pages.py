"""Bring your own as Streamlit runs it, without a browser: what was read, the runs of a file, files that are gone."""

import json
from io import BytesIO
from threading import Event
from time import monotonic

import pytest

from engine.trace.track import ACTIONS
from scenarios import catalogue
from scenarios.run import run
from tests.viz.app_pages import OWN, in_place, open_page, player_of, runs_of, texts
from viz.pages.parts import cut_form, example_file, runs, uploads
from viz.pages.parts.compare_runs import Comparison, Pane

CSV = b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,20,4\n0.5,many,4\n1.0,30,5\n"


def test_reading_a_file_and_running_it_may_both_take_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Event().wait
    read, compute = uploads._read, runs._compute
    monkeypatch.setattr(uploads, "_read", lambda *args: (wait(0.2), read(*args))[1])
    monkeypatch.setattr(runs, "_compute", lambda *args: (wait(0.2), compute(*args))[1])
    upload = uploads.store().keep(BytesIO(CSV + b"9.0,30,5\n"), "slow.csv")
    app = open_page(OWN, {"file": upload.digest, "run": "static"})
    assert not app.exception
    assert len(runs_of(app)[0].requests) == 3


def test_an_empty_upload_page_says_what_it_takes() -> None:
    app = open_page(OWN)
    assert not app.exception
    assert "at most 200 MB" in texts(app)


def test_a_file_is_read_with_every_rejected_row_named() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = open_page(OWN, {"file": upload.digest})
    assert not app.exception
    assert "3 rows: 2 accepted (2 requests), 1 rejected" in texts(app)
    (rejected,) = [frame.value for frame in app.dataframe if "code" in frame.value]
    assert rejected["line"].tolist() == [3] and rejected["code"].tolist() == ["text"]


def test_one_request_is_counted_as_one() -> None:
    upload = uploads.store().keep(BytesIO(CSV.replace(b"1.0,30,5\n", b"")), "one.csv")
    app = open_page(OWN, {"file": upload.digest})
    assert "2 rows: 1 accepted (1 request), 1 rejected" in texts(app)


@pytest.mark.parametrize("view", ["static", "continuous", "chunked"])
def test_a_file_runs_under_three_policies(view: str) -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = open_page(OWN, {"file": upload.digest, "run": view})
    assert not app.exception
    (trace,) = runs_of(app)
    assert trace.header["settings"]["policy"] == view
    assert (app.query_params["file"], app.query_params["run"]) == (upload.digest, view)
    assert app.dataframe[0].value["Figure"].tolist()[:2] == ["Requests", "Finished"]


def test_the_figures_of_all_runs_stand_side_by_side() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = open_page(OWN, {"file": upload.digest, "run": "chunked"})
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
    app = open_page(OWN, params)
    assert not app.exception
    assert sentence in texts(app)
    assert "at most 200 MB" in texts(app)


@pytest.mark.parametrize("run_name", ["", "static"])
def test_a_file_that_others_have_pushed_out_is_said_to_be_gone_until_it_is_back(run_name: str) -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = open_page(OWN, {"file": upload.digest, "run": run_name})
    assert not app.exception and uploads.GONE not in texts(app)
    for number in range(uploads.MAX_FILES):
        uploads.store().keep(BytesIO(CSV + f"{number + 2},9,9\n".encode()), "other.csv")
    for _ in range(2):
        app.run()
        assert not app.exception
        assert texts(app).count(uploads.GONE) == 1 and "at most 200 MB" in texts(app)
    uploads.store().keep(BytesIO(CSV), "mine.csv")
    app.run()
    assert not app.exception and uploads.GONE not in texts(app)


def test_compare_says_that_the_file_it_was_about_is_gone() -> None:
    left = Comparison("", (Pane("static"), Pane("chunked")), file="0" * 16)
    app = open_page("viz/pages/compare.py", comparison=left)
    assert not app.exception
    assert uploads.GONE in texts(app)
    assert len(app.get("bidi_component")) == 1


def test_each_session_sees_its_own_name_of_a_file() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "ann.csv")
    params = {"file": upload.digest, "run": "static"}
    assert player_of(open_page(OWN, params, **{"file names": {upload.digest: "ann.csv"}}))["title"] == "ann.csv"
    uploads.store().keep(BytesIO(CSV), "zoe.csv")
    bob = open_page(OWN, params, **{"file names": {upload.digest: "bob.csv"}})
    assert not bob.exception
    assert player_of(bob)["title"] == "bob.csv"
    assert "bob.csv" in texts(bob) and "ann.csv" not in texts(bob) and "zoe.csv" not in texts(bob)


def test_a_run_that_a_file_does_not_have_is_named_and_the_file_is_shown() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = open_page(OWN, {"file": upload.digest, "run": "<b>fast</b>"})
    assert not app.exception
    assert "The file mine.csv has no run “<b>fast</b>”, only static, continuous, chunked" in texts(app)
    assert "2 accepted" in texts(app)
    assert "run" not in app.query_params


def test_settings_apply_to_all_runs_of_a_file_and_stand_in_the_link() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    app = open_page(OWN, {"file": upload.digest, "run": "static", "p.num_blocks": "40"})
    assert runs_of(app)[0].header["settings"]["num_blocks"] == 40
    app.segmented_control(key="view").select("chunked").run()
    assert not app.exception
    assert runs_of(app)[0].header["settings"]["num_blocks"] == 40
    assert app.query_params["p.num_blocks"] == "40"


def test_a_setting_that_one_run_refuses_leaves_the_others_alone() -> None:
    upload = uploads.store().keep(BytesIO(CSV), "mine.csv")
    params = {"file": upload.digest, "p.chunk_size": "8"}
    app = open_page(OWN, {**params, "run": "chunked"})
    assert not app.exception
    assert runs_of(app)[0].header["settings"]["chunk_size"] == 8
    assert "static: run static: chunk_size is 8" in texts(app)
    app = open_page(OWN, {**params, "run": "static"})
    assert not app.exception
    assert "Cannot show this" in texts(app) and "chunk_size is 8" in texts(app)


def test_memory_is_fitted_to_the_requests_and_named_in_the_link() -> None:
    upload = uploads.store().keep(BytesIO(example_file.text().encode()), example_file.NAME)
    app = open_page(OWN, {"file": upload.digest, "run": "continuous"})
    assert "Llama-3-8B on H100-80GB" in texts(app)
    app.button(key="fit").click().run()
    assert not app.exception
    assert app.query_params["p.num_blocks"] == "330"
    assert int((runs_of(app)[0].decisions["action"] == ACTIONS.index("preempt")).sum()) > 0


def test_a_scenario_file_is_opened_with_its_own_runs_and_settings() -> None:
    scenario = catalogue.load()["three-wastes"]
    upload = uploads.store().keep(BytesIO(json.dumps(scenario.dump()).encode()), "mine.json")
    app = open_page(OWN, {"file": upload.digest})
    assert not app.exception
    assert "A scenario file" in texts(app) and "it runs as max, pow2, oracle, paged" in texts(app)
    app = open_page(OWN, {"file": upload.digest, "run": "oracle"})
    assert not app.exception
    assert runs_of(app)[0].run_id == run(scenario, "oracle").run_id


def test_a_saved_run_is_opened_as_it_was() -> None:
    trace = run(catalogue.load()["four-samples"])
    stream = BytesIO()
    trace.save(stream)
    upload = uploads.store().keep(stream, "mine.kvscope")
    app = open_page(OWN, {"file": upload.digest})
    assert not app.exception
    assert "A saved run: four-samples, shared. 1 request, 50 iterations" in texts(app)
    app = open_page(OWN, {"file": upload.digest, "run": "shared"})
    assert not app.exception
    assert runs_of(app)[0].run_id == trace.run_id


@pytest.mark.parametrize(
    "content", [b"KVSCOPE1nonsense", b'{"kvscope_scenario": 1, "name": 7}', b'{"kvscope_scenario"']
)
def test_a_broken_scenario_file_or_saved_run_gets_one_sentence(content: bytes) -> None:
    upload = uploads.store().keep(BytesIO(content), "broken")
    app = open_page(OWN, {"file": upload.digest})
    assert not app.exception
    assert "Cannot show this" in texts(app)


def test_the_example_is_read_and_its_columns_are_told() -> None:
    app = open_page(OWN)
    next(button for button in app.button if button.label == "Try the example").click().run()
    assert not app.exception
    assert "Read as generic_csv. 61 rows: 60 accepted (60 requests), 1 rejected" in texts(app)
    assert "Arrival from arrival_s, prompt tokens from prompt_len, output tokens from output_len." in texts(app)
    (requests,) = [frame.value for frame in app.dataframe if "request" in frame.value]
    assert "after" not in requests.columns


def test_a_file_runs_where_only_the_browser_has_put_it_into_the_address() -> None:
    app = open_page(OWN)
    next(button for button in app.button if button.label == "Try the example").click().run()
    app.query_params.clear()
    next(button for button in app.button if button.label == cut_form.RUN).click().run()
    assert not app.exception
    assert "&run=continuous" in in_place(app)
