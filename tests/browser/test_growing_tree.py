"""The radix tree of a run that still goes on: it takes the room that is there, and no box or line of text is cut."""

import pytest
from playwright.sync_api import Browser, expect

from engine.settings import Settings
from tests.browser import drawn_text, painted
from tests.browser.word_runs import QUESTIONS, TEACHER, show, word_run

TREE = Settings(
    kv_manager="radix",
    policy="chunked",
    block_size=1,
    num_blocks=160,
    max_num_batched_tokens=64,
    max_num_seqs=8,
)
MORE = (*QUESTIONS, *(f"{TEACHER} who is {name}?" for name in ("Ada", "Alan", "Grace", "Edsger", "Barbara")))
HEIGHTS = """canvas => {
  const seen = {};
  for (let y = -20; y < canvas.offsetHeight + 20; y++) for (let x = 0; x < canvas.offsetWidth; x += 8) {
    const target = canvas.pick(x, y);
    if (target?.kind === "n") (seen[target.id] ??= new Set()).add(y);
  }
  const edge = parseFloat(canvas.style.top), height = canvas.parentNode.clientHeight;
  return Object.values(seen).map(rows => [Math.min(...rows) + edge, height - Math.max(...rows) - edge]);
}"""
"""For each box in sight: how far it lies below the upper edge of the panel and above the lower one."""


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize("num_requests", [3, 8])
def test_no_box_of_a_growing_tree_is_cut(browser: Browser, size: tuple[int, int], num_requests: int) -> None:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    show(page, word_run(TREE, MORE[:num_requests], num_steps=6, ends=False)[0])
    found = painted.canvas(page, "tree").evaluate(HEIGHTS)
    page.close()
    assert len(found) >= 4
    assert all(above >= 0 and below >= 0 for above, below in found), found


def test_the_boxes_of_a_growing_tree_take_the_width(browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    drawn_text.record(context)
    page = context.new_page()
    show(page, word_run(TREE, num_steps=2, ends=False)[0])
    boxes = painted.boxes(painted.canvas(page, "tree"), "n")
    texts = painted.canvas(page, "tree").evaluate("canvas => canvas.drawnTexts.map(({text}) => text)")
    context.close()
    assert min(box[2] - box[0] for box in boxes.values()) > 250
    assert {"why is the sky blue? ‹AI›", "what is", "rain? ‹AI›", "ice? ‹AI›"} <= set(texts)


def test_a_row_of_the_details_keeps_its_text(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    show(page, word_run(TREE, ends=False)[0])
    long = page.locator(".kv-facts .kv-long")
    expect(long).to_be_visible()
    row, text = (node.bounding_box() for node in (long.locator(".."), long))
    page.close()
    assert row is not None and text is not None
    assert text["y"] >= row["y"] - 1 and text["y"] + text["height"] <= row["y"] + row["height"] + 1
