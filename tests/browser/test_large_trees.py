"""Trees of a thousand and ten thousand nodes in the player, and one that is still arriving."""

import json
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from engine.trace.trace import Trace
from tests.browser import painted
from tests.browser.panel_runs import Open, open_run
from tests.browser.radix_runs import TREE, alive, many_prefixes, middle
from tests.browser.test_arriving_runs import harness, parts_of
from viz.player.wire import wire


def test_a_thousand_nodes_are_bars_that_fold_and_open(page: Page, open_run: Open) -> None:
    trace = many_prefixes(1200, 40_000)
    place = str(trace.num_steps - 1)
    root = open_run(trace, place)
    tree = page.locator(TREE)
    expect(tree).to_have_attribute("data-mode", "bars")
    expect(tree).to_have_attribute("data-nodes", str(len(alive(trace, place))))
    before = set(painted.boxes(tree, "n"))
    assert 3 < len(before) < 100
    folded, box = -1, (0.0, 0.0, 0.0, 0.0)
    for _ in range(40):
        boxes = painted.boxes(tree, "n")
        whole = [
            int(n) for n in (tree.get_attribute("data-folds") or "").split() if boxes[int(n)][3] - boxes[int(n)][1] > 19
        ]
        if whole:
            folded, box = whole[0], boxes[whole[0]]
            break
        tree.hover()
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(60)
    assert folded > 0, "no folded node is in sight"
    frame = tree.bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + box[2] - 30, frame["y"] + middle(box)[1])
    expect(page.locator("[data-panel=tree] .kv-heading")).to_contain_text("Esc shows all")
    assert folded in painted.boxes(tree, "n")
    root.focus()
    page.keyboard.press("Escape")
    expect(page.locator("[data-panel=tree] .kv-heading")).not_to_contain_text("Esc shows all")


__all__ = ["open_run"]


@pytest.mark.slow
def test_ten_thousand_nodes_step_forward_and_back(page: Page, open_run: Open) -> None:
    trace = many_prefixes(9000, 40_000)
    last = trace.num_steps - 1
    root = open_run(trace, str(last - 30))
    tree = page.locator(TREE)
    for step in range(last - 29, last + 1):
        page.keyboard.press("ArrowRight")
        expect(root).to_have_attribute("data-frame", str(step))
    page.wait_for_timeout(100)
    assert len(alive(trace, str(last))) > 10_000
    expect(tree).to_have_attribute("data-nodes", str(len(alive(trace, str(last)))))
    assert 0 < len(painted.boxes(tree, "n")) < 100
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-frame", str(last - 30))
    page.wait_for_timeout(100)
    expect(tree).to_have_attribute("data-nodes", str(len(alive(trace, str(last - 30)))))


def test_while_a_run_arrives_rows_are_only_added(page: Page) -> None:
    trace = many_prefixes(40, 400)
    cuts = list(range(4, trace.num_events, 9))

    class Cut(Trace):
        def even_cuts(self, rows_per_chunk: int = 400_000) -> list[int]:
            return cuts

    parts = parts_of(wire(Cut.of(trace.header, trace.chunks()), title="cut"))
    page.set_content(harness())
    page.wait_for_function("() => window.play")
    rows: list[dict[str, float]] = []
    for part in parts[:-1]:
        found = page.evaluate("bytes => rowsOf(bytes)", list(part))
        rows.append(json.loads(found))
    assert len(rows[-1]) > 30
    for before, after in pairwise(rows):
        assert {node: after[node] for node in before} == before
    final = json.loads(page.evaluate("bytes => rowsOf(bytes)", list(parts[-1])))
    assert final.keys() == rows[-1].keys() and final != rows[-1]
