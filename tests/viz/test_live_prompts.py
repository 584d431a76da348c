"""What the Live page asks: presets and prompts as fields, which keep what was typed until somebody begins anew."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_pages import texts
from tests.viz.live_pages import LIVE, add, answered, areas, opened, prompts, run_of, soon
from tests.viz.parrot import Parrot
from viz.pages.parts import live_prompts
from viz.pages.parts.live_presets import PRESETS
from viz.pages.parts.live_prompts import MAX_PROMPTS
from viz.pages.parts.live_runs import LiveState


def boxes(app: AppTest) -> list[str]:
    """Labels of the popovers in the bar."""
    return [block.proto.popover.label for block in app.get("popover")]


def test_a_preset_fills_the_fields_and_its_prompts_can_be_changed(parrot: Parrot) -> None:
    app = opened()
    assert prompts(app) == ["Why is the sky blue?", "What is rain?", "Write one line about a river."]
    app.pills[0].select("Four samples of one prompt").run()
    assert prompts(app) == list(PRESETS["Four samples of one prompt"].prompts)
    assert [field.value for field in app.number_input] == [32, 4, 0.8, 0]
    app.button(key="live-more-prompts").click().run()
    areas(app)[1].set_value("And why?").run()
    answered(app)
    assert not app.exception
    assert [(a.prompt, len(a.texts)) for a in run_of(app).answers] == [
        ("Write the first line of a story about the sea.", 4),
        ("And why?", 4),
    ]
    next(button for button in app.button if button.label == "Remove").click().run()
    assert prompts(app) == ["And why?"]


def test_what_is_typed_just_before_start_is_asked(parrot: Parrot) -> None:
    """Nothing has run between the typing and the press: the callback of the button reads the fields."""
    app = opened()
    areas(app)[1].set_value("What is snow?")
    app.number_input[0].set_value(3)
    app.number_input[1].set_value(2)
    answered(app)
    assert not app.exception
    assert [(answer.prompt, answer.num_tokens) for answer in run_of(app).answers] == [
        ("Why is the sky blue?", 6),
        ("What is snow?", 6),
        ("Write one line about a river.", 6),
    ]
    assert prompts(app)[1] == "What is snow?"
    assert [field.value for field in app.number_input] == [3, 2, 0.0, 0]


@pytest.mark.parametrize("button", ["live-more-prompts", "live-prompt-0-2-less"])
def test_what_is_typed_just_before_a_prompt_comes_or_goes_is_kept(parrot: Parrot, button: str) -> None:
    app = opened()
    areas(app)[0].set_value("What is snow?")
    app.button(key=button).click().run()
    assert prompts(app)[:2] == ["What is snow?", "What is rain?"]


def test_the_fields_are_on_the_page_before_a_run_and_in_the_bar_beside_one(parrot: Parrot) -> None:
    app = opened()
    assert len(prompts(app)) == 3 and "Prompts" not in boxes(app)
    parrot.gate.clear()
    app.button(key="live-start").click().run()
    assert prompts(app) == []
    parrot.gate.set()
    soon(lambda: run_of(app).state is LiveState.IDLE)
    app.run()
    assert len(prompts(app)) == 3 and "Prompts" in boxes(app)
    assert "KV blocks" not in texts(app)


def test_the_preset_that_is_chosen_gives_its_prompts_back_when_it_is_pressed_again(parrot: Parrot) -> None:
    app = opened()
    areas(app)[0].set_value("What is snow?").run()
    app.pills[0].unselect("Three short questions").run()
    assert prompts(app)[0] == "Why is the sky blue?"
    assert app.pills[0].value == "Three short questions"


def test_there_are_at_most_eight_prompts_and_at_least_one(parrot: Parrot) -> None:
    app = opened()
    for _ in range(5):
        app.button(key="live-more-prompts").click().run()
    assert len(prompts(app)) == MAX_PROMPTS == 8
    assert "live-more-prompts" not in [button.key for button in app.button]
    for _ in range(7):
        next(button for button in app.button if button.label == "Remove").click().run()
    assert len(prompts(app)) == 1
    assert "Remove" not in [button.label for button in app.button]


def test_the_fields_keep_what_was_typed_when_the_page_is_left(parrot: Parrot) -> None:
    app = opened()
    areas(app)[0].set_value("What is snow?").run()
    # left at once after the typing, the page itself does not run any more
    areas(app)[1].set_value("What is hail?")
    app.switch_page("viz/pages/start.py").run()
    app.switch_page(LIVE).run()
    assert prompts(app)[:2] == ["What is snow?", "What is hail?"]


def test_a_call_without_a_press_leaves_what_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    name, other = list(PRESETS)[:2]
    now = live_prompts.Draft(PRESETS[name])
    now.take(now.preset)
    now.prompts[1] = "What is hail?"
    fields = {live_prompts._DRAFT: now, now.key("preset"): name}
    monkeypatch.setattr(live_prompts.st, "session_state", fields)
    live_prompts._take_preset()
    assert now.prompts[1] == "What is hail?"
    fields[now.key("preset")] = other
    live_prompts._take_preset()
    assert now.prompts == list(PRESETS[other].prompts)


def test_line_breaks_at_the_ends_of_a_prompt_are_not_asked(parrot: Parrot) -> None:
    app = opened()
    areas(app)[0].set_value("What is snow?\n").run()
    answered(app)
    add(app, "\nWhat is the capital\nof Italy?\n ")
    soon(lambda: len(run_of(app).answers) == 4)
    assert [answer.prompt for answer in run_of(app).answers] == [
        "What is snow?",
        "What is rain?",
        "Write one line about a river.",
        "What is the capital\nof Italy?",
    ]


def test_a_line_break_behind_the_prompts_of_a_preset_makes_them_no_others(parrot: Parrot) -> None:
    app = opened()
    areas(app)[0].set_value("Why is the sky blue?\n").run()
    answered(app)
    assert run_of(app).arriving.header["title"] == "Short questions on a real model"


def test_other_settings_leave_the_prompts_as_they_are(parrot: Parrot) -> None:
    app = opened()
    areas(app)[0].set_value("What is snow?")
    app.number_input[0].set_value(4)
    answered(app)
    next(box for box in app.text_input if "`num_blocks`" in box.label).set_value("30")
    next(button for button in app.button if button.label == "Run with these settings").click().run()
    soon(lambda: run_of(app).state is LiveState.IDLE)
    app.run()
    first = run_of(app).answers[0]
    assert (first.prompt, first.num_tokens) == ("What is snow?", 4)
    assert prompts(app)[0] == "What is snow?" and app.number_input[0].value == 4
