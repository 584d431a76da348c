"""What axe-core finds on every page, in both themes: nothing serious, nothing critical; and the contrasts of the palette."""

import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.page_time import pass_time
from viz import player

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RUN = """async () => {
  const {violations} = await axe.run(document, {resultTypes: ["violations"]});
  return violations.filter(({impact}) => impact === "serious" || impact === "critical").flatMap(({id, help, nodes}) =>
    nodes.map(node => `${id}: ${help}: ${node.target.join(" ")} ${node.html.slice(0, 160)}`));
}"""
PATIENCE = 60_000
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")


def _frame(page: Page) -> None:
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)


def _text(text: str) -> Callable[[Page], None]:
    return lambda page: expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)


PAGES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "start": ("", _text("See an LLM serving engine think.")),
    "stage": ("stage?scenario=four-samples&run=shared&f=1", _frame),
    "stage-strips": ("stage?scenario=three-wastes&run=oracle&f=6", _frame),
    "compare": ("compare?scenario=step-by-step&run=static&run=continuous&f=2&t=0.06", _frame),
    "bring-your-own": ("bring-your-own", lambda page: expect(page.locator("input[type=file]")).to_be_attached()),
    "check": ("check", lambda page: expect(page.locator("table").first).to_be_visible(timeout=PATIENCE)),
}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_serious_finding(browser: Browser, app_url: str, name: str, theme: Theme) -> None:
    address, ready = PAGES[name]
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{app_url}/{address}")
    ready(page)
    pass_time(page, 600)
    page.evaluate(AXE)
    found = page.evaluate(RUN)
    context.close()
    assert found == []


# the palette, against the table of the visual language: text 4.5, marks 3


def _palette(theme: str) -> dict[str, str]:
    text = (Path(player.__file__).parent / "player.css").read_text(encoding="utf-8")
    part = text.split("  --kv-dark: {")[0 if theme == "light" else 1].split("\n}\n")[0]
    colours = dict(re.findall(r'(\w+)": "(#\w{6})"', part.split("hues")[0]))
    for name, solid, tint, on in re.findall(r'(\w)": \{"solid": "(#\w+)", "tint": "(#\w+)", "on": "(#\w+)"\}', part):
        colours |= {f"{name}.solid": solid, f"{name}.tint": tint, f"{name}.on": on}
    return colours


def contrast(a: str, b: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_twenty_one_to_one() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#14181F", "#FFFFFF") == pytest.approx(17.8, abs=0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_the_palette_has_the_contrasts_of_its_table(theme: Theme) -> None:
    colours = _palette(theme)
    paper, panel = colours["paper"], colours["panel"]
    for name in ("ink", "ink2", "ink3"):
        assert contrast(colours[name], paper) >= 4.5, name
        assert contrast(colours[name], panel) >= 4.5, name
    for name in ("mark", "free", "idle"):
        assert contrast(colours[name], paper) >= 3.0, name
    assert contrast(colours["onNow"], colours["now"]) >= 4.5
    assert contrast(colours["nowEdge"], paper) >= 12
    for hue in "ABCDESK":
        assert contrast(colours[f"{hue}.solid"], paper) >= 3.0, hue
        assert contrast(colours[f"{hue}.on"], colours[f"{hue}.solid"]) >= 4.5, hue
        assert contrast(colours["ink"], colours[f"{hue}.tint"]) >= 12, hue
