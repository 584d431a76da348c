"""Reads what the canvases of the player show: where a block or a sequence lies, and which colour stands there.

Places come from the hit map of the player, colours from the pixels; the palette is the one that `player.css` names.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page

from viz import player

Box = tuple[float, float, float, float]
Colour = tuple[int, int, int]
Pixel = tuple[int, int, int, int]

_THEME = (Path(player.__file__).parent / "player.css").read_text(encoding="utf-8")
_LIGHT = _THEME[: _THEME.index("--kv-dark:")]

_BOXES = """(canvas, kind) => {
  const found = {};
  for (let y = 0; y < canvas.offsetHeight; y += 1) for (let x = 0; x < canvas.offsetWidth; x += 1) {
    const target = canvas.pick(x, y);
    if (!target || target.kind !== kind) continue;
    const box = (found[target.id] ??= [x, y, x, y]);
    box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y); box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y);
  }
  return found;
}"""
_PIXELS = """(canvas, points) => {
  const ratio = canvas.width / canvas.offsetWidth, ctx = canvas.getContext("2d");
  return points.map(([x, y]) => [...ctx.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data.slice(0, 4)]);
}"""


def hue(name: str, part: str = "solid") -> Colour:
    """A colour of the light palette: `solid`, `tint` or `on` of a hue."""
    found = re.search(rf'"{name}": {{[^}}]*"{part}": "(#\w{{6}})"', _LIGHT)
    assert found is not None
    return _rgb(found[1])


def named(name: str) -> Colour:
    """A colour of the light palette that is no hue: paper, panel, ink, now ..."""
    found = re.search(rf'"{name}": "(#\w{{6}})"', _LIGHT)
    assert found is not None
    return _rgb(found[1])


def canvas(page: Page, panel: str) -> Locator:
    return page.locator(f"[data-panel={panel}] canvas.kv-canvas")


def boxes(where: Locator, kind: str) -> dict[int, Box]:
    """Left, top, right, bottom of each block (`b`), sequence (`s`) or request (`r`), in pixels of the canvas element."""
    return {int(key): (box[0], box[1], box[2], box[3]) for key, box in where.evaluate(_BOXES, kind).items()}


def pixels(where: Locator, points: Sequence[tuple[float, float]]) -> list[Pixel]:
    return [(p[0], p[1], p[2], p[3]) for p in where.evaluate(_PIXELS, points)]


def is_like(pixel: Pixel, colour: Colour, tolerance: int = 6) -> bool:
    return pixel[3] > 0 and all(abs(a - b) <= tolerance for a, b in zip(pixel[:3], colour, strict=True))


def click(page: Page, where: Locator, box: Box) -> None:
    """A click into the middle of a box of `boxes`."""
    frame = where.bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + (box[0] + box[2]) / 2, frame["y"] + (box[1] + box[3]) / 2)


def _rgb(text: str) -> Colour:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
