"""One edge of the radix tree, and who is told what becomes of it.

A node owns the run of tokens on the edge from its parent and the slots that hold their KV. It knows its ages and counts
but no rule: when it is split, locked or evicted is the tree's business, which leaf goes first an eviction policy's.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

Tokens = Sequence[Hashable]
"""Token ids; anything hashable will do, so that words or the contents of whole pages can stand for them."""


class RadixError(ValueError):
    """A caller's mistake (unlocking what is not locked, a node that is not in the tree); nothing was changed."""


class RadixNode:
    """A run of tokens below a parent. Times count operations on the tree, never seconds.

    `key` and `slots` have the same length; without slots `slots` is empty. `children` is keyed by the first token of a
    child (page size 1) or the tuple of its first page, in order of insertion. `number` tells nodes apart and counts their
    creation; `place` is the node's order among its siblings, which a split hands on. `heap_index` is the place among the
    leaves that may be evicted, -1 for every other node.
    """

    __slots__ = (
        "children",
        "heap_index",
        "hit_count",
        "key",
        "last_access",
        "lock_ref",
        "number",
        "parent",
        "place",
        "priority",
        "slots",
    )

    def __init__(self, number: int, place: int, now: int, key: tuple[Hashable, ...], slots: tuple[int, ...]) -> None:
        self.number = number
        self.place = place
        self.last_access = now
        self.key = key
        self.slots = slots
        self.parent: RadixNode | None = None
        self.children: dict[Hashable, RadixNode] = {}
        self.lock_ref = 0
        self.hit_count = 0
        self.priority = 0
        self.heap_index = -1

    def __repr__(self) -> str:
        return f"RadixNode({self.number}, {len(self.key)} tokens, lock_ref={self.lock_ref})"

    def path(self) -> list["RadixNode"]:
        """The nodes from below the root down to this one."""
        nodes = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def path_tokens(self) -> tuple[Hashable, ...]:
        """All tokens from the root to the end of this node."""
        return tuple(token for node in self.path() for token in node.key)

    def path_slots(self) -> list[int]:
        """The slots of all tokens from the root to the end of this node."""
        return [slot for node in self.path() for slot in node.slots]

    def use(self, now: int) -> None:
        """This node and everything above it, the root included, is used at `now`."""
        node: RadixNode | None = self
        while node is not None:
            node.last_access = now
            node = node.parent

    def num_common(self, tokens: tuple[Hashable, ...]) -> int:
        """How many tokens of the key `tokens` begins with, found by comparing halves."""
        key = self.key
        low, high = 0, min(len(key), len(tokens))
        if key[:high] == tokens[:high]:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            if key[low:middle] == tokens[low:middle]:
                low = middle
            else:
                high = middle
        return low

    def below(self) -> Iterator["RadixNode"]:
        """Every node under this one, parents before children, siblings in order of insertion."""
        stack = list(reversed(self.children.values()))
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children.values()))


class Match(NamedTuple):
    """The longest cached prefix: how many tokens, and the node in which its last token lies (the root without any).

    After `match_prefix` the prefix ends where the node ends; a `probe` may end inside it.
    """

    node: RadixNode
    num_tokens: int


class Insertion(NamedTuple):
    """What `insert` did: the node in which the sequence ends, tokens that were there already, tokens that are new.

    The slots that the caller brought for tokens that were there already are still the caller's.
    """

    node: RadixNode
    num_cached: int
    num_new: int


class RadixListener:
    """What a tree tells of itself. Nodes are the tree's own; a listener only reads them.

    A tree never asks whether anybody listens: `SILENT` hears everything and does nothing.
    """

    def split(self, upper: RadixNode, lower: RadixNode) -> None:
        """`upper` is a new node above `lower` and took over its first tokens, counts and place."""

    def touched(self, node: RadixNode) -> None:
        """`node` and everything above it, the root included, was used now."""

    def inserted(self, node: RadixNode, num_new: int) -> None:
        """A sequence that ends with `node` was stored. With `num_new` tokens above 0 the node is a new leaf that holds
        them; hits and priorities of everything above it may have changed."""

    def evicted(self, node: RadixNode) -> None:
        """The leaf `node` is about to leave the tree."""

    def locked(self, node: RadixNode) -> None:
        """`node` and everything above it, the root excepted, has one lock more."""

    def unlocked(self, node: RadixNode) -> None:
        """`node` and everything above it, the root excepted, has one lock less."""

    def cleared(self) -> None:
        """The tree is empty."""


SILENT = RadixListener()
