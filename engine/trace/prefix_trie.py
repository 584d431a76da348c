"""Which earlier content begins like this one, and for how many tokens: a compressed trie over tokens and runs of tokens.

    add [(7, 0, 8)] for 0, add [(7, 0, 4), (9, 0, 2)] for 1      longest [(7, 0, 4), (8, 0, 1)] -> 4 tokens, as request 0
    add [5, 6, 1]   for 2                                        longest [5, 6, 2, 2]           -> 2 tokens, as request 2

A walk takes as long as what it has in common, however many contents there are. A content that grows elsewhere can be left
open: whoever begins with all of it is told so.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from engine.trace.prompts import Symbol, are_ids, without_first


class Match(NamedTuple):
    """`owner` was the first to have these tokens, -1 for none; `begun` are the owners of open contents, all of whose
    tokens are among them."""

    num_tokens: int
    owner: int
    begun: tuple[int, ...]


class _Node:
    """`symbols` lead into the node; `owner` was the first to come this way; `open` contents end here."""

    __slots__ = ("children", "open", "owner", "symbols")

    def __init__(self, symbols: list[Symbol], owner: int) -> None:
        self.symbols = symbols
        self.owner = owner
        self.open: dict[int, None] = {}
        self.children: dict[Hashable, _Node] = {}


class PrefixTrie:
    """`add` contents in order; `longest` asks for the best one among those that were added."""

    def __init__(self) -> None:
        self._root = _Node([], -1)
        self._open: dict[int, _Node] = {}

    def longest(self, symbols: Sequence[Symbol]) -> tuple[int, int]:
        """(tokens, owner): the longest common prefix with any content, and who was the first to have it; -1 for none."""
        match = self.match(symbols)
        return match.num_tokens, match.owner

    def match(self, symbols: Sequence[Symbol]) -> Match:
        """The same, and which open contents `symbols` begin with."""
        node, rest, num_tokens = self._root, list(symbols), 0
        owner, begun = -1, [*self._root.open]
        while rest:
            child = node.children.get(_first(rest[0]))
            if child is None:
                break
            count, common, rest = _common(child.symbols, rest)
            num_tokens, owner = num_tokens + count, child.owner
            if common is not None:
                break
            node = child
            begun += node.open
        return Match(num_tokens, owner, tuple(begun))

    def open(self, symbols: Sequence[Symbol], owner: int) -> None:
        """Add a content that grows elsewhere until `close`."""
        self._open[owner] = node = self.add(symbols, owner)
        node.open[owner] = None

    def close(self, owner: int) -> None:
        del self._open.pop(owner).open[owner]

    def add(self, symbols: Sequence[Symbol], owner: int) -> _Node:
        """Returns the node in which the content ends."""
        node, rest = self._root, list(symbols)
        while rest:
            first = _first(rest[0])
            child = node.children.get(first)
            if child is None:
                node.children[first] = node = _Node(rest, owner)
                return node
            _, split, rest = _common(child.symbols, rest)
            if split is not None:
                upper = _Node(split[0], child.owner)
                child.symbols = split[1]
                upper.children[_first(split[1][0])] = child
                node.children[first] = child = upper
            node = child
        return node


def num_common(symbols: list[Symbol], others: list[Symbol]) -> int:
    """Tokens of the longest common prefix of two contents."""
    if not symbols or not others or _first(symbols[0]) != _first(others[0]):
        return 0
    return _common(symbols, others)[0]


def _common(
    edge: list[Symbol], symbols: list[Symbol]
) -> tuple[int, tuple[list[Symbol], list[Symbol]] | None, list[Symbol]]:
    """Tokens in common, the edge in two parts where it does not lead all the way, and what is left of `symbols`."""
    size = len(edge)
    if symbols[:size] == edge:
        return _num_tokens(edge), None, symbols[size:]
    place = 0
    while place < min(size, len(symbols)) and edge[place] == symbols[place]:
        place += 1
    count = _num_tokens(edge[:place])
    shared, below, left = edge[:place], edge[place:], symbols[place:]
    if below and left and _first(below[0]) == _first(left[0]):
        length = min(below[0][2], left[0][2])
        shared.append((*below[0][:2], length))
        count += length
        below, left = without_first(below, length), without_first(left, length)
    return count, (shared, below) if below else None, left


def _first(symbol: Symbol) -> Hashable:
    return symbol if isinstance(symbol, int) else symbol[:2]


def _num_tokens(symbols: list[Symbol]) -> int:
    if are_ids(symbols):
        return len(symbols)
    return sum(1 if isinstance(symbol, int) else symbol[2] for symbol in symbols)
