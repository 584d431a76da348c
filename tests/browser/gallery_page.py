"""The gallery as browser tests open it: with all its cards, links and pictures."""

from playwright.sync_api import Page, expect

from scenarios import catalogue

PATIENCE = 60_000
NUM_CARDS = len(catalogue.load())


def open_gallery(page: Page, app_url: str) -> None:
    """Go to the gallery and wait until nothing of it is still to come."""
    page.goto(app_url)
    expect(page.locator(".cover svg:not(:has(> .place))")).to_have_count(NUM_CARDS, timeout=PATIENCE)
    expect(page.locator('[class*="st-key-card-"] a')).to_have_count(NUM_CARDS)
    expect(page.locator("[data-listens]")).to_be_attached()
