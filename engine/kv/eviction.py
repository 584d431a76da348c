"""Which leaf is evicted first: a policy is a function from a node to a key, and the smallest key goes first.

The names and meanings are SGLang's (`mem_cache/evict_policy.py`). A policy reads a node and nothing else, so it can be
tried out without a tree.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from engine.kv.radix_node import RadixNode

EvictionPolicy = Callable[[RadixNode], Any]
"""(node) -> a key that sorts. Two keys that are equal are told apart by the time of last use, then by age."""

DEFAULT_PROTECTED_THRESHOLD = 2


def lru(node: RadixNode) -> int:
    """Least recently used."""
    return node.last_access


def mru(node: RadixNode) -> int:
    """Most recently used."""
    return -node.last_access


def lfu(node: RadixNode) -> tuple[int, int]:
    """Least often inserted again; of these the least recently used."""
    return node.hit_count, node.last_access


def fifo(node: RadixNode) -> int:
    """Oldest node. The upper half of a split is a new node, younger than its child."""
    return node.number


def filo(node: RadixNode) -> int:
    """Youngest node."""
    return -node.number


def priority(node: RadixNode) -> tuple[int, int]:
    """Least important (smallest number); of these the least recently used."""
    return node.priority, node.last_access


def slru(node: RadixNode, protected_threshold: int = DEFAULT_PROTECTED_THRESHOLD) -> tuple[bool, int]:
    """Least recently used, but nodes that were inserted `protected_threshold` times go after all others."""
    return node.hit_count >= protected_threshold, node.last_access


POLICIES: dict[str, EvictionPolicy] = {
    "lru": lru,
    "lfu": lfu,
    "fifo": fifo,
    "mru": mru,
    "filo": filo,
    "slru": slru,
    "priority": priority,
}


def policy_of(name: str, config: Mapping[str, Any] | None = None) -> EvictionPolicy:
    """The policy of that name. `config` sets the numbers of a policy that has some (`slru`: `protected_threshold`).

    Raises ValueError for an unknown name or number.
    """
    if name not in POLICIES:
        raise ValueError(f"eviction policy {name!r} is unknown; choose one of {', '.join(POLICIES)}.")
    numbers = dict(config or {})
    if not numbers:
        return POLICIES[name]
    if name != "slru" or set(numbers) != {"protected_threshold"}:
        raise ValueError(f"eviction policy {name!r} has no setting {min(map(str, numbers))!r}.")
    if type(numbers["protected_threshold"]) is not int or numbers["protected_threshold"] < 1:
        raise ValueError("protected_threshold of slru counts insertions; give a whole number from 1 on.")
    return partial(slru, **numbers)
