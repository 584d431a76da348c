"""What stands where when runs are compared, and in a lecture: panes side by side, four numbers, large type, all keys listed."""

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scenarios import catalogue
from scenarios.run import run
from tests.browser.compared_runs import BATCHES, comparison, places, show, time_of
from viz.player.vocabulary import VOCABULARY
from viz.player.wire import wire


def test_the_four_numbers_are_those_of_the_mock_up(page: Page, tmp_path: Path) -> None:
    _, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, "f=2&t=0.06")
    numbers = [pane.locator(".kv-numbers dd").all_inner_texts() for pane in player.locator(".kv-pane").all()]
    assert numbers == [["6", "1", "R4", "156 ms"], ["8", "1", "nobody", "91 ms"]]
    expect(player.locator(".kv-say")).to_contain_text(
        "In static, R4 waits for the end of the batch; continuous let it in"
    )


@pytest.mark.parametrize(
    ("name", "names", "told"),
    [
        # the runs differ in static_start too, which says nothing of continuous batching
        (
            "step-by-step",
            BATCHES,
            "static against continuous, on the same 5 requests · what differs: static batching against continuous batching",
        ),
        (
            "four-samples",
            ("shared", "shared"),
            "shared against shared, on the same 1 request · the same settings",
        ),
    ],
)
def test_the_line_under_the_title_says_what_is_compared(
    page: Page, tmp_path: Path, name: str, names: tuple[str, ...], told: str
) -> None:
    player = show(page, tmp_path, comparison(name, names)[1])
    expect(player.locator(".kv-title p")).to_have_text(told)


def test_three_runs_on_paged_and_contiguous_memory_stand_side_by_side(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("last-block", ("paged", "max", "pow2"))
    player = show(page, tmp_path, blobs)
    page.keyboard.press("d")
    time = time_of(player)
    assert places(player)[1] == [trace.cut(time=time).crc() for trace in traces]
    expect(player.locator('.kv-memories [data-panel="blocks"]')).to_have_count(1)
    expect(player.locator('.kv-memories [data-panel="strips"]')).to_have_count(2)
    boxes = [box for panel in player.locator(".kv-memories .kv-panel").all() if (box := panel.bounding_box())]
    assert len({box["y"] for box in boxes}) == 1
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
    player.get_by_role("button", name="memory").click()
    expect(player.locator(".kv-memories")).to_be_hidden()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize(
    ("name", "names"), [("step-by-step", BATCHES), ("last-block", ("paged", "max", "pow2"))], ids=["two", "three"]
)
def test_nothing_overlaps_and_nothing_leaves_the_window(
    page: Page, tmp_path: Path, size: tuple[int, int], name: str, names: tuple[str, ...]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    player = show(page, tmp_path, comparison(name, names)[1], "f=2")
    wanted = (
        ".kv-title, .kv-switches, .kv-say, .kv-memories, .kv-pane-name, .kv-numbers dl div, .kv-flag, .kv-transport"
    )
    boxes = player.evaluate(
        """(root, wanted) => [...root.querySelectorAll(wanted)].filter(node => node.checkVisibility())
            .map(node => [node.className || node.textContent, node.getBoundingClientRect().toJSON()])""",
        wanted,
    )
    assert len(boxes) > 8
    for i, (one, a) in enumerate(boxes):
        assert a["left"] >= 0 and a["right"] <= size[0] + 0.5 and a["bottom"] <= size[1], one
        for other, b in boxes[i + 1 :]:
            apart = a["right"] <= b["left"] + 1 or b["right"] <= a["left"] + 1
            assert apart or a["bottom"] <= b["top"] + 1 or b["bottom"] <= a["top"] + 1, (one, other)


def test_lecture_mode_has_large_type_and_drops_what_a_hall_cannot_read(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    trace = run(catalogue.load()["four-samples"])
    player = show(page, tmp_path, [wire(trace, title="Four samples")], "f=2")
    page.keyboard.press("l")
    assert "kv-lecture" in (player.get_attribute("class") or "")
    for panel in ("queue", "inspector"):
        expect(player.locator(f'[data-panel="{panel}"]')).to_be_hidden()
    expect(player.locator('[data-panel="blocks"] .kv-heading span').first).to_be_hidden()
    for part, least in ((".kv-say p", 39), (".kv-title h1", 40), (".kv-metrics dd b", 80), (".kv-heading b", 30)):
        size = player.locator(part).first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
        assert size >= least, part
    page.keyboard.press("l")
    expect(player.locator('[data-panel="inspector"]')).to_be_visible()


def test_the_list_of_keys_names_every_key(page: Page, tmp_path: Path) -> None:
    player = show(page, tmp_path, comparison("step-by-step", BATCHES)[1])
    page.keyboard.press("?")
    listed = set(" ".join(player.locator(".kv-help dt").all_inner_texts()).split())
    known = VOCABULARY["keys"]
    assert len(known) > 20
    names = {"ArrowRight": "→", "ArrowLeft": "←", "Escape": "Esc", " ": "Space"}
    assert {names.get(key, key) for key in known} - listed == set()
