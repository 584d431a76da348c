"""What is typed on the page Live is what is asked, in a second run as well; answers in the colours of their blocks."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.app_server import serving
from tests.browser.live_page import SLOW, expect_answered, opened, show_answers, start_button

PAINTED = """(node, colour) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  return [getComputedStyle(node).backgroundColor, colour].map(fill => {
    pen.fillStyle = fill;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  });
}"""
"""Red, green, blue and opacity of the ground of an element, and of a colour."""


@pytest.mark.parametrize("are_opened", [False, True], ids=["prompts never opened", "prompts opened"])
def test_other_settings_ask_the_same_prompts(context: BrowserContext, tmp_path: Path, are_opened: bool) -> None:
    with serving(tmp_path / "log.txt", "tests/browser/live_app.py") as address:
        page = opened(context, address)
        page.get_by_label("Prompt A").fill("What is snow?")
        page.get_by_label("Longest answer").fill("4")
        page.locator(".st-key-live-start button").click()
        expect_answered(page)
        if are_opened:
            page.locator("[class*=st-key-popover-prompts-] button").first.click()
            expect(page.get_by_label("Prompt A")).to_have_value("What is snow?")
        page.locator("[class*=st-key-popover-settings-] button").first.click()
        page.get_by_role("tab", name="Memory").click()
        page.get_by_role("textbox", name="Blocks in the pool").fill("9")
        page.get_by_role("button", name="Run with these settings").click()
        expect(page.locator(".st-key-live-end button")).to_be_visible()
        expect(page.locator('.kv[data-ready="true"]')).to_have_accessible_name("Player: Own prompts on a real model")
        expect_answered(page)
        show_answers(page)
        expect(page.locator(".st-key-asked-A")).to_contain_text("What is snow?")
        expect(page.locator(".st-key-times-A")).to_have_text(re.compile("^4 tokens"))
        show_answers(page)
        page.locator("[class*=st-key-popover-prompts-] button").first.click()
        expect(page.get_by_label("Prompt A")).to_have_value("What is snow?")
        expect(page.get_by_label("Longest answer")).to_have_value("4")


@pytest.mark.parametrize(
    ("theme", "colours"),
    [
        ("light", ["#1f47c9", "#ee6d38", "#10a08c"]),
        ("dark", ["#6384fa", "#f6904a", "#45e6b8"]),
    ],
)
def test_answers_wear_the_colours_of_the_picture(
    context: BrowserContext, tmp_path: Path, theme: str, colours: list[str]
) -> None:
    with serving(tmp_path / "log.txt", "tests/browser/live_app.py") as address:
        page = context.new_page()
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.goto(address)
        start_button(page, SLOW)
        page.get_by_label("Longest answer").fill("1")
        page.locator(".st-key-live-start button").click()
        expect_answered(page)
        show_answers(page)
        for name, colour in zip("ABC", colours, strict=True):
            chip = page.locator(f".st-key-owner-{name}-{name} [data-testid=stText]")
            drawn, wanted = chip.evaluate(PAINTED, colour)
            assert drawn == pytest.approx(wanted, abs=4), (name, drawn, wanted)


def test_the_way_to_the_model_goes_when_it_begins_to_come(context: BrowserContext, tmp_path: Path) -> None:
    with serving(tmp_path / "log.txt", "tests/browser/live_late_app.py") as address:
        page = context.new_page()
        page.goto(address)
        page.locator(".st-key-live-fetch button").click()
        expect(page.get_by_text("The model is being loaded")).to_be_visible()
        # the script of the page goes on for a while, and nothing of before stands below
        assert not page.locator(".st-key-live-fetch").is_visible()
        assert page.locator(".st-key-headline").count() == 0


def test_what_is_typed_is_asked_by_the_very_next_click(context: BrowserContext, tmp_path: Path) -> None:
    with serving(tmp_path / "log.txt", "tests/browser/live_app.py") as address:
        page = opened(context, address)
        bottom = page.locator(".free-blocks").evaluate("node => node.getBoundingClientRect().bottom")
        assert bottom < 720, "three prompts and the memory fit the window"
        page.get_by_label("Prompt B").fill("What is snow?")
        page.get_by_label("Longest answer").fill("3")
        # the focus leaves the field only with this press
        page.locator(".st-key-live-start button").click()
        player = page.locator('.kv[data-ready="true"]')
        expect(player).to_have_accessible_name("Player: Own prompts on a real model")
        # the same fields wait in the bar for the next run
        expect_answered(page)
        page.locator("[class*=st-key-popover-prompts-] button").first.click()
        expect(page.get_by_label("Prompt B")).to_have_value("What is snow?")
        expect(page.get_by_label("Longest answer")).to_have_value("3")
        page.get_by_label("Prompt C").fill("What is hail?")
        page.locator(".st-key-live-start button").click()
        expect(page.locator(".st-key-live-end button")).to_be_visible()
        expect_answered(page)
        show_answers(page)
        expect(page.locator(".st-key-asked-B")).to_contain_text("What is snow?")
        expect(page.locator(".st-key-asked-C")).to_contain_text("What is hail?")
        expect(page.locator(".st-key-times-C")).to_have_text(
            re.compile(r"3 tokens · first after [\d,]+ ms · finished after [\d.]+ s")
        )
