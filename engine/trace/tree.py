"""The radix tree of a trace at one event, as nodes by number: what a view or a check asks of it.

The rows of the track `nodes` name a part of the token pool; here they get their tokens. The root, number 0, is no node.
"""

from typing import Any, NamedTuple

from engine.trace.trace import Trace


class TreeNode(NamedTuple):
    """`parent` is a node number, 0 for a child of the root; `tokens` and `slots` have the same length."""

    parent: int
    tokens: tuple[int, ...]
    slots: tuple[int, ...]
    lock_ref: int
    last_access: int


def tree_at(trace: Trace, event: int) -> dict[int, TreeNode]:
    """Node number -> node, in order of creation; empty where the trace publishes no tree."""
    if "nodes" not in trace.tracks:
        return {}
    track = trace.cut(event=event).tracks["nodes"]
    nodes = {}
    for number in (track["parent"] >= 0).nonzero()[0].tolist():
        parent, first, length, lock_ref, last_access = (int(column[number]) for column in track.values())
        tokens, slots = trace.tokens[first : first + length].T
        nodes[number] = TreeNode(parent, tuple(tokens.tolist()), tuple(slots.tolist()), lock_ref, last_access)
    return nodes


def text_of(header: dict[str, Any], tokens: tuple[int, ...]) -> str:
    """The tokens as words of the header's vocabulary; one that is no word as its number."""
    words = header.get("vocabulary", [])
    return " ".join(words[token] if 0 <= token < len(words) else str(token) for token in tokens)
