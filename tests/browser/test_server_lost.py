"""The server is gone while a run is played: the player has all it needs, and nothing lies over it."""

import re
from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from scenarios import catalogue
from scenarios.run import run
from tests.app_server import serving

PATIENCE = 60_000
NUM_STEPS = 5


def test_the_player_plays_and_steps_on_when_the_server_has_stopped(context: BrowserContext, tmp_path: Path) -> None:
    trace = run(catalogue.load()["four-samples"])
    page = context.new_page()
    player = page.locator('.kv[data-ready="true"]')
    with serving(tmp_path / "log.txt") as address:
        page.goto(f"{address}/stage?scenario=four-samples&f=1")
        expect(player).to_have_attribute("data-hash", re.compile(r"\d"), timeout=PATIENCE)
        page.keyboard.press("[")
        page.keyboard.press(" ")
        expect(player).to_have_attribute("data-playing", "true")
    # Streamlit has noticed, and has not put its dialog between the player and who looks at it
    expect(page.get_by_text("Connecting")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    event = player.get_attribute("data-event") or ""
    expect(player).not_to_have_attribute("data-event", event)
    page.locator(".kv-play").click()
    expect(player).to_have_attribute("data-playing", "false")
    step = int(player.get_attribute("data-step") or "")
    assert 1 < step < trace.num_steps - NUM_STEPS
    for key, last in (("ArrowRight", step + NUM_STEPS), ("ArrowLeft", step)):
        for _ in range(NUM_STEPS):
            page.keyboard.press(key)
        expect(player).to_have_attribute("data-event", str(trace.steps["scheduled"][last]))
        expect(player).to_have_attribute("data-hash", str(trace.cut(step=last, at="scheduled").crc()))
    page.keyboard.press("n")
    expect(player).not_to_have_attribute("data-event", str(trace.steps["scheduled"][step]))
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
