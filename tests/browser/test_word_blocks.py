"""The words of a real model in its blocks: one content for each block, yellow where it is written, room for rings and arrows."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import drawn_text, painted
from tests.browser.word_runs import QUESTIONS, SMALL, show, word_run

SAMPLES = {"prompts": QUESTIONS[1:2], "num_samples": 4}
"""Four samples of 22 tokens: two blocks are shared, the third one is copied three times."""
ON_NOW = "#14181f"


def words_by_row(page: Page) -> dict[str, dict[str, str]]:
    """Row -> block -> its words, as the picture says them."""
    label = page.locator("[data-panel=words] canvas").get_attribute("aria-label") or ""
    rows = dict(row.split(": ", 1) for row in re.split(r"; (?=\w+: \d)", label))
    return {
        name: {block.strip().partition(" ")[0]: block.strip().partition(" ")[2] for block in text.split(" | ")}
        for name, text in rows.items()
    }


def drawn(page: Page, panel: str = "words") -> list[dict]:
    return page.locator(f"[data-panel={panel}] canvas").first.evaluate("canvas => canvas.drawnTexts")


@pytest.mark.parametrize("place", ["0.4", "0.5", "0.6", "0", "4"])
def test_a_block_has_one_content_whoever_reads_it(page: Page, place: str) -> None:
    show(page, word_run(SMALL.with_(num_blocks=11))[0], place)
    found: dict[str, set[str]] = {}
    for row in words_by_row(page).values():
        for block, words in row.items():
            found.setdefault(block, set()).add(words)
    assert all(len(contents) == 1 for contents in found.values()), found
    assert ("‹user›" in "".join(found["0"])) == (place != "0.4"), "the second request finds it as one that is full"


@pytest.mark.parametrize(("place", "rows"), [("0.6", 0), ("0", 1), ("4", 0)])
def test_words_are_yellow_only_in_the_row_that_writes_them(page: Page, place: str, rows: int) -> None:
    page.emulate_media(color_scheme="dark")
    drawn_text.record(page.context)
    page.goto("about:blank")
    show(page, word_run(SMALL.with_(num_blocks=11))[0], place)
    assert [each["fill"] for each in drawn(page) if each["text"] == "‹user›"].count(ON_NOW) == rows


def test_words_that_are_shared_or_copied_are_not_yellow(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    drawn_text.record(page.context)
    page.goto("about:blank")
    show(page, word_run(SMALL.with_(num_blocks=10), **SAMPLES)[0], "1")
    yellow = [each["text"].strip() for each in drawn(page) if each["fill"] == ON_NOW]
    assert yellow == ["It"] * 4


LOWEST = """canvas => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let last = data.length - 1;
  while (last > 0 && !data[last]) last -= 4;
  return Math.floor(last / 4 / canvas.width) / canvas.height;
}"""
"""Where the lowest pixel lies that is painted, as a share of the height."""


@pytest.mark.parametrize("num_blocks", [9, 10, 11])
@pytest.mark.parametrize("more", [{}, SAMPLES], ids=["ring", "arrow"])
def test_rings_and_arrows_below_a_single_row_are_whole_and_above_the_legend(
    page: Page, num_blocks: int, more: dict
) -> None:
    show(page, word_run(SMALL.with_(num_blocks=num_blocks), **more)[0], "1" if more else "0")
    grid = painted.canvas(page, "blocks")
    box = grid.bounding_box()
    assert box is not None
    lowest = box["height"] * grid.evaluate(LOWEST)
    labels = [(span.bounding_box() or {})["y"] for span in page.locator("[data-panel=blocks] .kv-legend span").all()]
    assert box["y"] + lowest < min(labels)
    assert lowest < box["height"] - 2
    # blocks, ring, and below it the line of the arrow with what is copied
    squares = painted.boxes(grid, "b")[0]
    assert not more or lowest > squares[3] - 10


def test_a_subtitle_is_never_cut(page: Page) -> None:
    show(page, word_run(SMALL.with_(num_blocks=10), **SAMPLES)[0], "1")
    expect(page.locator(".kv-title p")).to_contain_text("10 blocks of 8 · 1 request")
    assert page.locator(".kv-title p").evaluate(
        "node => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight + 1"
    )


def test_e_and_enter_lead_to_the_details(page: Page) -> None:
    details = page.locator("[data-panel=inspector]")
    for key in ("e", "Enter"):
        show(page, word_run()[0], "4")
        expect(details).to_have_count(0)
        page.locator(".kv").focus()
        page.keyboard.press(key)
        expect(details).to_be_visible()
    assert page.evaluate("document.activeElement.closest('.kv-life') !== null")


def test_a_lecture_shows_every_block_of_every_request(browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    drawn_text.record(context)
    page = context.new_page()
    show(page, word_run(SMALL.with_(num_blocks=11), num_steps=5, ends=False)[0])
    page.locator(".kv").focus()
    page.keyboard.press("l")
    expect(page.locator(".kv-lecture")).to_be_visible()
    page.wait_for_timeout(100)
    assert sorted(painted.boxes(painted.canvas(page, "words"), "b")) == list(range(8))
    assert [each["text"] for each in drawn(page) if re.match(r"\+\d|and \d", each["text"])] == []
    context.close()
