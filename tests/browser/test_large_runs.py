"""Large pools and long runs: a part of the pool as cells, the lens, search, places, the view from afar."""

import re

from playwright.sync_api import Page, expect

from tests.browser import painted
from tests.browser.page_time import pass_time
from tests.browser.panel_runs import Open, many_requests, open_run

__all__ = ["open_run"]


def test_a_rectangle_over_the_pool_opens_as_cells_until_escape(page: Page, open_run: Open) -> None:
    root = open_run(many_requests(500, 25_600, 256), "40")
    grid = painted.canvas(page, "blocks")
    box = grid.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 120, steps=5)
    page.mouse.up()
    expect(grid).to_have_attribute("data-mode", "tiny")
    columns = int(grid.get_attribute("data-columns") or "")
    first = min(painted.boxes(grid, "b"))
    expect(page.locator("[data-panel=blocks] .kv-heading")).to_contain_text(f"from block {first:,} of 25,600")
    assert 0 < columns < 102 and first > 0
    root.focus()
    page.keyboard.press("Escape")
    expect(grid).to_have_attribute("data-mode", "pixel")


def test_the_lens_lists_what_changed_once_the_frame_stands_still(page: Page, open_run: Open) -> None:
    open_run(many_requests(500, 25_600, 256), "40")
    grid = painted.canvas(page, "blocks")
    size = grid.evaluate("node => [node.offsetWidth, node.offsetHeight]")
    corner = [(size[0] * 0.8 - 20 - x, y) for x in range(140) for y in range(int(size[1] * 0.5), int(size[1]), 2)]

    def yellow() -> int:
        return sum(painted.is_like(pixel, painted.named("now")) for pixel in painted.pixels(grid, corner))

    pass_time(page, 600)
    still = yellow()
    page.keyboard.press("Space")
    pass_time(page, 700)
    playing = yellow()
    page.keyboard.press("Space")
    pass_time(page, 600)
    assert still > 20 > playing and yellow() > 20


def test_a_search_finds_a_request_among_400_and_keeps_the_frame(page: Page, open_run: Open) -> None:
    root = open_run(many_requests(), "50")
    expect(page.locator("[data-panel=timeline] [data-sel=r333]")).to_have_count(0)
    box = page.get_by_label("find a request")
    box.fill("r333")
    box.press("Enter")
    expect(page.locator("[data-panel=timeline] [data-sel=r333]")).to_have_class(re.compile("kv-selected"))
    expect(root).to_have_attribute("data-frame", "50")
    box.fill("nobody")
    box.press("Enter")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".kv-live")).to_have_text("There is no request “nobody”.")


def test_the_timeline_shows_places_and_from_afar_the_share_of_busy_ones(page: Page, open_run: Open) -> None:
    root = open_run(many_requests(4000, 4096, 32), "500")
    panel = page.locator("[data-panel=timeline]")
    page.get_by_role("button", name="Rows are the places of the batch").click()
    expect(panel.locator(".kv-lanes b").first).to_have_text("place 1")
    root.focus()
    for _ in range(20):
        page.keyboard.press("-")
    expect(panel.locator(".kv-heading")).to_contain_text("share of the 32 places that is busy")
    page.keyboard.press("Escape")
    expect(panel.locator(".kv-lanes b").first).to_have_text("place 1")
