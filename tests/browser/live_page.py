"""The page Live as browser tests open it: with its model, whoever asked for it first."""

from playwright.sync_api import BrowserContext, Locator, Page, expect

SLOW = 60_000
"""Milliseconds for what a real model does on a machine that has other work."""


def start_button(page: Page, patience: float) -> Locator:
    """The button that begins a run, once the model is there: it is asked for where nobody has. `patience` in milliseconds."""
    fetch, start = (page.locator(f".st-key-live-{name} button") for name in ("fetch", "start"))
    fetch.or_(start).first.wait_for()
    if fetch.count():
        fetch.click()
    expect(start).to_be_visible(timeout=patience)
    return start


def event_of(player: Locator) -> int:
    return int(player.get_attribute("data-event") or "")


def words_of(page: Page) -> Locator:
    """The picture of what is in the blocks; its label says the words."""
    return page.locator('[data-panel="words"] canvas')


def opened(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.goto(address)
    start_button(page, SLOW)
    return page


def press(page: Page, key: str) -> None:
    page.locator(".kv").focus()
    page.keyboard.press(key)


def add(page: Page, prompt: str) -> None:
    page.locator("[class*=st-key-popover-more-] button").first.click()
    page.locator(".st-key-live-more-prompt textarea").fill(prompt)
    page.get_by_role("button", name="Add", exact=True).click()


def show_answers(page: Page) -> None:
    page.locator("[class*=st-key-popover-answers-] button").first.click()


def expect_more(page: Page) -> None:
    """The run has gone on by some iterations, whatever the player shows."""
    length = page.locator(".kv-where span").last
    now = length.inner_text()
    expect(length).not_to_have_text(now, timeout=SLOW)


def expect_answered(page: Page) -> None:
    """Nothing runs any more, the script of the page neither: it would put up the bar once more."""
    expect(page.locator(".st-key-live-state")).to_have_text("All is answered")
    expect(page.locator('.stApp[data-test-script-state="notRunning"]')).to_be_visible()
