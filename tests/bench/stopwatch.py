"""Processor time of alternated repeats, and a table of the medians."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Times:
    """Processor seconds of the repeats of one thing, in order."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> str:
        return f"{min(self.seconds) / self.median:.2f}-{max(self.seconds) / self.median:.2f}"


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of one call, after a garbage collection, and its result."""
    gc.collect()
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def alternate(actions: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, Times], dict[str, Any]]:
    """Run all actions in turn, `repeats` rounds; the times of each, and its last result."""
    times = {name: Times() for name in actions}
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, action in actions.items():
            seconds, results[name] = timed(action)
            times[name].seconds.append(seconds)
    return times, results


def ratio_of(times: Times, base: Times) -> str:
    """Median of the ratios of one round each, lowest and highest beside it."""
    ratios = [a / b for a, b in zip(times.seconds, base.seconds, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
