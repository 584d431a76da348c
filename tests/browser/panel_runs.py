"""The runs that the tests of the panels look at, small enough to check by hand or large on purpose, and their page."""

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.loop import simulate
from engine.settings import Settings
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.request_fields import read_requests
from scenarios.run import run
from tests.browser.player_page import player_page
from viz.player.wire import wire

PREEMPTIONS = Settings(num_blocks=12, max_num_seqs=4)
OWNERS = "ABCDE"
Open = Callable[..., Locator]


@cache
def four_samples() -> Trace:
    return run(catalogue.load()["four-samples"])


@cache
def many_requests(count: int = 400, num_blocks: int = 1024, max_num_seqs: int = 64) -> Trace:
    rng = random.Random(count)
    time, rows = 0.0, []
    for i in range(count):
        time += rng.expovariate(count / 5)
        rows.append(
            {
                "id": f"r{i}",
                "arrival_s": time,
                "prompt": {"len": rng.randrange(20, 400)},
                "output_len": rng.randrange(3, 60),
            }
        )
    settings = Settings(num_blocks=num_blocks, max_num_seqs=max_num_seqs)
    return simulate(settings, ListWorkload(read_requests(rows)), "many")


def small_run(settings: Settings, *lengths: tuple[str, int, int]) -> Trace:
    rows = [{"id": name, "prompt": {"len": prompt}, "output_len": output} for name, prompt, output in lengths]
    return simulate(settings, ListWorkload(read_requests(rows)), "small")


def preempting_run() -> Trace:
    """Five requests of 40 + 40 tokens in 12 blocks: three of them are preempted."""
    return small_run(PREEMPTIONS, *((name, 40, 40) for name in OWNERS))


@pytest.fixture
def open_run(page: Page, tmp_path: Path) -> Iterator[Open]:
    """Opens a trace at a place; every error of the page fails the test."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def opened(trace: Trace, place: str = "0", sel: str = "") -> Locator:
        path = tmp_path / f"{trace.run_id}.html"
        if not path.exists():
            path.write_text(player_page([wire(trace, title="A run")]))
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#f={place}" + (f"&sel={sel}" if sel else ""))
        root = page.locator('.kv[data-ready="true"]')
        expect(root).to_have_attribute("data-hash", re.compile(r"\d"))
        return root

    yield opened
    assert errors == [], errors


def happened(trace: Trace, kind: str) -> list[dict[str, int]]:
    columns = trace.happenings
    rows = [i for i, number in enumerate(columns["kind"]) if number == HAPPENINGS.index(kind)]
    return [{name: int(values[i]) for name, values in columns.items()} for i in rows]


def facts(page: Page) -> dict[str, str]:
    """What the inspector says: name -> value."""
    lines = page.locator(".kv-facts > div")
    return {line.locator("dt").inner_text(): line.locator("dd").inner_text() for line in lines.all()}
