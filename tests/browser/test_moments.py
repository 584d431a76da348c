"""What is told of a moment is true at that moment: the counter of the changes, the counts, the reasons, the marks on the line."""

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from engine.loop import simulate
from engine.settings import Settings
from engine.trace.chunk import Word
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.request_fields import read_requests
from scenarios.run import run
from tests.browser import painted
from tests.browser.compared_runs import comparison, show
from tests.browser.drawn_text import ON_PAGE, record
from tests.browser.page_time import pass_time
from tests.browser.panel_runs import Open, facts, four_samples, open_run, small_run
from tests.browser.player_page import player_page
from viz.export import run_bytes
from viz.player.wire import wire

__all__ = ["open_run"]

GO = """async ways => {
  for (const way of ways) await new Promise(done => {
    addEventListener("popstate", done, {once: true});
    history.go(way);
  });
}"""
"""Goes through the history, each time as soon as the last step was made."""


MARKS = """(() => {
  const {prototype} = CanvasRenderingContext2D;
  const {roundRect, fill} = prototype;
  let box;
  window.marks = [];
  prototype.roundRect = function (x, y, width, ...more) {
    box = [x, x + width];
    roundRect.call(this, x, y, width, ...more);
  };
  prototype.fill = function (...shape) {
    if (this.canvas.closest("[data-panel=words]")) window.marks.push([this.fillStyle, ...box]);
    fill.call(this, ...shape);
  };
})()"""
"""`marks`: colour, left and right edge of every box that is filled in the words panel."""


def _continuous() -> Trace:
    """Five requests in three places. In step 4 R5 waits for one; at its end R1, R3 and R4 finish, events 4 to 6 of it."""
    return run(catalogue.load()["step-by-step"], "continuous")


def _tree(page: Page, folder: Path, place: str) -> None:
    scenario = catalogue.load()["two-chats-two-shots"]
    path = folder / "tree.html"
    path.write_text(player_page([run_bytes(scenario, "radix", run(scenario))]))
    page.goto(f"{path.as_uri()}#f={place}")
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible()


def test_the_changes_between_two_iterations_are_counted_down_one_by_one(page: Page, open_run: Open) -> None:
    """Since iteration 2: R2 is finished after it; in iteration 3 R4 arrives, R3 gets a block, R4 is admitted."""
    root = open_run(_continuous(), "2")
    tag = page.locator(".kv-tag small")
    expect(tag).to_have_text("iteration 3 · main of 4 changes")
    expect(page.locator(".kv-say p")).to_contain_text("R4 is admitted")
    for text in ("iteration 3 · change 4 of 4", "iteration 3 · change 3 of 4", "iteration 3 · change 2 of 4"):
        page.keyboard.press(",")
        expect(tag).to_have_text(text)
    page.keyboard.press(",")
    expect(tag).to_have_text("after iteration 2 · change 1 of 4")
    expect(page.locator(".kv-say p")).to_contain_text("R2 is finished")
    root.focus()
    page.keyboard.press("ArrowRight")
    expect(tag).to_have_text("iteration 3 · main of 4 changes")
    page.keyboard.press(".")
    expect(tag).to_have_text("iteration 4")


def test_the_gap_between_two_steps_is_told_alike_once_its_address_is_opened(page: Page, open_run: Open) -> None:
    """A is done after iteration 2, B comes at 1 s: before iteration 3 lies a gap, and its event is the third of iteration 2."""
    rows = [{"id": name, "arrival_s": at, "prompt": {"len": 6}, "output_len": 2} for name, at in (("A", 0), ("B", 1))]
    trace = simulate(Settings(num_blocks=8), ListWorkload(read_requests(rows)), "gap")
    root, tag = open_run(trace, "2&clock=time"), page.locator(".kv-tag small")
    page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-frame", "1.3")
    expect(tag).to_have_text("after iteration 2")
    pass_time(page, 400)
    page.reload()
    expect(root).to_have_attribute("data-frame", "1.3")
    expect(tag).to_have_text("after iteration 2")
    # the event itself has the same picture and is counted
    open_run(trace, "1.3&clock=time")
    expect(tag).to_have_text("after iteration 2 · change 1 of 3")


@pytest.mark.parametrize(("place", "count"), [("4", 3), ("4.3", 3), ("4.4", 2), ("4.6", 0), ("1.1", 2)])
def test_who_has_ended_or_is_not_let_in_yet_is_not_computing(
    page: Page, open_run: Open, place: str, count: int
) -> None:
    open_run(_continuous(), place)
    expect(page.locator("[data-metric=batch] dd b")).to_have_text(str(count))


def test_a_reason_of_before_says_when_it_held(page: Page, open_run: Open) -> None:
    row = page.locator('[data-panel="queue"] li em')
    open_run(_continuous(), "4", sel="r4")
    expect(row).to_have_text("needs 1 seat, found 0 free")
    assert facts(page)["Because"] == "needs 1 seat, found 0 free"
    open_run(_continuous(), "4.4", sel="r4")
    expect(row).to_have_text("needs 1 seat, found 0 free (it. 5)")
    assert facts(page)["Because"] == "needs 1 seat, found 0 free (it. 5)"


def test_a_mark_with_two_kinds_shows_both_and_the_knob_names_them(page: Page, open_run: Open) -> None:
    """One place: in iteration 5 A has ended and B is admitted; only A is admitted in iteration 1."""
    open_run(small_run(Settings(num_blocks=8, max_num_seqs=1), ("A", 6, 4), ("B", 6, 4)), "4")
    knob = page.locator(".kv-line input")
    text = knob.get_attribute("aria-valuetext") or ""
    assert text.startswith("Iteration 5 of 8") and text.endswith(
        "admission, iteration 5 · request finished, iteration 5"
    )
    rail = page.locator(".kv-line .kv-above")
    room = rail.evaluate("canvas => canvas.offsetWidth")

    def is_inked(step: int, y: float) -> bool:
        pixel = painted.pixels(rail, [(10 + step / 8 * (room - 20), y)])[0]
        return painted.is_like(pixel, painted.named("ink"), 40)

    assert is_inked(0, 15) and not is_inked(0, 5.6)
    assert is_inked(4, 15) and is_inked(4, 5.6)
    box = page.locator(".kv-line").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10 + 4 / 8 * (box["width"] - 20), box["y"] + box["height"] / 2 + 1)
    expect(page.locator(".kv-line")).to_have_attribute(
        "title", "admission, iteration 5 · request finished, iteration 5"
    )


def test_no_place_has_idled_before_anything_was_run(page: Page, tmp_path: Path) -> None:
    """Two of three places work in the first step, which ends at 18 ms; then the third one has idled once."""
    _, blobs = comparison("step-by-step", ("static", "continuous"))
    show(page, tmp_path, blobs, "f=start&clock=time")
    idle = page.locator(".kv-pane .kv-numbers div", has_text="Idle places so far").locator("dd")
    expect(idle.nth(1)).to_have_text("0")
    show(page, tmp_path, blobs, "f=1&clock=steps&lead=2")
    expect(idle.nth(1)).to_have_text("1")


def test_the_keys_of_several_runs_are_listed_where_there_are_several(page: Page, tmp_path: Path) -> None:
    _, blobs = comparison("step-by-step", ("static", "continuous"))
    show(page, tmp_path, blobs, "f=0")
    page.get_by_role("button", name="? keys").click()
    expect(page.get_by_text("first difference of the runs")).to_be_visible()


def test_one_token_is_no_range(page: Page, open_run: Open) -> None:
    open_run(four_samples(), "1", sel="b7")
    assert facts(page)["Holds"] == "prompt 97–100, output 1"


def test_a_name_that_is_cut_keeps_its_number(page: Page, tmp_path: Path) -> None:
    record(page.context)
    _tree(page, tmp_path, "13")
    drawn = {text["text"] for text in painted.canvas(page, "blocks").evaluate(ON_PAGE)}
    assert any(text.startswith("few") and text.endswith("… 2") for text in drawn), drawn
    assert not any(text.startswith("few") and text.endswith("…") for text in drawn)


def test_the_marks_of_narrow_pieces_of_text_do_not_cover_each_other(page: Page, open_run: Open) -> None:
    page.add_init_script(MARKS)
    trace = small_run(Settings(num_blocks=8), ("A", 6, 2))
    trace.words = [Word(0, i, text) for i, text in enumerate(("<", "|", ">", "\n", "?", " is"))]
    open_run(trace)
    now = "#{:02x}{:02x}{:02x}".format(*painted.named("now"))
    marks = [edges for colour, *edges in page.evaluate("marks") if colour == now][:6]
    assert len(marks) == 6
    for (_, right), (left, _) in pairwise(marks):
        assert left >= right - 0.01


def test_the_terms_of_the_tree_are_in_words(page: Page, tmp_path: Path) -> None:
    _tree(page, tmp_path, "13")
    expect(page.locator("[data-panel=next] .kv-heading")).to_contain_text("used longest ago (lru)")
    expect(page.locator("[data-panel=next] li").first).to_have_attribute(
        "title", "“a small fast”: 3 tokens, locked by 0 running requests, last used at logical time 13"
    )
    said = facts(page)
    assert (said["Locked by"], said["Last used"]) == ("0 requests", "logical time 14")
    life = page.locator(".kv-life")
    assert life.evaluate("list => list.clientHeight") >= 3 * 24


def test_the_ring_of_now_leaves_the_p_of_the_next_column_free(page: Page, open_run: Open) -> None:
    """R3 and R4 begin in columns 2 and 3, R5 in column 6: its P stands beside the ring of column 5."""
    record(page.context)
    open_run(_continuous(), "4")
    lanes = painted.canvas(page, "timeline")
    signs = [text for text in lanes.evaluate(ON_PAGE) if text["text"] == "P"]
    last, frame = max(signs, key=lambda text: text["left"]), lanes.bounding_box()
    assert frame is not None
    y = (last["top"] + last["bottom"]) / 2 - frame["y"]
    left = last["left"] - frame["x"]
    pixels = painted.pixels(lanes, [(left - x, y) for x in (1, 2, 3)])
    assert not any(painted.is_like(pixel, painted.named(name), 40) for pixel in pixels for name in ("now", "nowEdge"))


def test_the_way_back_ends_at_the_moment_of_its_address(page: Page) -> None:
    """Two addresses of one page; what was about to be written to the one that was left is written to neither."""
    html = player_page([wire(four_samples(), title="A run")])
    page.route("http://127.0.0.1:9/**", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto("http://127.0.0.1:9/#f=7")
    root = page.locator('.kv[data-ready="true"][data-hash]')
    expect(root).to_have_attribute("data-frame", "7")
    page.evaluate("history.pushState(null, '', '#f=20')")
    page.evaluate(GO, [-1])
    expect(root).to_have_attribute("data-frame", "7")
    page.evaluate(GO, [1, -1, 1, -1, 1])
    expect(root).to_have_attribute("data-frame", "20")
    root.focus()
    page.keyboard.press("ArrowRight")
    page.evaluate(GO, [-1])
    expect(root).to_have_attribute("data-frame", "7")
    pass_time(page, 400)
    assert page.url.endswith("#f=7")
    page.evaluate(GO, [1])
    expect(root).to_have_attribute("data-frame", "20")
