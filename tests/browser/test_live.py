"""A run that is watched while it goes on: words come, one steps back, the end is followed again, requests come and go."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from engine.executor.model_error import ModelError
from engine.executor.model_files import default_model
from tests.app_server import serving
from tests.browser import drawn_text
from tests.browser.drawn_text import ON_PAGE
from tests.browser.live_page import (
    SLOW,
    add,
    event_of,
    expect_more,
    opened,
    press,
    show_answers,
    words_of,
)

ANSWER = "Because light is scattered."


FADING = 1_500
"""Milliseconds after which Streamlit's grey is complete."""


def test_a_run_is_followed_left_and_followed_again(context: BrowserContext, tmp_path: Path) -> None:
    drawn_text.record(context)
    with serving(tmp_path / "log.txt", "tests/browser/live_app.py") as address:
        page = opened(context, address)
        page.locator(".st-key-live-start button").click()
        player = page.locator('.kv[data-ready="true"]')
        expect(words_of(page)).to_have_attribute(
            "aria-label", re.compile(r"A: 0 .Why is .*1 the sky .*2 blue\?.B.*; B: ")
        )
        seen = event_of(player)
        expect(player).not_to_have_attribute("data-event", str(seen))
        # a step back stays while more arrives
        press(page, "ArrowLeft")
        left = event_of(player)
        show_answers(page)
        first, second = page.locator(".st-key-answer-A"), page.locator(".st-key-answer-B")
        text = first.inner_text()
        expect(first).not_to_have_text(text)
        assert event_of(player) == left
        place = second.bounding_box()
        second.locator("button").click()
        expect(second).to_contain_text("stopped")
        expect(second.locator("button")).to_have_count(0)
        assert second.bounding_box() == place, "nothing jumps when the button goes"
        show_answers(page)
        add(page, "And the sea?\n")
        expect_more(page)
        assert event_of(player) == left
        press(page, "End")
        expect(words_of(page)).to_have_attribute("aria-label", re.compile(r"D: \d+ .And the"))
        assert event_of(player) > left
        expect(words_of(page)).to_have_attribute("aria-label", re.compile("D: [^;]*cause"))
        drawn = words_of(page).evaluate(f"node => ({ON_PAGE})(node).map(({{text}}) => text).join(' ')")
        assert re.search(r"/ s · first [\d.]+ m?s", drawn), "the first token comes after the request"
        assert "first -" not in drawn
        show_answers(page)
        expect(page.locator(".st-key-answer-D")).to_contain_text(ANSWER)
        expect(page.locator(".st-key-live-download button")).to_be_visible()
        page.locator(".st-key-live-replay button").click()
        # the run and its simulated twin on one clock, with the words of both
        panes = page.locator(".kv-pane")
        expect(panes).to_have_count(2)
        assert [pane.get_attribute("aria-label") for pane in panes.all()] == ["measured", "simulated"]
        expect(words_of(page)).to_have_count(2)
        press(page, "End")
        for words in words_of(page).all():
            expect(words).to_have_attribute("aria-label", re.compile(ANSWER))
        said = page.locator(".kv-pane-say").first.inner_text()
        page.get_by_role("button", name="words / memory").last.click()
        expect(page.locator('[data-panel="blocks"]')).to_have_count(2)
        expect(page.locator(".kv-pane-say").first).to_have_text(said)
        expect(page.get_by_text("the same trace, column by column")).to_be_visible()
        expect(page.locator("svg.marks")).to_have_count(2)
        # and back at the run itself, all of it
        page.locator(".st-key-live-back button").click()
        expect(panes).to_have_count(0)
        expect(words_of(page)).to_have_attribute("aria-label", re.compile(ANSWER))


def test_what_is_not_taken_is_said_beside_the_bar_and_a_new_run_replaces_the_old_one_in_peace(
    context: BrowserContext, tmp_path: Path
) -> None:
    with serving(tmp_path / "log.txt", "tests/browser/live_app.py") as address:
        page = opened(context, address)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.get_by_label("Prompt B").fill("")
        page.get_by_label("Prompt C").fill(" ")
        page.locator(".st-key-live-start button").click()
        notice = page.locator(".st-key-notice-live")
        expect(notice).to_contain_text(
            "B: The prompt is empty; write at least one word. (One more was not taken either.)"
        )
        page.locator(".st-key-live-end button").click()
        page.locator(".st-key-live-start button").click()
        expect(page.locator(".st-key-live-end button")).to_be_visible()
        # Streamlit hides the old player, and takes it away a moment after the new one is there
        expect(words_of(page)).to_have_count(1)
        expect(words_of(page)).to_have_attribute("aria-label", re.compile("^A: "))
        page.get_by_role("link", name="Check", exact=True).click()
        expect(page.get_by_text("Every number of the texts")).to_be_visible()
        page.go_back()
        expect(words_of(page)).to_have_attribute("aria-label", re.compile("^A: "))
        assert errors == []


def test_nothing_turns_grey_while_the_page_is_drawn_anew(context: BrowserContext, tmp_path: Path) -> None:
    with serving(tmp_path / "log.txt", "tests/browser/slow_page.py") as address:
        page = context.new_page()
        page.goto(address)
        page.get_by_role("button", name="Box").click()
        page.get_by_role("button", name="Again").click()
        old = page.locator('[data-testid="stElementContainer"][data-stale="true"]:has(> [data-testid="stText"])')
        expect(old).to_have_count(1)
        page.wait_for_timeout(FADING)
        assert old.evaluate("node => getComputedStyle(node).opacity") == "1"


@pytest.fixture
def model_url(tmp_path: Path) -> Iterator[str]:
    try:
        default_model()
    except ModelError as error:
        pytest.skip(f"the model cannot be had: {error}")
    with serving(tmp_path / "log.txt", "tests/browser/live_model_app.py") as address:
        yield address


@pytest.mark.slow
def test_three_prompts_on_the_real_model_in_two_sessions(
    context: BrowserContext, browser: Browser, model_url: str
) -> None:
    page = opened(context, model_url)
    page.locator(".st-key-live-start button").click()
    player = page.locator('.kv[data-ready="true"]')
    # words while it runs: a cell of the question, and the first word of the answer
    expect(words_of(page)).to_have_attribute("aria-label", re.compile("A: .*Why is the sky"), timeout=SLOW)
    show_answers(page)
    page.locator(".st-key-live-stop-B button").click(timeout=SLOW)
    expect(page.locator(".st-key-answer-B")).to_contain_text("stopped", timeout=SLOW)
    show_answers(page)
    page.get_by_role("button", name="Previous frame (left arrow)").click()
    expect(page.locator(".kv-speed")).not_to_contain_text("FOLLOW")
    left = event_of(player)
    expect_more(page)
    assert event_of(player) == left
    add(page, "What is ice?")
    expect_more(page)
    assert event_of(player) == left, "a step back is held while a request is added"
    # another session waits for its turn, and sees its place in the queue
    with browser.new_context() as other:
        second = opened(other, model_url)
        second.locator(".st-key-live-start button").click()
        expect(second.locator(".st-key-live-state")).to_contain_text("1 run is before this one", timeout=SLOW)
        expect(second.locator(".kv-say")).to_contain_text("it starts by itself", timeout=SLOW)
        press(page, "End")
        expect(page.locator(".kv-speed")).to_contain_text("FOLLOW")
        expect(words_of(page)).to_have_attribute("aria-label", re.compile("D: .*What is ice"), timeout=SLOW)
        assert event_of(player) > left
        show_answers(page)
        expect(page.locator(".st-key-answer-D")).to_contain_text(
            re.compile("What is ice.*[iI]ce", re.DOTALL), timeout=SLOW
        )
        show_answers(page)
        # the first one leaves the engine to the second one
        page.locator(".st-key-live-end button").click()
        expect(words_of(second)).to_have_attribute("aria-label", re.compile("A: .*Why is the sky"), timeout=SLOW)
