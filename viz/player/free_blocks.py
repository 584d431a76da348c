"""How many blocks of the device are free at each moment of a run."""

import numpy as np

from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES


def free_blocks(trace: Trace) -> tuple[np.ndarray, np.ndarray] | None:
    """(events of block rows, free device blocks before the first of them and after each), None without a limit.

    Free blocks whose content is known are free like any other. Those that a radix tree keeps are not: it has to evict
    them first, which is an event of its own.
    """
    pools = trace.header["pools"]
    if "blocks" not in trace.tracks or not pools or pools[0].get("size") is None:
        return None
    first, size = pools[0]["first"], pools[0]["size"]
    columns = trace.tracks["blocks"].columns
    in_pool = (columns["key"] >= first) & (columns["key"] < first + size)
    key, state = columns["key"][in_pool], columns["state"][in_pool]
    taken = ("used", "cached") if "nodes" in trace.tracks else ("used",)
    used = np.isin(state, [BLOCK_STATES.index(name) for name in taken]).astype(np.int64)
    order = np.argsort(key, kind="stable")
    before = np.concatenate((np.zeros(1, np.int64), used[order]))[: len(order)]
    before[np.flatnonzero(np.diff(key[order], prepend=-1))] = 0
    change = np.empty_like(used)
    change[order] = used[order] - before
    return columns["event"][in_pool], size - np.concatenate((np.zeros(1, np.int64), np.cumsum(change)))
