"""Keys of the player while something of the page around it has the focus, and what is on screen for those who know no keys."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from engine.settings import Settings
from scenarios import catalogue
from tests.browser import painted
from tests.browser.panel_runs import OWNERS, Open, four_samples, open_run, small_run
from tests.browser.player_page import player_page
from viz.export import run_bytes

__all__ = ["open_run"]

ADD = """html => {
  const box = document.createElement("div");
  box.setHTMLUnsafe(html);
  document.body.prepend(box.firstChild);
  document.body.firstChild.focus();
}"""


@pytest.mark.parametrize(
    ("markup", "acts"),
    [
        ("<button>Settings</button>", True),
        ('<input role="combobox" aria-expanded="false">', True),
        ('<input role="combobox" aria-expanded="true">', False),
        ("<input>", False),
        ("<textarea></textarea>", False),
        ('<button role="tab">One</button>', False),
    ],
)
def test_arrows_step_beside_a_button_or_a_closed_list_but_never_while_somebody_types(
    page: Page, open_run: Open, markup: str, acts: bool
) -> None:
    root = open_run(four_samples(), "5")
    page.evaluate(ADD, markup)
    page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-frame", "6" if acts else "5")
    page.keyboard.press("t")
    expect(root).to_have_attribute("data-clock", "steps")


def test_the_arrows_in_the_tag_walk_through_the_changes_of_an_iteration(page: Page, open_run: Open) -> None:
    trace = four_samples()
    root = open_run(trace, "1")
    tag = page.locator(".kv-tag small")
    expect(tag).to_have_text("iteration 2 · main of 7 changes")
    event = int(root.get_attribute("data-event") or "")
    page.get_by_role("button", name="Previous change (,)").click()
    expect(root).to_have_attribute("data-event", str(event - 1))
    expect(tag).to_have_text("iteration 2 · change 7 of 7")
    page.get_by_role("button", name="Next change (.)").click()
    expect(root).to_have_attribute("data-event", str(event))


def test_the_list_of_keys_is_one_click_away_and_explains_the_signs(page: Page, open_run: Open) -> None:
    open_run(four_samples(), "1")
    page.get_by_role("button", name="? keys").click()
    window = page.get_by_role("dialog", name="Keys")
    expect(window).to_be_visible()
    expect(window.locator(".kv-legend span")).to_have_count(8)
    expect(window.get_by_text("next, previous important change")).to_be_visible()
    expect(window.get_by_text("first difference of the runs")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(window).to_be_hidden()


def test_a_pin_says_its_lecture_step_and_a_block_what_it_holds(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "pins.html"
    path.write_text(player_page([run_bytes(catalogue.load()["four-samples"], "shared", four_samples())]))
    page.goto(f"{path.as_uri()}#f=1")
    expect(page.locator('.kv[data-ready="true"]')).to_be_visible()
    pin = page.locator(".kv-marks button").first
    pin.hover()
    assert pin.evaluate("node => getComputedStyle(node, '::after').display") == "block"
    assert pin.evaluate("node => getComputedStyle(node, '::after').content.length") > 10
    grid = painted.canvas(page, "blocks")
    box, frame = painted.boxes(grid, "b")[6], grid.bounding_box()
    assert frame is not None
    page.mouse.move(frame["x"] + (box[0] + box[2]) / 2, frame["y"] + (box[1] + box[3]) / 2)
    expect(grid).to_have_attribute("title", re.compile(r"^block 6, "))


def test_the_end_is_told_in_one_right_sentence(page: Page, open_run: Open) -> None:
    says = page.locator(".kv-say p")
    open_run(small_run(Settings(num_blocks=8), ("A", 60, 8)), "end")
    expect(says).to_have_text("The request finished after 8 iterations; nobody was preempted.")
    open_run(small_run(Settings(num_blocks=8), ("A", 60, 8), ("F", 600, 60)), "end")
    expect(says).to_have_text("1 of 2 requests finished after 8 iterations; F was refused, nobody was preempted.")
    open_run(small_run(Settings(num_blocks=8), ("F", 600, 60)), "end")
    expect(says).to_have_text("F was refused: it needs 42 blocks, the limit is 8.")


def test_only_the_sequences_that_compute_are_counted(page: Page, open_run: Open) -> None:
    open_run(four_samples(), "0")
    value = page.locator("[data-metric=batch] dd div")
    expect(value).to_have_text(re.compile(r"^1\s*sequence$"))
    page.keyboard.press("ArrowRight")
    expect(value).to_have_text(re.compile(r"^4\s*sequences$"))


def test_five_requests_in_turn_wear_five_hues(page: Page, open_run: Open) -> None:
    trace = small_run(Settings(num_blocks=16, max_num_seqs=1), *((name, 20, 3) for name in OWNERS))
    open_run(trace, "end")
    lanes = painted.canvas(page, "timeline")
    for i, box in painted.boxes(lanes, "r").items():
        row = painted.pixels(lanes, [(x, (box[1] + box[3]) / 2) for x in range(int(box[0]), int(box[2]), 3)])
        worn = {name for name in OWNERS for pixel in row if painted.is_like(pixel, painted.hue(name), 3)}
        assert worn == {OWNERS[i]}


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("sel=r99", "There is no “r99” to select in this run. Nothing is selected."),
        ("sel=four", "There is no “four” to select in this run. Nothing is selected."),
        ("clock=lunar", "There is no clock “lunar”, only steps and time. Shown is the usual one."),
        ("clock=time&t=soon", "Time “soon” is not in this frame. Shown is the frame on its own."),
        ("clock=time&sel=r0", ""),
    ],
)
def test_what_a_link_names_and_is_not_there_is_told(page: Page, open_run: Open, link: str, sentence: str) -> None:
    open_run(four_samples(), f"1&{link}")
    notice = page.locator(".kv-say.kv-notice p")
    if sentence:
        expect(notice).to_have_text(sentence)
    else:
        expect(notice).to_have_count(0)


def test_a_mark_under_which_other_kinds_lie_says_how_many(page: Page, open_run: Open) -> None:
    """One place: at the first step A is admitted; at every later one somebody ends and the next one begins."""
    trace = small_run(Settings(num_blocks=8, max_num_seqs=1), ("A", 6, 4), ("B", 6, 4))
    open_run(trace, "0")
    line = page.locator(".kv-line")
    box = line.bounding_box()
    assert box is not None
    titles = set()
    for x in range(0, int(box["width"]), 3):
        page.mouse.move(box["x"] + x, box["y"] + 8)
        titles.add(line.get_attribute("title"))
    assert "admission, iteration 5 · request finished, iteration 5" in titles, titles
