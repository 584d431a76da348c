"""Every page as Streamlit lays it out, in two sizes and both themes: nothing overlaps, is cut, too small or out of sight."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.app_server import serving
from tests.browser import drawn_text
from tests.browser.gallery_page import open_gallery
from tests.browser.live_page import start_button, words_of
from tests.browser.page_geometry import SMALLEST_IN_LECTURE, Report, report
from tests.browser.page_time import pass_time
from tests.browser.test_geometry import SIZES, THEMES

PATIENCE = 60_000


def _player(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)


def _check(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("table tbody tr").nth(100)).to_be_attached(timeout=PATIENCE)


PAGES: dict[str, tuple[str, Callable[[Page, str], None]]] = {
    "start": ("", open_gallery),
    "stage": ("stage?scenario=four-samples&f=1", _player),
    "stage-large": ("stage?scenario=four-managers&run=paged&f=300", _player),
    "stage-strips": ("stage?scenario=four-managers&run=max&f=100", _player),
    "compare": ("compare?scenario=step-by-step&run=static&run=continuous&f=2&t=0.06", _player),
    "compare-three": ("compare?scenario=last-block&run=paged&run=max&run=pow2&f=14", _player),
    "check": ("check", _check),
}


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def window(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """One session of the browser for all pages of a size, so that what Streamlit is made of is fetched once."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light")
    drawn_text.record(context)
    yield context
    context.close()


def _examine(page: Page) -> None:
    """The page as it stands, in both themes."""
    found: dict[str, Report] = {}
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        expect(page.locator(".stApp")).to_have_css("color-scheme", theme)
        found[theme] = report(page)
    assert {theme: one.faults for theme, one in found.items() if one.faults} == {}
    assert min(one.num_texts for one in found.values()) > 20
    assert min(one.num_controls for one in found.values()) >= 6
    if page.locator(".kv").count():
        assert min(one.num_drawn for one in found.values()) > 20


@pytest.mark.parametrize("name", PAGES)
def test_nothing_on_a_page_overlaps_or_is_cut_in_either_theme(window: BrowserContext, app_url: str, name: str) -> None:
    address, opened = PAGES[name]
    page = window.new_page()
    opened(page, f"{app_url}/{address}")
    _examine(page)
    page.close()


@pytest.mark.parametrize("name", ["stage", "stage-strips", "compare", "compare-three"])
def test_in_a_lecture_all_is_large_and_nothing_overlaps(window: BrowserContext, app_url: str, name: str) -> None:
    address, opened = PAGES[name]
    page = window.new_page()
    opened(page, f"{app_url}/{address}")
    page.keyboard.press("l")
    expect(page.locator(".kv")).to_have_class(re.compile("kv-lecture"))
    pass_time(page, 200)
    found = report(page, SMALLEST_IN_LECTURE)
    page.close()
    assert found.faults == {}
    assert found.num_texts > 10


def test_nothing_overlaps_or_is_cut_before_a_file_is_read_after_it_and_in_its_run(
    window: BrowserContext, app_url: str
) -> None:
    page = window.new_page()
    page.goto(f"{app_url}/bring-your-own")
    expect(page.locator("table tbody tr").first).to_be_visible(timeout=PATIENCE)
    _examine(page)
    page.get_by_role("button", name="Try the example").click()
    expect(page.get_by_text("Read as generic_csv")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("svg.marks")).to_have_count(3, timeout=PATIENCE)
    _examine(page)
    page.get_by_role("button", name="Run static, continuous and chunked").click()
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)
    _examine(page)
    page.close()


@pytest.fixture(scope="module")
def live_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("live") / "log.txt", "tests/browser/live_app.py") as address:
        yield address


def test_nothing_overlaps_or_is_cut_before_a_model_answers_and_while_it_does(
    window: BrowserContext, live_url: str
) -> None:
    page = window.new_page()
    page.goto(live_url)
    start = start_button(page, PATIENCE)
    found = report(page)
    assert (found.faults, found.num_texts > 10) == ({}, True)
    start.click()
    words = words_of(page)
    expect(words).to_have_attribute("aria-label", re.compile("A: .*Why.*B: .*C: "), timeout=PATIENCE)
    _examine(page)
    page.locator("[class*=st-key-popover-answers-] button").first.click()
    expect(page.locator(".st-key-answer-C")).to_be_visible(timeout=PATIENCE)
    found = report(page)
    page.close()
    assert {name: one for name, one in found.faults.items() if name != "overlaps"} == {}


MADE_UP = """<body style="margin: 0; font: 16px sans-serif">
  <div style="position: absolute; top: 10px">over</div><div style="position: absolute; top: 10px">and under</div>
  <div style="position: absolute; top: 50px; width: 60px; overflow: hidden; white-space: nowrap">this is cut</div>
  <div style="position: absolute; top: 90px; width: 60px; overflow: hidden; white-space: nowrap" title="all of it">this is told</div>
  <div style="position: absolute; top: 130px; width: 60px; height: 18px; overflow: auto">this can be scrolled to and read</div>
  <div style="position: absolute; top: 170px; font-size: 9px">tiny</div>
  <div style="position: absolute; top: 210px; left: calc(100vw - 20px); white-space: nowrap">leaves the window</div>
  <button style="position: absolute; top: 250px; width: 90px; height: 30px">press</button>
  <div style="position: absolute; top: 255px; left: 60px">beside</div>
  <div class="kv" style="position: absolute; top: 300px"><canvas width="200" height="80" style="width: 100px; height: 40px"></canvas></div>
  <script>
    const context = document.querySelector("canvas").getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.font = "12px sans-serif";
    context.fillText("of the picture before", 0, 10);
    context.clearRect(0, 0, 100, 40);
    context.fillText("one", 0, 12);
    context.fillText("two", 4, 14);
    context.fillText("beyond the edge", 60, 34);
  </script>"""


def test_each_fault_of_a_made_up_page_is_found(browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 400, "height": 500})
    drawn_text.record(context)
    page = context.new_page()
    page.goto("data:text/html," + quote(MADE_UP))
    found = report(page)
    context.close()
    assert found.overlaps == [["over", "and under"], ["canvas: one", "canvas: two"], ["beside", "[press]"]]
    assert found.cut == ["this is cut", "canvas: beyond the edge"]
    assert found.small == ["tiny 9"]
    assert found.outside == ["leaves the window", "the page itself"]
    assert (found.num_drawn, found.num_controls) == (3, 1)
