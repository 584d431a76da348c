"""What the queue says of the one who waits is true at the moment on the screen."""

from playwright.sync_api import Page

from engine.loop import simulate
from engine.settings import Settings
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.request_fields import read_requests
from scenarios.run import run
from tests.browser.panel_runs import Open, happened, open_run, small_run

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


def test_who_lost_its_memory_computes_all_that_is_known_of_it(page: Page, open_run: Open) -> None:
    """B has a prompt of 6 and two samples, of which 3 tokens each are known when it is preempted: 6 + 3 + 3."""
    rows = [
        {"id": "A", "prompt": {"len": 7}, "output_len": 12},
        {"id": "B", "prompt": {"len": 6}, "output_len": 9, "n": 2},
    ]
    trace = simulate(Settings(num_blocks=7, block_size=4), ListWorkload(read_requests(rows)), "small")
    step = trace.step_of(happened(trace, "preempted")[0]["event"])
    open_run(trace, str(step))
    assert page.locator('[data-panel="queue"] li span').all_inner_texts() == ["12 tokens to compute"]


def test_a_batch_that_waited_to_be_full_is_told_where_nobody_waits_any_more(page: Page, open_run: Open) -> None:
    """R1 and R2 are there at 0 and R3 at 10 ms, when the batch of three begins; one alone at 0 has not waited."""
    message = page.locator('[data-panel="queue"] .kv-message')
    open_run(run(catalogue.load()["step-by-step"], "static"), "0")
    assert message.inner_text() == "Nobody waits any more; the longest wait was 10 ms."
    open_run(small_run(Settings(num_blocks=8), ("A", 6, 3)), "0")
    assert message.inner_text() == "Nobody waits."
