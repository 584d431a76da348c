"""What the measurements of the player share: the plan, a browser, an app that serves the runs, and play as it is seen."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser

from tests.bench.figures import Spread
from tests.bench.player_runs import LARGE, MEDIUM, SMALL, TINY, Size
from tests.bench.served import Served
from tests.bench.watched import Watched


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: sizes from small to large, that of three panes, requests that fill a tree, presses and scrubs
    of the player and of the rerun, seconds of play, minutes of play for the memory, rounds of opening, further viewers."""

    sizes: tuple[Size, ...] = (SMALL, MEDIUM, LARGE)
    panes: Size = MEDIUM
    num_prefixes: int = 9_000
    num_steps: int = 60
    num_scrubs: int = 40
    num_reruns: int = 8
    num_held: int = 90
    seconds: float = 3.0
    minutes: float = 10.0
    num_rounds: int = 3
    num_viewers: int = 4

    @property
    def largest(self) -> Size:
        return self.sizes[-1]


def tiny() -> Plan:
    """Everything once, on a run of sixteen blocks: whether it works at all."""
    return Plan((TINY,), TINY, 400, 3, 3, 2, 6, 0.4, 0.02, 1, 1)


@dataclass(frozen=True, slots=True)
class Bench:
    """A browser and an app of its own that serves the runs of a folder; errors are those of scripts of its pages."""

    browser: Browser
    server: Served
    folder: Path
    plan: Plan
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def page(self, query: str = "") -> Iterator[Watched]:
        """A page in a session of its own, at an address of the app where there is a query."""
        watched = Watched(self.browser)
        try:
            if query:
                watched.open(f"{self.server.url}/{query}")
            yield watched
        finally:
            watched.close()
            self.errors.extend(watched.errors)


@dataclass(frozen=True, slots=True)
class Play:
    """Pictures a second, frames passed over, the longest gaps, script time, and how far panes were apart."""

    rate: float
    skipped: int
    gap: float
    script: Spread
    apart: int

    @classmethod
    def of(cls, watched: Watched, seconds: float) -> "Play":
        seen = watched.watch(seconds)
        rate = (seen["pictures"] - 1) / seen["seconds"] if seen["pictures"] > 1 else 0.0
        gap = Spread.of(seen["gaps"]).p95
        return cls(rate, seen["skipped"], gap, Spread.of(seen["script"]), seen["apart"])

    def __str__(self) -> str:
        return f"{self.rate:.1f} a second, {self.skipped} skipped, gap p95 {self.gap:.0f} ms"
