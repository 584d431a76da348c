"""Time as the page knows it: on a busy machine its timers and pictures are late, and so is whoever waits by this."""

from playwright.sync_api import Page

_PASS = """milliseconds => new Promise(done =>
  setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), milliseconds))"""


def pass_time(page: Page, milliseconds: int) -> None:
    """Returns when timers that are due by then have run and what they asked for is painted."""
    page.evaluate(_PASS, milliseconds)
