"""Blocks that nobody reads and whose content is still known are free: in the numbers, in the legend, in a comparison."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.player_page import player_page
from tests.browser.word_runs import SMALL, show, word_run
from viz.player.wire import in_comparison


def metric(page: Page, name: str) -> str:
    return page.locator(f"[data-metric={name}] dd").inner_text().replace("\n", " ")


def test_in_use_is_what_somebody_reads(page: Page) -> None:
    blob, trace = word_run()
    assert trace.cut(event=trace.num_events).tracks["blocks"]["state"].tolist().count(2) == 8
    show(page, blob, "end")
    assert metric(page, "blocks") == "0 of 9, 8 kept"
    expect(page.locator("[data-metric=blocks]")).to_have_attribute(
        "title", "8 blocks kept: free, and the content is still known"
    )
    expect(page.locator("[data-panel=blocks] canvas").first).to_have_attribute(
        "aria-label", "9 KV blocks: 0 in use, 0 of them shared, 9 free"
    )


def test_the_number_is_that_of_the_engine_at_every_iteration(page: Page) -> None:
    blob, trace = word_run()
    player = show(page, blob, "0")
    for step, count in enumerate(trace.steps["num_used"].tolist()):
        expect(player).to_have_attribute("data-step", str(step))
        assert metric(page, "blocks").split()[0] == str(count)
        page.keyboard.press("ArrowRight")


def test_the_legend_names_what_is_kept_where_something_is(page: Page) -> None:
    legend = page.locator("[data-panel=blocks] .kv-legend span")
    show(page, word_run()[0], "end")
    expect(legend).to_have_text(["full", "being written", "shared", "kept", "free", "changed now"])
    show(page, word_run(SMALL.with_(prefix_caching=False, num_blocks=20))[0], "end")
    expect(legend).to_have_text(["full", "being written", "shared", "free", "changed now"])


def test_a_comparison_takes_only_what_is_read_for_taken(page: Page, tmp_path: Path) -> None:
    none = {"steps": None, "time": None}
    panes = [
        in_comparison(word_run(SMALL.with_(num_blocks=n))[0], run_name=str(n), clock="steps", difference=none)
        for n in (9, 11)
    ]
    path = tmp_path / "two.html"
    path.write_text(player_page(panes))
    page.goto(f"{path.as_uri()}#f=end")
    expect(page.locator(".kv-numbers").first).to_contain_text("Tokens of memory taken0 of 0 %")


def test_nobody_computes_at_the_end_of_a_run_that_may_go_on(page: Page) -> None:
    show(page, word_run(num_steps=4, ends=False)[0])
    assert metric(page, "batch") == "3 sequences"
    show(page, word_run(ends=False)[0])
    assert metric(page, "batch") == "0 sequences"
