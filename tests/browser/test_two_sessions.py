"""Two people on one server: each has settings, run and frame of their own, and nobody sees what the other one does.

That a long simulation of one holds up nobody is in `test_first_light`.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run

PATIENCE = 60_000


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """A page of somebody else: another browser session, without a cookie of the first."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    yield context.new_page()
    context.close()


def _shows(page: Page, trace: Trace, step: int) -> Locator:
    """The player, once it shows this run at that iteration, in the state that Python says."""
    player = page.locator(f'.kv[data-ready="true"][data-run="{trace.run_id}"]')
    expect(player).to_have_attribute("data-event", str(trace.steps["scheduled"][step]), timeout=PATIENCE)
    expect(player).to_have_attribute("data-hash", str(trace.cut(step=step, at="scheduled").crc()))
    return player


def test_each_session_has_its_own_settings_run_and_frame(page: Page, other: Page, app_url: str) -> None:
    scenario = catalogue.load()["four-samples"]
    plain, changed = run(scenario), run(scenario.with_settings({"block_size": 8}))
    for each, frame in ((page, 5), (other, 20)):
        each.goto(f"{app_url}/stage?scenario=four-samples&f={frame}")
        _shows(each, plain, frame)
    page.keyboard.press("ArrowRight")
    _shows(page, plain, 6)
    _shows(other, plain, 20)

    page.get_by_role("button", name="Settings").click()
    page.get_by_role("tab", name="Memory", exact=True).click()
    page.get_by_role("textbox", name="block_size").fill("8")
    page.get_by_role("button", name="Run with these settings").click()
    page.wait_for_url(re.compile(r"p\.block_size=8"))
    mine = page.locator(f'.kv[data-ready="true"][data-run="{changed.run_id}"]')
    expect(mine).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("Home")
    _shows(page, changed, 0)

    assert "block_size" not in other.url
    other.keyboard.press("ArrowRight")
    _shows(other, plain, 21)
    other.wait_for_url(re.compile(r"f=21$"))
    other.reload()
    _shows(other, plain, 21)
    _shows(page, changed, 0)
