"""What the queue says of the one who waits is true at the moment on the screen."""

from playwright.sync_api import Page

from engine.settings import Settings
from scenarios import catalogue
from scenarios.run import run
from tests.browser.panel_runs import Open, open_run, small_run

__all__ = ["open_run"]


def _rows(page: Page) -> dict[str, str]:
    rows = page.locator('[data-panel="queue"] li').all()
    return {row.locator("b").inner_text(): row.locator("em").inner_text() for row in rows}


def test_a_request_that_needs_one_piece_is_told_of_the_largest_hole(page: Page, open_run: Open) -> None:
    open_run(run(catalogue.load()["three-wastes"], "oracle"), "6")
    assert _rows(page) == {"D": "needs 11 slots, largest hole 10"}


def test_what_was_said_of_the_head_is_not_repeated_when_another_is_before_it(page: Page, open_run: Open) -> None:
    trace = small_run(Settings(num_blocks=9, block_size=4), *((name, 8, 12) for name in "ABCDE"))
    stale = 0
    for step in range(trace.num_steps):
        open_run(trace, str(step))
        frame = trace.cut(step=step, at="scheduled")
        free = int((frame.tracks["blocks"]["state"] == 0).sum())
        head, *others = _rows(page).items() or [("", "")]
        for _, text in others:
            assert text == f"is behind {head[0]}" or text.startswith(("would fit", "made room", "needed a block"))
            stale += 1
        if head[1].startswith("needs"):
            assert head[1].endswith(f", found {free} free")
    assert stale
