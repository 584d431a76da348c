"""The gallery in a browser: pictures in both themes, the `/` key, and cards that stay whole when it is narrow."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.gallery_page import NUM_CARDS, PATIENCE, open_gallery


def test_a_slash_goes_to_the_search_box_and_typing_filters(page: Page, app_url: str) -> None:
    open_gallery(page, app_url)
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search scenarios")
    expect(search).to_be_focused()
    page.keyboard.type("turing/")
    expect(search).to_have_value("turing/")
    page.keyboard.press("Backspace")
    expect(page.locator(".cover svg")).to_have_count(1, timeout=PATIENCE)
    page.keyboard.type(" <i>no</i>")
    expect(page.get_by_text("No scenario has “turing <i>no</i>” in it.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".cover svg")).to_have_count(NUM_CARDS, timeout=PATIENCE)


def test_the_slash_is_a_letter_again_on_another_page(page: Page, app_url: str) -> None:
    open_gallery(page, app_url)
    page.get_by_role("link", name="Bring your own").click()
    expect(page.get_by_text("Bring your own trace")).to_be_visible(timeout=PATIENCE)
    focus = page.evaluate("document.activeElement.tagName")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.tagName") == focus


@pytest.mark.parametrize(("theme", "panel"), [("light", "rgb(244, 246, 249)"), ("dark", "rgb(23, 28, 37)")])
def test_pictures_take_the_theme(browser: Browser, app_url: str, theme: str, panel: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    open_gallery(page, app_url)
    expect(page.locator(".cover").first).to_have_css("background-color", panel)
    context.close()


@pytest.mark.parametrize("width", [400, 640, 1280, 1920])
def test_cards_keep_their_content_inside_at_any_width(page: Page, app_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1080 if width > 1280 else 720})
    open_gallery(page, app_url)
    too_wide = page.evaluate(
        """() => [...document.querySelectorAll('[class*="st-key-card-"]')].flatMap(card => {
            const box = card.getBoundingClientRect();
            return [...card.querySelectorAll("a, span, svg")].filter(e => {
                const inner = e.getBoundingClientRect();
                return inner.width && (inner.left < box.left - 1 || inner.right > box.right + 1);
            }).map(e => e.textContent);
        })"""
    )
    assert too_wide == []
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("part", [".cover", "text=Which word needs a new block?", "text=D02"])
def test_every_part_of_a_card_is_the_link_to_its_scenario(page: Page, app_url: str, part: str) -> None:
    open_gallery(page, app_url)
    middle = page.locator(".st-key-card-alan-turing").locator(part)
    middle.scroll_into_view_if_needed()
    box = middle.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile("scenario=alan-turing"))
