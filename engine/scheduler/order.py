"""In which order waiting requests are tried: pure functions from what is known of them to a list of places.

The cache-aware orders (SGLang paper, section 3; `managers/schedule_policy.py`) go by the cached prefix of each request:
the longest first, or depth first through the radix tree, so that requests that share a prefix follow each other
before it is evicted. `QueueOrder` is an order with its numbers; it finds the prefixes and asks the function.
"""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.kv.radix_node import Match, RadixNode, Tokens
from engine.kv.radix_tree import RadixTree


@dataclass(frozen=True, slots=True)
class Waiting:
    """What an order may know of a waiting request.

    `request` is whatever the caller calls it by. `num_tokens` counts the tokens to be in the cache when it runs, `tokens`
    are these, where they are known. `max_tokens` is the longest answer, `arrival` a time, `num_passes` how often the
    request was passed over.
    """

    request: Any
    num_tokens: int
    tokens: Tokens = ()
    max_tokens: int = 0
    arrival: float = 0.0
    priority: int = 0
    num_passes: int = 0

    def hit(self, match: Match) -> int:
        """Tokens that need not be computed: at least one has to be, or there is nothing to sample from."""
        return min(match.num_tokens, max(self.num_tokens - 1, 0))


class Pass(NamedTuple):
    """What one sorting knows: the requests, their cached prefixes (empty for an order that does not look), the places
    that wait for another one's prefix, the numbers of the order and a source of chance."""

    waiting: Sequence[Waiting]
    matches: Sequence[Match]
    held_back: Collection[int]
    order: "QueueOrder"
    rng: random.Random


OrderFunction = Callable[[Pass], list[int]]


def fcfs(this: Pass) -> list[int]:
    """As they stand in the queue."""
    return list(range(len(this.waiting)))


def longest_prefix_first(this: Pass) -> list[int]:
    """Most cached tokens first, who is held back last. Each pass that a request has waited counts `aging` tokens more;
    without aging a request that shares nothing may wait for ever."""

    def key(place: int) -> tuple[bool, int]:
        entry = this.waiting[place]
        cached = entry.hit(this.matches[place]) + this.order.aging * entry.num_passes
        return (True, 0) if place in this.held_back else (False, -cached)

    return sorted(range(len(this.waiting)), key=key)


def shortest_prefill_first(this: Pass) -> list[int]:
    """Fewest tokens to compute first, who is held back last; equal ones by arrival."""

    def key(place: int) -> tuple[bool, int, float]:
        entry = this.waiting[place]
        return place in this.held_back, max(1, entry.num_tokens - entry.hit(this.matches[place])), entry.arrival

    return sorted(range(len(this.waiting)), key=key)


def depth_first(this: Pass) -> list[int]:
    """Through the tree, heaviest child first, where a node weighs the requests that end in it or below; the requests of
    a node come after those below it (SGLang's `dfs-weight`), those that end inside it, because nobody split it there,
    last. Looks only at nodes above a waiting request."""
    weights: dict[RadixNode, int] = {}
    ending: dict[RadixNode, list[int]] = {}
    below: dict[RadixNode, list[RadixNode]] = {}
    root: RadixNode | None = None
    for place, match in enumerate(this.matches):
        ending.setdefault(match.node, []).append(place)
        node: RadixNode | None = match.node
        while node is not None:
            if node not in weights and node.parent is not None:
                below.setdefault(node.parent, []).append(node)
            weights[node] = weights.get(node, 0) + 1
            root, node = node, node.parent
    order: list[int] = []
    stack = [(root, False)] if root else []
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order += sorted(ending.get(node, []), key=lambda place: -this.matches[place].num_tokens)
        else:
            stack.append((node, True))
            heaviest_first = sorted(below.get(node, []), key=lambda child: (-weights[child], child.place))
            stack.extend((child, False) for child in reversed(heaviest_first))
    return order


def longest_output_first(this: Pass) -> list[int]:
    """Longest answer first (SGLang's `lof`)."""
    return sorted(range(len(this.waiting)), key=lambda place: -this.waiting[place].max_tokens)


def at_random(this: Pass) -> list[int]:
    """Shuffled."""
    places = list(range(len(this.waiting)))
    this.rng.shuffle(places)
    return places


def priority(this: Pass) -> list[int]:
    """Most important first, equal ones by arrival. A smaller number is more important, unless `larger_first`."""
    sign = -1 if this.order.larger_first else 1
    return sorted(range(len(this.waiting)), key=lambda p: (sign * this.waiting[p].priority, this.waiting[p].arrival))


class Order(NamedTuple):
    """A function, whether it needs the cached prefixes, and whether it gives way to fcfs when the queue is long."""

    function: OrderFunction
    is_cache_aware: bool = False
    falls_back: bool = False


ORDERS: dict[str, Order] = {
    "fcfs": Order(fcfs),
    "longest_prefix_first": Order(longest_prefix_first, is_cache_aware=True, falls_back=True),
    "depth_first": Order(depth_first, is_cache_aware=True),
    "shortest_prefill_first": Order(shortest_prefill_first, is_cache_aware=True),
    "lof": Order(longest_output_first),
    "random": Order(at_random),
    "priority": Order(priority),
}


class Sorted(NamedTuple):
    """The places of the queue in their new order; the name of the order that was used; the cached prefix of each place,
    None if nobody looked; the places that were held back."""

    places: list[int]
    name: str
    matches: list[Match] | None
    held_back: frozenset[int]


@dataclass(frozen=True, slots=True)
class QueueOrder:
    """An order and its numbers. SGLang: `fall_back_above=128, in_batch_check=32, in_batch_share=32`.

    With more than `fall_back_above` requests an expensive order is not worth its time: fcfs instead. With
    `in_batch_check`, a request with at most that many cached tokens that shares `in_batch_share` tokens or more with a
    request before it is held back for this pass, because it will find them cached in the next one.
    """

    name: str = "fcfs"
    fall_back_above: int | None = None
    in_batch_check: int | None = None
    in_batch_share: int = 32
    aging: int = 0
    larger_first: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ORDERS:
            raise ValueError(f"queue order {self.name!r} is unknown; choose one of {', '.join(ORDERS)}.")

    def active(self, num_waiting: int) -> str:
        """The order that is used for a queue of that length."""
        too_long = self.fall_back_above is not None and num_waiting > self.fall_back_above
        return "fcfs" if too_long and ORDERS[self.name].falls_back else self.name

    def sort(self, waiting: Sequence[Waiting], match: Callable[[Waiting], Match], number: int = 0) -> Sorted:
        """The order of this pass. `match` says what of a request is cached and is asked once for each in turn, or not at
        all; `number` counts the passes, so that a random order differs from one to the next."""
        name = self.active(len(waiting))
        matches = [match(entry) for entry in waiting] if ORDERS[name].is_cache_aware else None
        held_back = self._held_back(waiting, matches or [])
        rng = random.Random(f"{self.seed}.{number}") if name == "random" else random.Random(0)
        places = ORDERS[name].function(Pass(waiting, matches or [], held_back, self, rng))
        return Sorted(places, name, matches, held_back)

    def _held_back(self, waiting: Sequence[Waiting], matches: list[Match]) -> frozenset[int]:
        """Places whose beginning an earlier place will bring into the cache."""
        if self.in_batch_check is None:
            return frozenset()
        seen, held_back = RadixTree(), []
        for place, match in enumerate(matches):
            if match.num_tokens > self.in_batch_check:
                continue
            if seen.probe(waiting[place].tokens).num_tokens >= self.in_batch_share:
                held_back.append(place)
            else:
                seen.insert(waiting[place].tokens)
        return frozenset(held_back)
