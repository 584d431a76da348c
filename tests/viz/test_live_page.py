"""The page Live on a model that says what the tests want: asked, answered, stopped, refused, saved."""

import re
from dataclasses import replace
from io import BytesIO

import pytest
from streamlit.testing.v1 import AppTest

from engine.request import SamplingParams
from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from tests.viz.app_pages import OWN, given, open_page, player_of, texts
from tests.viz.live_pages import LIVE, ROOMY, add, opened, run_of, soon
from tests.viz.parrot import ANSWER, Parrot
from viz.pages.parts import download, live_answers, live_model, uploads
from viz.pages.parts.live_model import ModelServing, Ready
from viz.pages.parts.live_runs import LiveRun, LiveState
from viz.pages.parts.live_serving import EMPTY, Ask


def ask(prompt: str, **sampling: int) -> Ask:
    return Ask(prompt, SamplingParams(max_tokens=50, **sampling))


def test_without_a_model_there_is_one_sentence_and_one_button(parrot: Parrot) -> None:
    app = open_page(LIVE)
    assert not app.exception
    assert "is fetched once" in texts(app)
    assert app.button(key="live-fetch").label in (live_model.FETCH, live_model.LOAD)
    assert not app.get("bidi_component")


def test_a_model_that_cannot_be_had_is_one_sentence(monkeypatch: pytest.MonkeyPatch, parrot: Parrot) -> None:
    def load(report: object) -> Ready:
        raise ScenarioError("The model could not be fetched (no network); connect to the network once.")

    monkeypatch.setattr(live_model, "load", load)
    app = opened()
    assert not app.exception
    assert "could not be fetched (no network)" in texts(app)
    monkeypatch.setattr(live_model, "load", lambda report: Ready(parrot, parrot.words))
    next(button for button in app.button if button.label == "Try again").click().run()
    assert app.button(key="live-start")


def test_before_a_run_the_page_shows_the_memory_that_is_free(parrot: Parrot) -> None:
    app = open_page(LIVE, **{"live settings": ROOMY.with_(num_blocks=None, kv_capacity_tokens=1_600, block_size=1)})
    app = app.button(key="live-fetch").click().run()
    assert not app.exception
    assert "Chunked batching · paged KV · 1,600 blocks of 1 token · equal beginnings are shared" in texts(app)
    assert not blocks_of(app), "so many are not drawn"
    app = open_page(LIVE, **{"live settings": ROOMY.with_(num_blocks=12, prefix_caching=False)})
    assert "Chunked batching · paged KV · 12 blocks of 8 tokens · no prefix caching" in texts(app)
    (drawn,) = blocks_of(app)
    assert drawn.count("<i>") == 12 and "<i>11</i>" in drawn


def blocks_of(app: AppTest) -> list[str]:
    """The picture of the memory before a run."""
    return [
        html.proto.body for html in app.get("html") if "free-blocks" in html.proto.body and "<i>" in html.proto.body
    ]


def test_questions_are_answered_and_the_player_gets_the_run(parrot: Parrot) -> None:
    app = opened()
    app.button(key="live-start").click().run()
    soon(lambda: run_of(app).state is LiveState.IDLE)
    app.run()
    assert not app.exception
    assert texts(app).count(ANSWER) == 3
    assert re.search(r"28 tokens · first after \d+ ms · finished after \d+\.\d s", texts(app))
    options, (data,) = given(app)
    assert options["isFeed"] and options["first"] == 0
    assert Trace.load(data + ended(run_of(app), len(data)))
    assert [button.proto.label for button in app.get("download_button")] == ["Saved run (.kvscope)"]


def test_a_saved_run_says_what_it_is_and_ran_on_when_it_is_opened_again(parrot: Parrot) -> None:
    app = opened()
    app.button(key="live-start").click().run()
    run = run_of(app)
    soon(lambda: run.state is LiveState.IDLE)
    title, remark = "Short questions on a real model", "parrot · CPU, float32"
    saved = download.saved_run(run.arriving.trace())
    upload = uploads.store().keep(BytesIO(saved), "mine.kvscope")
    read = texts(open_page(OWN, {"file": upload.digest}))
    assert f"A saved run: {title}. {remark}. 3 requests" in read and "OPT-13B" not in read
    app = open_page(OWN, {"file": upload.digest, "run": "run"})
    assert not app.exception
    assert remark in texts(app) and "OPT-13B" not in texts(app)
    assert (player_of(app)["title"], player_of(app)["remark"]) == (title, remark)


def test_an_older_saved_run_of_a_model_names_no_card(parrot: Parrot) -> None:
    serving = ModelServing(Ready(parrot, parrot.words), ROOMY)
    serving.submit("A", ask("Why?"))
    while serving.step():
        pass
    trace = Trace.of(serving.header, [serving.drain()])
    assert "title" not in trace.header and trace.words
    upload = uploads.store().keep(BytesIO(download.saved_run(trace)), "old.kvscope")
    read = texts(open_page(OWN, {"file": upload.digest}))
    assert "A saved run: live, run. 1 request" in read
    assert "a real model" in read and "OPT-13B" not in read


def ended(run: LiveRun, position: int) -> bytes:
    """What comes after `position` when the run is ended."""
    run.arriving.end()
    return run.arriving.since(position)


def test_each_answer_has_the_colour_of_its_blocks_as_long_as_there_are_five(parrot: Parrot) -> None:
    app = opened()
    app.button(key="live-start").click().run()
    run = run_of(app)
    soon(lambda: run.state is LiveState.IDLE)
    three, first = run.answers, run.answers[0]
    assert live_answers._hues(run) == {"A": "A", "B": "B", "C": "C"}
    run.answers = [first] * 6
    assert live_answers._hues(run) == {}, "where there are more the player colours states"
    run.answers = [replace(first, texts=("", ""))]
    assert live_answers._hues(run) == {}, "each sample has a colour of its own"
    run.answers = three
    run.arriving.header["tracks"].append("nodes")
    assert live_answers._hues(run) == {}, "a tree has the colours of its branches"


def test_one_request_is_stopped_and_another_one_added_while_it_runs(parrot: Parrot) -> None:
    app = opened()
    parrot.gate.clear()
    app.button(key="live-start").click().run()
    run = run_of(app)
    parrot.allow(10)
    soon(lambda: len(run.answers) == 3 and any(answer.texts[0] for answer in run.answers))
    app.run()
    app.button(key="live-stop-A").click().run()
    parrot.gate.set()
    soon(lambda: run.state is LiveState.IDLE)
    app.run()
    add(app, "And the sea?")
    soon(lambda: len(run.answers) == 4 and run.state is LiveState.IDLE)
    app.run()
    assert not app.exception
    assert [answer.status for answer in run.answers] == ["stopped", "finished", "finished", "finished"]
    assert "And the sea?" in texts(app)


def test_the_next_run_of_a_session_has_a_player_of_its_own(parrot: Parrot) -> None:
    app = opened()
    names = []
    for _ in range(2):
        app.button(key="live-start").click().run()
        soon(lambda: run_of(app).state is LiveState.IDLE)
        names.append(given(app.run())[0]["name"])
    assert not app.exception
    assert names == ["player-live-1", "player-live-2"]


def test_the_player_says_what_is_waited_for_until_the_first_token(parrot: Parrot) -> None:
    app = opened()
    parrot.gate.clear()
    app.button(key="live-start").click().run()
    assert given(app.run())[0]["waiting"] == "**The model reads the prompts.**"
    parrot.gate.set()
    soon(lambda: run_of(app).state is LiveState.IDLE)
    assert given(app.run())[0]["waiting"] == ""


def test_an_empty_request_is_refused_before_it_gets_a_name(parrot: Parrot) -> None:
    app = opened()
    app.button(key="live-start").click().run()
    run = run_of(app)
    soon(lambda: run.state is LiveState.IDLE)
    app.run()
    add(app, "  ")
    assert texts(app).count(EMPTY) == 1 and "act-on-live" not in [button.key for button in app.button]
    add(app, "And the sea?")
    soon(lambda: len(run.answers) == 4 and run.state is LiveState.IDLE)
    app.run()
    assert not app.exception
    assert [answer.request_id for answer in run.answers] == ["A", "B", "C", "D"]
    assert run.refused == [] and EMPTY not in texts(app)


def test_stop_run_ends_it_for_good(parrot: Parrot) -> None:
    app = opened()
    parrot.gate.clear()
    app.button(key="live-start").click().run()
    app.run()
    parrot.gate.set()
    app.button(key="live-end").click().run()
    soon(lambda: run_of(app).state is LiveState.ENDED)
    app.run()
    assert not app.exception
    assert "This run is over" in texts(app)
    assert "live-end" not in [button.key for button in app.button]


def test_why_a_run_has_failed_is_told_once_and_stays_known(monkeypatch: pytest.MonkeyPatch, parrot: Parrot) -> None:
    def no_room(batch: object) -> None:
        raise MemoryError

    app = opened()
    monkeypatch.setattr(parrot, "execute", no_room)
    app.button(key="live-start").click().run()
    run = run_of(app)
    soon(lambda: run.state is LiveState.FAILED)
    assert "The model lacks the memory for this step" in texts(app.run())
    app.button(key="act-on-live").click().run()
    assert "lacks the memory" not in texts(app) and "lacks the memory" in run.problem
    app.button(key="live-start").click().run()
    soon(lambda: run_of(app) is not run and run_of(app).state is LiveState.FAILED)
    assert "The model lacks the memory for this step" in texts(app.run()), "the next failure is told again"


def test_the_words_of_prompt_and_answer_are_told_once(parrot: Parrot) -> None:
    serving = ModelServing(Ready(parrot, parrot.words), ROOMY)
    serving.submit("A", ask("Why?"))
    words = serving.drain().words
    while serving.step():
        words += serving.drain().words
    words += serving.drain().words
    assert [word.position for word in words] == list(range(6 + 28))
    assert "".join(word.text for word in words[1:5]) == "Why?"
    assert "".join(word.text for word in words[6:-1]) == ANSWER
    (answer,) = serving.answers()
    assert (answer.texts, answer.num_tokens, answer.status) == ((ANSWER,), 28, "finished")
    assert answer.latency_s is not None and answer.ttft_s is not None and answer.ttft_s < answer.latency_s


def test_a_stopped_request_keeps_what_it_said(parrot: Parrot) -> None:
    serving = ModelServing(Ready(parrot, parrot.words), ROOMY)
    serving.submit("A", ask("Why?"))
    serving.submit("B", ask("How?"))
    for _ in range(5):
        serving.step()
    serving.abort("A")
    while serving.step():
        pass
    stopped, whole = serving.answers()
    assert (stopped.status, whole.status) == ("stopped", "finished")
    assert stopped.texts == (ANSWER[: stopped.num_tokens],) and 0 < stopped.num_tokens < 28


@pytest.mark.parametrize(("prompt", "sentence"), [("  ", "is empty"), ("x" * 500, "context of 503 tokens")])
def test_a_prompt_that_cannot_be_taken_is_refused_in_a_sentence(parrot: Parrot, prompt: str, sentence: str) -> None:
    serving = ModelServing(Ready(parrot, parrot.words), ROOMY)
    with pytest.raises(ScenarioError, match=sentence):
        serving.submit("A", ask(prompt))
    assert serving.answers() == []
    serving.submit("B", ask("Why?"))
    assert [(answer.request_id, answer.prompt) for answer in serving.answers()] == [("B", "Why?")]
