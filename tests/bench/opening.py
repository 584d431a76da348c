"""Until the first picture: unpacking a run, a click in an open app, a page load, the one-file page from disk."""

import base64
import json
from collections.abc import Iterator
from statistics import median

from tests.bench.figures import Row
from tests.bench.player_bench import Bench
from tests.bench.player_runs import LARGE, Size
from viz.player.script import joined
from viz.player.vocabulary import VOCABULARY

OPEN_AIMS = {"S": 300, "M": 500, "L": 1_000}
UNPACK = """
window.unpack = async (text, count) => {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    const feed = new RunFeed();
    await feed.push(bytes);
    feed.finish().run();
    times.push(performance.now() - start);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  return times;
};
"""


def unpacking(bench: Bench, size: Size) -> Iterator[Row]:
    """From the bytes to a run with all that is derived from its columns: on a fresh page, and then again."""
    blob = base64.b64encode((bench.folder / f"{size.name}-0.wire").read_bytes()).decode()
    learning = f"learn({json.dumps(VOCABULARY)});"
    with bench.page() as watched:
        watched.page.set_content(f'<script type="module">{joined()}{learning}{UNPACK}</script>')
        watched.page.wait_for_function("window.unpack")
        given = [blob, 1 + bench.plan.num_rounds]
        first, *others = watched.page.evaluate("([text, count]) => unpack(text, count)", given)
    figure = f"{first:,.0f} ms, then {median(others):,.0f} ms"
    aim = ("<= 150 ms", first <= 150) if size is LARGE else ("", None)
    yield Row(f"{size.name}: unpacking", figure, *aim)


def opening(bench: Bench) -> Iterator[Row]:
    """A click in an open app; a page load beside that of a page with nothing on it."""
    sizes = bench.plan.sizes
    mounted: dict[str, list[float]] = {size.name: [] for size in sizes}
    with bench.page("?") as watched:
        for _ in range(bench.plan.num_rounds):
            for size in sizes:
                mounted[size.name].append(watched.show(size.name))
                watched.player()
    for size in sizes:
        found, aim = median(mounted[size.name]), OPEN_AIMS.get(size.name)
        figure = f"{found:,.0f} ms after mount, first time {mounted[size.name][0]:,.0f} ms"
        aims = (f"<= {aim:,} ms", found <= aim) if aim else ("", None)
        yield Row(f"{size.name}: first picture in an open app", figure, *aims)
    yield from _loading(bench, bench.plan.largest.name)


def _loading(bench: Bench, name: str) -> Iterator[Row]:
    empty, full = [], []
    for _ in range(bench.plan.num_rounds):
        with bench.page("?") as watched:
            watched.page.get_by_role("button", name="Rerun", exact=True).wait_for()
            empty.append(watched.page.evaluate("performance.now()"))
        with bench.page(f"?show={name}") as watched:
            full.append(watched.first_picture())
    ratio = median(full) / median(empty)
    figure = f"{median(full):,.0f} ms, empty page {median(empty):,.0f} ms: {ratio:.2f} x"
    yield Row(f"{name}: page load to first picture", figure, "<= 1.5 x", ratio <= 1.5)


def offline(bench: Bench, size: Size) -> Iterator[Row]:
    """The one-file page from disk."""
    with bench.page() as watched:
        watched.open((bench.folder / f"{size.name}.html").as_uri())
        ready = watched.first_picture()
        num_requests = len([url for url in watched.requests if not url.startswith(("blob:", "data:"))]) - 1
    figure = f"{ready:,.0f} ms to the first picture, {num_requests} other requests"
    yield Row(f"{size.name}: offline file, opened", figure, "<= 1,000 ms, 0", ready <= 1_000 and num_requests == 0)
