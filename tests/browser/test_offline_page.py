"""The exported file, opened from disk in a browser without a network: Python's states, keys, links, nothing requested."""

import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from viz.export import offline_page, run_bytes, side_by_side

NUM_FRAMES = 12
PATIENCE = 20_000


@pytest.fixture
def offline(context: BrowserContext) -> BrowserContext:
    context.set_offline(True)
    return context


def _file(folder: Path, name: str, *run_names: str) -> tuple[Path, list[Trace]]:
    scenario = catalogue.load()[name]
    traces = [run(scenario, run_name) for run_name in run_names]
    blobs = [run_bytes(scenario, run_name, trace) for run_name, trace in zip(run_names, traces, strict=True)]
    path = folder / "replay.html"
    panes = side_by_side(blobs, traces, run_names)
    path.write_text(offline_page(panes, title=scenario.title["en"]), encoding="utf-8")
    return path, traces


def _player(page: Page) -> Locator:
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_be_visible(timeout=PATIENCE)
    return player


def _expect_state(player: Locator, trace: Trace, event: int) -> None:
    expect(player).to_have_attribute("data-event", str(event))
    expect(player).to_have_attribute("data-hash", str(trace.cut(event=event).crc()))


def test_every_frame_of_the_file_is_in_the_state_that_python_says(offline: BrowserContext, tmp_path: Path) -> None:
    path, (trace,) = _file(tmp_path, "four-samples", "shared")
    page = offline.new_page()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(path.as_uri())
    player = _player(page)
    expect(page).to_have_title("Four samples share one prompt")
    rng = random.Random(5)
    for _ in range(NUM_FRAMES):
        step = rng.randrange(trace.num_steps)
        player.evaluate("root => root.focus()")
        page.keyboard.press("g")
        page.get_by_role("spinbutton", name=re.compile("Go to")).fill(str(step + 1))
        page.keyboard.press("Enter")
        _expect_state(player, trace, int(trace.steps["scheduled"][step]))
    assert requested == [path.as_uri()]


def test_keys_work_and_the_place_is_kept_in_the_hash(offline: BrowserContext, tmp_path: Path) -> None:
    path, (trace,) = _file(tmp_path, "four-samples", "shared")
    scheduled = trace.steps["scheduled"]
    page = offline.new_page()
    page.goto(f"{path.as_uri()}#f=7")
    player = _player(page)
    _expect_state(player, trace, int(scheduled[7]))
    page.keyboard.press("ArrowRight")
    _expect_state(player, trace, int(scheduled[8]))
    page.wait_for_url(re.compile(r"#f=8$"))
    page.reload()
    _expect_state(_player(page), trace, int(scheduled[8]))
    page.keyboard.press(",")
    _expect_state(player, trace, int(scheduled[8]) - 1)
    page.keyboard.press("Home")
    page.keyboard.press("End")
    _expect_state(player, trace, trace.num_events)


def test_another_hash_typed_into_the_address_is_followed(offline: BrowserContext, tmp_path: Path) -> None:
    path, (trace,) = _file(tmp_path, "four-samples", "shared")
    page = offline.new_page()
    page.goto(f"{path.as_uri()}#f=3")
    _player(page)
    page.evaluate("location.hash = 'f=1.1'")
    _expect_state(_player(page), trace, trace.parse_frame("1.1"))


def test_a_wrong_hash_gets_a_sentence(offline: BrowserContext, tmp_path: Path) -> None:
    path, _ = _file(tmp_path, "four-samples", "shared")
    page = offline.new_page()
    page.goto(f"{path.as_uri()}#f=999")
    _player(page)
    expect(page.get_by_text("Frame 999").first).to_be_visible()


def test_two_runs_are_compared_and_d_leads_to_their_first_difference(offline: BrowserContext, tmp_path: Path) -> None:
    path, traces = _file(tmp_path, "ten-iterations", "static", "continuous")
    page = offline.new_page()
    page.goto(f"{path.as_uri()}#f=1")
    player = _player(page)
    expect(player).to_have_attribute("data-run", re.compile(traces[0].run_id))
    player.evaluate("root => root.focus()")
    page.keyboard.press("d")
    # counted from 0: in step 3 D takes the place of A, static batching leaves it empty
    expect(player).to_have_attribute("data-step", "3")
