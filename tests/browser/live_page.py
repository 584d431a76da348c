"""The page Live as browser tests open it: with its model, whoever asked for it first."""

from playwright.sync_api import Locator, Page, expect


def start_button(page: Page, patience: float) -> Locator:
    """The button that begins a run, once the model is there: it is asked for where nobody has. `patience` in milliseconds."""
    fetch, start = (page.locator(f".st-key-live-{name} button") for name in ("fetch", "start"))
    fetch.or_(start).first.wait_for()
    if fetch.count():
        fetch.click()
    expect(start).to_be_visible(timeout=patience)
    return start
