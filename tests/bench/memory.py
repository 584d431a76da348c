"""What stays in memory: for each further viewer on the server, and in the page over minutes of play."""

from collections.abc import Iterator
from contextlib import ExitStack

from tests.bench.figures import Row
from tests.bench.player_bench import Bench, Play
from tests.bench.watched import Watched


def viewers(bench: Bench) -> Iterator[Row]:
    """Memory of the server for each further viewer of the largest run."""
    name, count = bench.plan.largest.name, bench.plan.num_viewers
    before = bench.server.resident_mb
    with ExitStack() as pages:
        for _ in range(count):
            pages.enter_context(bench.page(f"?show={name}")).player()
        each = (bench.server.resident_mb - before) / count
    yield Row(f"{name}: server memory per further viewer", f"{each:.1f} MB of {count} viewers", "<= 5 MB", each <= 5)


def memory(bench: Bench) -> Iterator[Row]:
    """The largest run is played over and over: heap of the page, memory of the server, pictures a second."""
    size, minutes = bench.plan.largest, bench.plan.minutes
    with bench.page(f"?show={size.name}") as watched:
        watched.player()
        heaps, server = [watched.heap_mb()], [bench.server.resident_mb]
        watched.start_playing()
        rates: list[float] = []
        for _ in range(4):
            rates += _rates(watched, 15 * minutes)
            heaps.append(watched.heap_mb())
            server.append(bench.server.resident_mb)
    name = f"{size.name}: {minutes:g} minutes of play"
    for what, sizes in (("heap after GC", heaps), ("server", server)):
        grown = sizes[-1] - sizes[1]
        figure = f"{' '.join(f'{value:.1f}' for value in sizes)} MB"
        yield Row(f"{name}: {what}", figure, "flat: last - second <= 2 MB", grown <= 2)
    if rates:
        yield Row(f"{name}: pictures", f"{min(rates):.1f} to {max(rates):.1f} a second", ">= 55", min(rates) >= 55)


def _rates(watched: Watched, seconds: float) -> list[float]:
    """Play on for so long, from the start again where the run ends; pictures a second, every ten seconds."""
    found, left = [], seconds
    while left > 0:
        if not watched.is_playing:
            watched.page.keyboard.press("Space")
        rate = Play.of(watched, min(10.0, left)).rate
        if watched.is_playing:
            found.append(rate)
        left -= 10
    return found
