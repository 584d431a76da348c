"""What is selected is marked in every panel; the inspector tells its life, the log every event."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import painted
from tests.browser.panel_runs import Open, facts, four_samples, happened, many_requests, open_run, preempting_run
from viz.player.sentences import Sentences, sentence_text

__all__ = ["open_run"]


def test_a_click_on_a_block_marks_it_everywhere_until_escape(page: Page, open_run: Open) -> None:
    root = open_run(four_samples(), "1.5")
    grid = painted.canvas(page, "blocks")
    painted.click(page, grid, painted.boxes(grid, "b")[6])
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Block 6")
    expect(page.locator(".kv-say [data-sel=b6]")).to_have_class(re.compile("kv-selected"))
    expect(page.locator("[data-panel=timeline] [data-sel=r0]")).to_have_class(re.compile("kv-selected"))
    page.wait_for_url(re.compile("sel=b6"))
    page.mouse.move(5, 5)
    root.focus()
    page.keyboard.press("Escape")
    expect(page.locator(".kv-selected")).to_have_count(0)
    page.wait_for_url(re.compile(r"#f=1\.5$"))


def test_a_chip_of_the_sentence_selects_and_a_reload_keeps_it(page: Page, open_run: Open) -> None:
    open_run(four_samples(), "1.5")
    page.locator(".kv-say [data-sel=s1]").click()
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Sequence A2")
    page.wait_for_url(re.compile("sel=s1"))
    page.reload()
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Sequence A2")


def test_beyond_five_hues_only_the_selected_request_keeps_one(page: Page, open_run: Open) -> None:
    trace = many_requests()
    open_run(trace, "100")
    frame = trace.cut(step=100, at="scheduled")
    sequence = int((frame.tracks["sequences"]["seat"] >= 0).nonzero()[0][0])
    table = frame.table(sequence)
    grid = painted.canvas(page, "blocks")
    middle = {id: ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) for id, box in painted.boxes(grid, "b").items()}
    full = table[:-1]
    assert all(painted.is_like(pixel, painted.hue("P")) for pixel in painted.pixels(grid, [middle[id] for id in full]))
    open_run(trace, "100", sel=f"s{sequence}")
    assert all(painted.is_like(pixel, painted.hue("B")) for pixel in painted.pixels(grid, [middle[id] for id in full]))


def test_the_cell_cursor_says_what_it_stands_on(page: Page, open_run: Open) -> None:
    open_run(four_samples(), "1.5")
    painted.canvas(page, "blocks").focus()
    page.keyboard.press("Enter")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".kv-live")).to_have_text("block 6, A3 and A4, ref 2, 4 of 16 filled")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("sel=b6"))
    expect(page.locator(".kv-life .kv-current button")).to_be_focused()


def test_the_life_of_a_block_tells_past_now_and_future_and_leads_there(page: Page, open_run: Open) -> None:
    trace = four_samples()
    root = open_run(trace, "1.5", sel="b6")
    assert facts(page) == {
        "Readers": "A3, A4",
        "References": "3 → 2",
        "Written": "4 of 16 slots",
        "Holds": "prompt 97–100",
    }
    lines = page.locator(".kv-life li")
    assert [line.inner_text().split("\n") for line in lines.all()][:6] == [
        ["A1 writes it", "×1"],
        ["A2, A3, A4 read it too", "×4"],
        ["copied to 7 for A1", "×3"],
        ["copied to 8 for A2", "×2"],
        ["copied to 9 for A3", "×1"],
        ["A4 writes here, no copy", "×1"],
    ]
    assert [line.get_attribute("class") or "" for line in lines.all()][:6] == [
        "",
        "",
        "",
        "kv-current",
        "kv-future",
        "kv-future",
    ]
    lines.nth(4).locator("button").click()
    expect(root).to_have_attribute("data-event", str(happened(trace, "copied")[2]["event"]))


def test_the_life_of_a_request_goes_from_its_arrival_to_its_end(page: Page, open_run: Open) -> None:
    trace = preempting_run()
    victim = happened(trace, "preempted")[0]
    open_run(trace, "5", sel=f"r{victim['request']}")
    lines = [text.split("\n")[0] for text in page.locator(".kv-life li").all_inner_texts()]
    assert lines[:4] == ["arrives", "3 blocks", "admitted", "prefill of 40 tokens"]
    assert "preempted" in lines and "admitted again" in lines
    assert lines[-1] == "finished"


def test_the_log_holds_every_event_and_draws_only_what_is_in_sight(page: Page, open_run: Open) -> None:
    trace = many_requests()
    root = open_run(trace, "100")
    root.focus()
    page.keyboard.press("e")
    count = len(Sentences.of(trace).rows)
    expect(page.locator("[data-panel=log] .kv-heading")).to_contain_text(f"{count:,} sentences")
    lines = page.locator(".kv-log button")
    assert 3 < lines.count() < 30
    here = int(root.get_attribute("data-event") or "")
    shown = [int(line.get_attribute("data-event") or "") for line in lines.all()]
    assert shown == sorted(shown) and shown[0] <= here <= shown[-1]
    event = shown[len(shown) // 2 + 1]
    line = page.locator(f".kv-log [data-event='{event}']")
    assert line.locator("span").first.inner_text() == sentence_text(trace, event)
    line.locator("small").click()
    expect(root).to_have_attribute("data-event", str(event))
    page.keyboard.press("e")
    expect(page.locator(".kv-facts")).to_be_visible()


@pytest.mark.parametrize("place", ["3", "5", "9", "end"])
def test_no_line_of_a_life_is_cut_at_the_top_and_no_fact_at_the_end(page: Page, open_run: Open, place: str) -> None:
    trace = preempting_run()
    open_run(trace, place, sel=f"r{happened(trace, 'preempted')[0]['request']}")
    life = page.locator(".kv-life")
    top, first, rows = life.evaluate("""list => [list.scrollTop, list.firstChild.offsetHeight,
      Math.max(...[...list.querySelectorAll("span")].map(node => node.scrollWidth - node.clientWidth))]""")
    assert first == 24 and top % first == 0 and rows <= 0


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_what_a_block_holds_is_told_to_the_end(page: Page, open_run: Open, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_run(four_samples(), "30", sel="b6")
    holds = page.locator(".kv-facts dd").nth(3)
    assert holds.inner_text() == "prompt 97–100, output 1–12"
    assert holds.evaluate("node => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight + 2")
