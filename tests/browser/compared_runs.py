"""Runs beside each other as browser tests look at them: the panes of a scenario, the page that shows them, what it shows."""

import re
from functools import cache
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from tests.browser.page_time import pass_time
from tests.browser.player_page import player_page
from viz.player.difference import pane_differences
from viz.player.wire import in_comparison, wire

BATCHES = ("static", "continuous")
HASHES = re.compile(r"^\d+(\|\d+)*$")


@cache
def comparison(name: str, names: tuple[str, ...], clock: str = "time") -> tuple[list[Trace], list[bytes]]:
    """The runs of a scenario as the panes of a comparison."""
    scenario = catalogue.load()[name]
    traces = [run(scenario, one) for one in names]
    panes = zip(traces, names, pane_differences(traces, names), strict=True)
    title = scenario.title["en"]
    return traces, [
        in_comparison(wire(trace, title=title, run_name=one), run_name=one, clock=clock, difference=difference)
        for trace, one, difference in panes
    ]


def show(page: Page, folder: Path, blobs: list[bytes], place: str = "") -> Locator:
    """The player with these runs at the place of a link, from a file."""
    path = folder / "player.html"
    path.write_text(player_page(blobs), encoding="utf-8")
    page.goto(f"file://{path}#{place}")
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_be_visible()
    page.evaluate("() => document.fonts.ready.then(() => null)")
    pass_time(page, 50)
    return player


def places(player: Locator) -> tuple[list[str], list[int]]:
    """Names and state hashes of the panes, once they have come to rest."""
    expect(player).to_have_attribute("data-hashes", HASHES)
    names = (player.get_attribute("data-frames") or "").split("|")
    return names, [int(text) for text in (player.get_attribute("data-hashes") or "").split("|")]


def time_of(player: Locator) -> float:
    return float(player.get_attribute("data-time") or "nan")
