"""Where things stand on the screen, in two sizes and both themes: nothing overlaps, no label is cut, no type is too small."""

from itertools import combinations
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from scenarios import catalogue
from scenarios.run import run
from tests.browser.page_time import pass_time
from tests.browser.player_page import player_page
from viz.export import run_bytes, side_by_side

Theme = Literal["light", "dark"]
SIZES = [(1280, 720), (1920, 1080)]
THEMES: tuple[Theme, ...] = ("light", "dark")
VIEWS = {
    "copies": ("four-samples", ("shared",), "f=1"),
    "start": ("four-samples", ("shared",), "f=start"),
    "strips": ("three-wastes", ("oracle",), "f=6"),
    "queue": ("step-by-step", ("static",), "f=3"),
    "compare": ("step-by-step", ("static", "continuous"), "f=2&t=0.06"),
}
REGIONS = (
    ".kv-title, .kv-metrics > dl > div, .kv-switches, .kv-say, .kv-panel, .kv-pane-name, .kv-numbers dl div, .kv-flag, "
    ".kv-buttons, .kv-where, .kv-line, .kv-speed, .kv-table > summary"
)
LABELS = (
    ".kv-title h1, .kv-metrics dt, .kv-metrics dd div, .kv-tag b, .kv-tag small, .kv-say p, .kv-heading b, .kv-legend span, "
    ".kv-facts dt, .kv-life span, .kv-queue b, .kv-queue em, .kv-lanes b, .kv-where b, .kv-where span, .kv-speed b, .kv-chip, "
    ".kv-numbers dt, .kv-numbers dd, .kv-flag, .kv-moment, .kv-pill, .kv-key"
)
_BOXES = """(root, wanted) => [...root.querySelectorAll(wanted)].filter(node => node.checkVisibility())
  .map(node => [node.className || node.textContent, node.getBoundingClientRect().toJSON()])"""
_CUT = """(root, wanted) => [...root.querySelectorAll(wanted)].filter(node => node.checkVisibility() && node.clientWidth)
  .filter(node => node.scrollWidth > node.clientWidth + 1).map(node => `${node.className || node.tagName}: ${node.textContent}`)"""
_SIZES = """root => {
  const sizes = {};
  for (const node of root.querySelectorAll(".kv-stage *, .kv-table summary")) {
    const isText = [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
    if (isText && node.checkVisibility()) sizes[node.className || node.parentNode.className || node.tagName] = parseFloat(getComputedStyle(node).fontSize);
  }
  return sizes;
}"""


def _open(
    browser: Browser, folder: Path, view: str, width: int, height: int, theme: Theme = "light"
) -> tuple[Page, Locator]:
    name, names, place = VIEWS[view]
    scenario = catalogue.load()[name]
    traces = [run(scenario, one) for one in names]
    blobs = [run_bytes(scenario, one, trace) for one, trace in zip(names, traces, strict=True)]
    path = folder / f"{view}.html"
    path.write_text(player_page(side_by_side(blobs, traces, names)), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
    page.goto(f"{path.as_uri()}#{place}")
    root = page.locator('.kv[data-ready="true"][data-hash]')
    expect(root).to_be_visible()
    pass_time(page, 200)
    return page, root


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_overlaps_and_no_label_is_cut(
    browser: Browser, tmp_path: Path, view: str, size: tuple[int, int], theme: Theme
) -> None:
    page, root = _open(browser, tmp_path, view, *size, theme)
    boxes = root.evaluate(_BOXES, REGIONS)
    cut = root.evaluate(_CUT, LABELS)
    smallest = min(root.evaluate(_SIZES).values())
    scale = float(root.evaluate("node => getComputedStyle(node).getPropertyValue('--kv-k')"))
    page.close()
    assert len(boxes) > 10
    for one, a in boxes:
        assert a["left"] >= 0 and a["right"] <= size[0] + 1 and a["top"] >= 0 and a["bottom"] <= size[1], one
    for (one, a), (other, b) in combinations(boxes, 2):
        is_apart = a["right"] <= b["left"] + 1 or b["right"] <= a["left"] + 1
        assert is_apart or a["bottom"] <= b["top"] + 1 or b["bottom"] <= a["top"] + 1, (one, other)
    assert cut == []
    assert smallest >= 11.5 * scale - 0.01


@pytest.mark.parametrize("size", [(1280, 720), (1024, 640), (960, 540), (640, 360)])
@pytest.mark.parametrize("view", ["copies", "compare"])
def test_the_transport_bar_is_in_sight_in_small_windows_and_at_twice_the_zoom(
    browser: Browser, tmp_path: Path, size: tuple[int, int], view: str
) -> None:
    page, root = _open(browser, tmp_path, view, *size)
    for part in (".kv-play", ".kv-line", ".kv-speed"):
        box = root.locator(part).bounding_box()
        assert box is not None
        assert box["y"] >= 0 and box["y"] + box["height"] <= size[1], part
        assert box["x"] >= 0 and box["x"] + box["width"] <= size[0], part
    page.close()


def test_the_wheel_over_the_timeline_belongs_to_the_page_until_it_was_clicked(browser: Browser, tmp_path: Path) -> None:
    page, root = _open(browser, tmp_path, "queue", 1280, 720)
    page.evaluate("document.body.style.paddingBottom = '900px'")
    box = root.locator("[data-panel=timeline] canvas.kv-canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    page.mouse.wheel(0, 200)
    pass_time(page, 300)
    assert page.evaluate("scrollY") > 100
    page.close()
