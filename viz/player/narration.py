"""Decides what is said about each event: where it has several things to say, the rarest speaks."""

from collections.abc import Callable

import numpy as np

from engine.trace.trace import Trace
from viz.player import cache_news, memory_news, request_news, step_news
from viz.player.narrator import NUM_OPERANDS, Narrator

TELLINGS: tuple[Callable[[Narrator], None], ...] = (
    request_news.refusals,
    request_news.preemptions,
    memory_news.tree,
    cache_news.evictions,
    memory_news.copies,
    cache_news.finds,
    memory_news.sharing,
    request_news.admissions,
    request_news.waiting,
    request_news.endings,
    memory_news.memory,
    request_news.arrivals,
    step_news.chunks,
    step_news.steps,
)


def narrate(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(rows int32 [n, 2 + NUM_OPERANDS], lists int32): see `sentences.Sentences`."""
    narrator = Narrator(trace)
    for telling in TELLINGS:
        telling(narrator)
    rows = np.concatenate([np.zeros((0, 2 + NUM_OPERANDS), np.int64), *narrator.rows])
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    first = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
    return rows[first].astype(np.int32), np.array(narrator.lists, np.int32)
