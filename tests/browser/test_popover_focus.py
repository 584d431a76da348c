"""A popover of the Stage that is closed gives the focus back, and a page that is left gives the address back.

Letters act only while the player has the focus.
"""

import re

import pytest
from playwright.sync_api import Page, expect

PATIENCE = 60_000


@pytest.mark.parametrize("name", ["Story", "Settings"])
@pytest.mark.parametrize("way", ["Escape", "pointer"])
def test_the_letters_act_again_after_a_popover_is_closed(page: Page, app_url: str, name: str, way: str) -> None:
    page.goto(f"{app_url}/stage?scenario=four-samples&run=shared&f=1")
    root = page.locator('.kv[data-ready="true"][data-hash]')
    expect(root).to_be_visible(timeout=PATIENCE)
    opener = page.get_by_role("button", name=name, exact=True)
    for clock in ("time", "steps"):
        opener.click()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        page.keyboard.press("t")
        if way == "Escape":
            page.keyboard.press("Escape")
        else:
            opener.click()
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        expect(root).to_be_focused()
        page.keyboard.press("t")
        expect(root).to_have_attribute("data-clock", clock)
    before = root.get_attribute("data-event")
    page.keyboard.press(".")
    expect(root).not_to_have_attribute("data-event", before or "")


def test_who_closes_a_popover_by_its_button_with_a_key_stays_on_the_button(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/stage?scenario=four-samples&run=shared&f=1")
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)
    opener = page.get_by_role("button", name="Story", exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    page.wait_for_timeout(600)
    expect(opener).to_be_focused()


def test_a_fast_way_back_leaves_the_moment_of_the_player_behind(page: Page, app_url: str) -> None:
    page.goto(app_url)
    page.get_by_role("link", name="Stage", exact=True).click()
    root = page.locator('.kv[data-ready="true"][data-hash]')
    expect(root).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("f=1"))
    root.evaluate("""root => {
      root.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true, composed: true}));
      history.back();
    }""")
    page.wait_for_timeout(1500)
    assert "f=" not in page.url and "stage" not in page.url
