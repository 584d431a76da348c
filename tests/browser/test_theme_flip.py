"""Light turns into dark while somebody looks at a frame: the frame stays, its picture is painted in the other colours."""

import re

from playwright.sync_api import Page, expect

from scenarios import catalogue
from scenarios.run import run
from tests.browser import painted

PATIENCE = 60_000
STEP = 7
TINT_OF_A = {"light": (0xE4, 0xE9, 0xFB), "dark": (0x1A, 0x23, 0x44)}
PANEL = {"light": "rgb(244, 246, 249)", "dark": "rgb(23, 28, 37)"}
OPEN_BLOCK_OF_A = 7
"""The copy that the first sample writes into: a tint with slots."""


def test_a_theme_flip_keeps_the_frame_and_paints_it_anew(page: Page, app_url: str) -> None:
    trace = run(catalogue.load()["four-samples"])
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_url}/stage?scenario=four-samples&f={STEP - 1}")
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_have_attribute("data-hash", re.compile(r"\d"), timeout=PATIENCE)
    page.keyboard.press("ArrowRight")
    grid = painted.canvas(page, "blocks")
    box = painted.boxes(grid, "b")[OPEN_BLOCK_OF_A]
    beside_its_name = [(box[0] + 0.8 * (box[2] - box[0]), box[1] + 0.45 * (box[3] - box[1]))]
    for theme in ("light", "dark", "light"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator(".kv-say")).to_have_css("background-color", PANEL[theme])
        expect(player).to_have_attribute("data-event", str(trace.steps["scheduled"][STEP]))
        expect(player).to_have_attribute("data-hash", str(trace.cut(step=STEP, at="scheduled").crc()))
        (pixel,) = painted.pixels(grid, beside_its_name)
        assert painted.is_like(pixel, TINT_OF_A[theme]), (theme, pixel)
    # the entry was called again for each theme, and there is still one player, which hears each key once
    expect(page.locator(".kv")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-frame", str(STEP + 1))
