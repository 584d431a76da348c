"""The browser part: what a lecturer waits for, measured in Chromium on runs of the engine, beside a plain Streamlit rerun.

A step lasts from the key to the task after the animation frame in which the last panel was drawn; all panels are drawn.
The rerun draws only the block grid of the same frame. Aims are those of a quiet machine with two cores.
"""

import gzip
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.bench import memory, opening, stepping
from tests.bench.figures import Row, kb
from tests.bench.player_bench import Bench, Plan
from tests.bench.player_runs import LARGE, Made, make, make_panes, make_tree
from tests.bench.served import served
from tests.browser.chromium import FLAGS, find
from viz.player.script import javascript, stylesheet

APP = Path(__file__).with_name("player_app.py")
OFFLINE_AIMS = {"S": 60_000, "L": 2_000_000}


def report(plan: Plan | None = None) -> Iterator[str]:
    """Lines of the table, each as soon as it is measured."""
    plan = plan or Plan()
    path = find()
    if path is None:
        yield "The browser part is left out: no Chromium was found; `make chromium` says what to install."
        return
    yield f"the player in Chromium, 1280x720, {os.cpu_count()} processors, {_load()} at the start; median / p95"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        made = [make(folder, size) for size in plan.sizes]
        make_panes(folder, plan.panes)
        tree = make_tree(folder, plan.num_prefixes)
        yield from map(str, _sizes(made))
        with served(APP, name) as server:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
            bench = Bench(browser, server, folder, plan)
            for row in _rows(bench, tree):
                yield str(row)
            browser.close()
    yield f"{_load()} at the end"


def _load() -> str:
    return f"load average {', '.join(f'{value:.1f}' for value in os.getloadavg())}"


def _rows(bench: Bench, tree: tuple[int, int]) -> Iterator[Row]:
    for size in bench.plan.sizes:
        yield from opening.unpacking(bench, size)
    yield from opening.opening(bench)
    for size in bench.plan.sizes:
        yield from stepping.moving(bench, size)
    yield from stepping.throttled(bench)
    yield from stepping.in_lock_step(bench)
    yield from stepping.in_a_tree(bench, *tree)
    for size in bench.plan.sizes:
        yield from opening.offline(bench, size)
    yield from memory.viewers(bench)
    yield from memory.memory(bench)
    yield Row("errors of scripts", "; ".join([str(len(bench.errors)), *bench.errors[:1]]), "0", not bench.errors)


def _sizes(made: list[Made]) -> Iterator[Row]:
    for one in made:
        running, most = one.running
        yield Row(one.size.title, f"{running} running at step {one.size.middle:,}, {most} at most")
    code, style = javascript().encode(), stylesheet().encode()
    packed = len(gzip.compress(code + style))
    figure = f"{kb(len(code))} + {kb(len(style))}, {kb(packed)} packed"
    yield Row("player, JavaScript + CSS as delivered", figure, "JavaScript <= 60 kB", len(code) <= 60_000)
    for one in made:
        figure, is_met = f"{kb(one.num_wire)}, {kb(one.num_raw)} raw", one.num_wire <= 1.5e6 and one.num_raw <= 16e6
        aims = ("<= 1.5 MB, <= 16 MB raw", is_met) if one.size is LARGE else ("", None)
        yield Row(f"{one.size.name}: wire", figure, *aims)
        aim = OFFLINE_AIMS.get(one.size.name)
        aims = (f"<= {kb(aim)}", one.num_offline <= aim) if aim else ("", None)
        yield Row(f"{one.size.name}: offline file", kb(one.num_offline), *aims)
