"""The words that a node of the radix tree holds at a moment, and who stored them.

The tokens of a run lie in one pool; the rows of the track `nodes` say which stretch of it is a node's. Who stored a
stretch follows from the pool alone, because every insertion appends what is new.
"""

import numpy as np

from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

MOST_TOKENS = 50
"""Tokens that are named; a node may hold thousands."""


def node_text(trace: Trace, node: int, event: int) -> str:
    """Words of the node at `event`, or as it was last; a token without a word is its number, one that is
    only known to be generated is a dot, no such node is "?"."""
    if "nodes" not in trace.tracks:
        return "?"
    row = int(_rows_of(trace, np.array([node]), np.array([event]))[0])
    if row < 0:
        return "?"
    first, count = (int(trace.tracks["nodes"].columns[name][row]) for name in ("first", "num_tokens"))
    vocabulary = trace.header.get("vocabulary", [])
    tokens = trace.tokens[first : first + min(count, MOST_TOKENS), 0].tolist()
    return " ".join(
        "•" if token < 0 else vocabulary[token] if token < len(vocabulary) else str(token) for token in tokens
    )


def inserters(trace: Trace, nodes: np.ndarray, events: np.ndarray) -> np.ndarray:
    """For each node at its event the request that stored its tokens, -1 where nobody is named."""
    columns = trace.happenings
    chosen = columns["kind"] == HAPPENINGS.index("inserted")
    begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(columns["amount"][chosen], dtype=np.int64)))[:-1]
    request = columns["request"][chosen]
    rows = _rows_of(trace, nodes, events)
    if not len(request):
        return np.full(len(nodes), -1)
    which = np.searchsorted(begins, trace.tracks["nodes"].columns["first"][rows], side="right") - 1
    return np.where(rows >= 0, request[which], -1)


def _rows_of(trace: Trace, nodes: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Row number of each node at its event among those in which it is in the tree, -1 for none."""
    columns, size = trace.tracks["nodes"].columns, trace.num_events + 1
    inside = np.flatnonzero(columns["parent"] >= 0)
    if not len(inside):
        return np.full(len(nodes), -1)
    moments = columns["key"][inside].astype(np.int64) * size + columns["event"][inside]
    order = np.argsort(moments, kind="stable")
    at = np.searchsorted(moments[order], nodes.astype(np.int64) * size + events, side="right") - 1
    rows = inside[order[np.maximum(at, 0)]]
    return np.where((at >= 0) & (columns["key"][rows] == nodes), rows, -1)
