"""Values of the steps of a run as curves over its clock, in at most so many points.

A value holds from the start of its step to its end; between two steps the engine is idle. With few steps the curve is
exact. With many, equal stretches of time are averaged, each step weighed by how long it lies in the stretch, and the least
and greatest value of each stretch are kept beside its mean.
"""

from dataclasses import dataclass

import numpy as np

from engine.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Curves:
    """time float64 [n + 1]: where each point begins, and the end. mean, low, high float64 [n, num_curves].

    NaN where no step lies. `width` is the length of a stretch in seconds, None if every point is one step or one gap.
    """

    time: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: float | None


def over_time(trace: Trace, values: np.ndarray, idle: float, max_points: int) -> Curves:
    """Curves of `values` [num_steps, num_curves]; `idle` is their value while no step runs, NaN for none at all."""
    start, end, step = _spans(trace)
    held = np.full((len(start), values.shape[1]), idle)
    held[step >= 0] = values[step[step >= 0]]
    if len(start) <= max_points:
        return Curves(np.append(start, end[-1:]), held, held, held, None)
    edges = np.linspace(start[0], end[-1], max_points + 1)
    known = np.isfinite(held)
    weights = np.where(known, (end - start)[:, None], 0.0)
    covered = _between(edges, start, end, weights)
    summed = _between(edges, start, end, np.where(known, held, 0.0) * weights)
    mean = np.divide(summed, covered, out=np.full_like(summed, np.nan), where=covered > 0)
    first = np.searchsorted(end, edges[:-1], side="right")
    past = np.maximum(np.searchsorted(start, edges[1:], side="left"), first + 1)
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    for point, (a, b) in enumerate(zip(first, past, strict=True)):
        low[point] = np.fmin.reduce(held[a:b], axis=0)
        high[point] = np.fmax.reduce(held[a:b], axis=0)
    return Curves(edges, mean, low, high, float(edges[1] - edges[0]))


def _spans(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, end and step of every stretch of the clock, in order; step -1 where none runs.

    A step that begins before the end of the one before cuts it short; one that takes no time has no stretch.
    """
    start, end = trace.times[:, 0], trace.times[:, 1]
    end = np.minimum(end, np.append(start[1:], np.inf))
    steps = np.arange(len(start))
    gap = np.flatnonzero(start[1:] > end[:-1] + 1e-9 * np.maximum(np.abs(end[:-1]), 1e-6))
    all_start = np.concatenate([start, end[gap]])
    all_end = np.concatenate([end, start[gap + 1]])
    all_step = np.concatenate([steps, np.full(len(gap), -1)])
    order = np.argsort(np.concatenate([steps, gap + 0.5]))
    order = order[all_end[order] > all_start[order]]
    return all_start[order], all_end[order], all_step[order]


def _between(edges: np.ndarray, start: np.ndarray, end: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """How much of `amount`, spread evenly over its span, lies between each two edges: [len(edges) - 1, num_curves]."""
    times = np.append(start, end[-1])
    upto = np.concatenate([np.zeros((1, amount.shape[1])), np.cumsum(amount, axis=0)])
    columns = [np.diff(np.interp(edges, times, upto[:, column])) for column in range(amount.shape[1])]
    return np.stack(columns, axis=1)
