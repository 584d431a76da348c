"""Charts as Chromium draws them: as many marks as data, labels as they were written, colours that follow the theme."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.app_server import serving
from tests.browser.charts_page import SERIES

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with serving(tmp_path_factory.mktemp("charts") / "log.txt", "tests/browser/charts_page.py") as url:
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
        page.goto(url)
        page.locator("svg.marks").nth(3).wait_for()
        yield page
        page.close()


def test_five_names_give_five_bars_with_their_labels(page: Page) -> None:
    chart = page.locator(".st-key-chart-of-names svg.marks")
    assert chart.locator(".mark-rect path").count() == 5
    assert chart.locator(".role-axis-label text").all_text_contents() == SERIES


def test_an_infinite_number_is_a_dash_among_four_bars(page: Page) -> None:
    chart = page.locator(".st-key-chart-of-holes svg.marks")
    assert chart.locator(".mark-rect path").count() == 4
    assert chart.locator(".mark-text.role-mark text").all_text_contents() == ["1.0", "2.0", "3.0", "–", "4.0"]
    widths = [box["width"] for bar in chart.locator(".mark-rect path").all() if (box := bar.bounding_box())]
    assert widths[3] - widths[0] == pytest.approx(3 * (widths[1] - widths[0]), abs=3)


def test_six_strange_ids_give_six_points_and_no_markup(page: Page) -> None:
    chart = page.locator(".st-key-chart-of-latency_spread svg.marks")
    assert chart.locator(".mark-symbol.role-mark path").count() == 6


def test_every_chart_has_words_for_who_does_not_see_it(page: Page) -> None:
    labels = page.evaluate("""() => [...document.querySelectorAll("svg.marks")].map(
        svg => svg.closest("[aria-label]")?.getAttribute("aria-label") ?? "")""")
    starts = ("Names: ", "Holes: ", "Requests that had ended.", "KV memory over time, ")
    assert all(label.startswith(start) for label, start in zip(labels, starts, strict=True))


def test_no_text_of_a_chart_is_cut_at_its_edge(page: Page) -> None:
    cut = page.evaluate("""() => [...document.querySelectorAll("svg.marks")].flatMap(svg => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(text => {
            const box = text.getBoundingClientRect();
            return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
        }).map(text => text.textContent);
    })""")
    assert cut == []


def test_colours_follow_the_theme_without_a_new_chart(page: Page) -> None:
    bar = page.locator(".st-key-chart-of-names .mark-rect path").first
    fill = "bar => getComputedStyle(bar).fill"
    assert bar.evaluate(fill) == "rgb(31, 71, 201)"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => getComputedStyle(document.querySelector('.stApp')).colorScheme === 'dark'")
    assert bar.evaluate(fill) == "rgb(99, 132, 250)"
