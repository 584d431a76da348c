"""The counts in the cells of the timeline are those of the run, whether a token is sampled in a step or only stored."""

import pytest
from playwright.sync_api import Page

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.run import run
from tests.browser.drawn_text import record
from tests.browser.panel_runs import Open, open_run, small_run

__all__ = ["open_run"]


@pytest.mark.parametrize(
    ("trace", "counts"),
    [
        (run(catalogue.load()["alan-turing"]), ["1/3", "2/3", "3/3"]),
        (small_run(Settings(num_blocks=8), ("A", 6, 3)), ["2/3", "3/3"]),
    ],
    ids=["stored by operations", "sampled by a model"],
)
def test_a_cell_counts_the_tokens_of_the_output(page: Page, open_run: Open, trace: Trace, counts: list[str]) -> None:
    record(page.context)
    open_run(trace, "end")
    drawn = page.evaluate(
        """() => [...document.querySelectorAll("canvas")].flatMap(canvas => canvas.drawnTexts ?? []).map(({text}) => text)"""
    )
    assert [text for text in drawn if "/" in text] == counts


def test_a_prefill_counts_only_what_it_computes(page: Page, open_run: Open) -> None:
    """Of 24 tokens the second request finds two blocks of 8 in the cache."""
    settings = Settings(block_size=8, num_blocks=20, prefix_caching=True)
    prompts = (("A", range(24)), ("B", [*range(16), *range(30, 38)]))
    requests = [
        Request(name, i, Prompt.of_ids(list(ids)), SamplingParams(max_tokens=3))
        for i, (name, ids) in enumerate(prompts)
    ]
    record(page.context)
    open_run(simulate(settings, ListWorkload(requests), "found"), "end")
    drawn = page.locator("[data-panel=timeline] canvas.kv-canvas").evaluate(
        "canvas => canvas.drawnTexts.map(({text}) => text)"
    )
    counts = [drawn[i + 1] for i, text in enumerate(drawn) if text == "P"]
    assert counts == ["24", "8"]
