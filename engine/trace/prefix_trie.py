"""Which earlier content begins like this one, and for how many tokens: a compressed trie over tokens and runs of tokens.

    add [(7, 0, 8)] for 0, add [(7, 0, 4), (9, 0, 2)] for 1      longest [(7, 0, 4), (8, 0, 1)] -> 4 tokens, as request 0
    add [5, 6, 1]   for 2                                        longest [5, 6, 2, 2]           -> 2 tokens, as request 2

A walk takes as long as what it has in common, however many contents there are.
"""

from collections.abc import Hashable, Sequence

from engine.trace.prompts import Symbol


class _Node:
    """`symbols` lead into the node; `owner` was the first to come this way."""

    __slots__ = ("children", "owner", "symbols")

    def __init__(self, symbols: list[Symbol], owner: int) -> None:
        self.symbols = symbols
        self.owner = owner
        self.children: dict[Hashable, _Node] = {}


class PrefixTrie:
    """`add` contents in order; `longest` asks for the best one among those that were added."""

    def __init__(self) -> None:
        self._root = _Node([], -1)

    def longest(self, symbols: Sequence[Symbol]) -> tuple[int, int]:
        """(tokens, owner): the longest common prefix with any content, and who was the first to have it; -1 for none."""
        node, rest, num_tokens = self._root, list(symbols), 0
        owner = -1
        while rest:
            child = node.children.get(_first(rest[0]))
            if child is None:
                break
            count, common, rest = _common(child.symbols, rest)
            num_tokens, owner = num_tokens + count, child.owner
            if common is not None:
                break
            node = child
        return num_tokens, owner

    def add(self, symbols: Sequence[Symbol], owner: int) -> None:
        node, rest = self._root, list(symbols)
        while rest:
            first = _first(rest[0])
            child = node.children.get(first)
            if child is None:
                node.children[first] = _Node(rest, owner)
                return
            _, split, rest = _common(child.symbols, rest)
            if split is not None:
                upper = _Node(split[0], child.owner)
                child.symbols = split[1]
                upper.children[_first(split[1][0])] = child
                node.children[first] = child = upper
            node = child


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
        below, left = _without(below, length), _without(left, length)
    return count, (shared, below) if below else None, left


def _without(symbols: list[Symbol], length: int) -> list[Symbol]:
    content, start, whole = symbols[0]
    rest = [(content, start + length, whole - length)] if whole > length else []
    return rest + symbols[1:]


def _first(symbol: Symbol) -> Hashable:
    return symbol if isinstance(symbol, int) else symbol[:2]


def _num_tokens(symbols: list[Symbol]) -> int:
    return sum(1 if isinstance(symbol, int) else symbol[2] for symbol in symbols)
