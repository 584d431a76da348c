"""The radix tree against a plain set of prefixes, operation after operation, and against a listener's own picture of it.

The plain model knows every stored prefix of whole pages and its slots, and finds the longest one by trying all. After
each operation the invariants hold, the sizes are those of the model, and the picture that a listener drew from what it
was told is the tree.
"""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.kv.eviction import POLICIES
from engine.kv.radix_node import RadixError, RadixListener, RadixNode
from engine.kv.radix_tree import SPLIT_AGES, RadixTree

Prefix = tuple[int, ...]

TOKENS = st.lists(st.integers(0, 1), max_size=12)


class Picture(RadixListener):
    """Parent, tokens and locks of every node by its number, drawn from the tree's own words only."""

    def __init__(self) -> None:
        self.nodes: dict[int, dict[str, Any]] = {}

    def split(self, upper: RadixNode, lower: RadixNode) -> None:
        drawn = self.nodes[lower.number]
        cut = len(upper.key)
        self.nodes[upper.number] = {**drawn, "key": drawn["key"][:cut]}
        drawn.update(key=drawn["key"][cut:], parent=upper.number)

    def inserted(self, node: RadixNode, num_new: int) -> None:
        if num_new:
            assert node.parent is not None
            self.nodes[node.number] = {"key": node.key, "parent": node.parent.number, "locks": 0}

    def evicted(self, node: RadixNode) -> None:
        del self.nodes[node.number]

    def locked(self, node: RadixNode) -> None:
        self._count(node.number, 1)

    def unlocked(self, node: RadixNode) -> None:
        self._count(node.number, -1)

    def cleared(self) -> None:
        self.nodes.clear()

    def _count(self, number: int, change: int) -> None:
        while number in self.nodes:
            self.nodes[number]["locks"] += change
            number = self.nodes[number]["parent"]


def state(tree: RadixTree) -> list[Any]:
    """Everything that an operation may change."""
    nodes = [(n.number, n.key, n.slots, n.lock_ref, n.last_access, n.hit_count, n.priority) for n in tree.root.below()]
    return [*nodes, tree.num_evictable, tree.num_protected, tree.num_nodes, tree.root.last_access]


class RadixTreeAgainstASetOfPrefixes(RuleBasedStateMachine):
    @initialize(
        page_size=st.integers(1, 3), split_age=st.sampled_from(sorted(SPLIT_AGES)), policy=st.sampled_from([*POLICIES])
    )
    def begin(self, page_size, split_age, policy):
        self.picture = Picture()
        self.policy = POLICIES[policy]
        self.tree = RadixTree(page_size, self.policy, split_age, self.picture)
        self.slots: dict[tuple[Prefix, int], int] = {}
        self.locks: list[tuple[RadixNode, Prefix]] = []
        self.gone: list[RadixNode] = []
        self.num_slots = 0

    def places(self, tokens) -> list[tuple[Prefix, int]]:
        """Every token of the whole pages: the prefix up to the end of its page, and where in the sequence it is."""
        page = self.tree.page_size
        return [(tuple(tokens[: (i // page + 1) * page]), i) for i in range(len(tokens) // page * page)]

    def longest(self, tokens) -> int:
        """Tokens of the longest stored prefix, by looking for each in turn."""
        return next(
            (i for (prefix, i) in self.places(tokens) if (prefix, i) not in self.slots), len(self.places(tokens))
        )

    def held(self) -> set[tuple[Prefix, int]]:
        return {place for _, tokens in self.locks for place in self.places(tokens)}

    @rule(tokens=TOKENS, priority=st.integers(0, 3))
    def insert(self, tokens, priority):
        cached, places = self.longest(tokens), self.places(tokens)
        slots = range(self.num_slots, self.num_slots + len(tokens))
        self.num_slots += len(tokens)
        inserted = self.tree.insert(tokens, slots, priority)
        assert (inserted.num_cached, inserted.num_new) == (cached, len(places) - cached)
        assert inserted.node.path_tokens() == tuple(tokens[: len(places)])
        self.slots.update(zip(places[cached:], slots[cached : len(places)], strict=True))

    @rule(tokens=TOKENS)
    def match(self, tokens):
        match = self.tree.match_prefix(tokens)
        assert match.num_tokens == self.longest(tokens)
        assert match.node.path_slots() == [self.slots[place] for place in self.places(tokens)[: match.num_tokens]]

    @rule(tokens=TOKENS)
    def probe(self, tokens):
        before = state(self.tree)
        match = self.tree.probe(tokens)
        assert match.num_tokens == self.longest(tokens)
        kept = self.held() | set(self.places(tokens)[: match.num_tokens])
        assert self.tree.evictable_beside(match) == len(self.slots) - len(kept)
        assert state(self.tree) == before

    @rule(tokens=TOKENS)
    def lock(self, tokens):
        match = self.tree.match_prefix(tokens)
        self.tree.lock(match.node)
        self.locks.append((match.node, tuple(tokens[: match.num_tokens])))

    @precondition(lambda self: self.locks)
    @rule(data=st.data())
    def unlock(self, data):
        node, _ = self.locks.pop(data.draw(st.integers(0, len(self.locks) - 1)))
        self.tree.unlock(node)

    @rule(num_tokens=st.integers(0, 12))
    def evict(self, num_tokens):
        """Leaf after leaf is the smallest of all that might go, and none more than needed."""
        freed = 0
        while freed < num_tokens:
            leaves = [n for n in self.tree.root.below() if not n.children and not n.lock_ref]
            gone = self.tree.evict(1)
            if not leaves:
                assert gone == []
                break
            assert gone == [min(leaves, key=lambda n: (self.policy(n), n.last_access, n.number))]
            freed += len(gone[0].key)
            for slot in gone[0].slots:
                del self.slots[next(place for place, mine in self.slots.items() if mine == slot)]
            self.gone += gone

    @rule(num_tokens=st.integers(1, 12))
    def evict_at_once(self, num_tokens):
        evictable = self.tree.num_evictable
        gone = self.tree.evict(num_tokens)
        freed = sum(len(node.key) for node in gone)
        assert min(num_tokens, evictable) <= freed <= evictable
        assert not gone or freed - len(gone[-1].key) < num_tokens
        free = {slot for node in gone for slot in node.slots}
        assert len(free) == freed
        self.slots = {place: slot for place, slot in self.slots.items() if slot not in free}
        self.gone += gone

    @rule(tokens=TOKENS)
    def refused_operations_change_nothing(self, tokens):
        before = state(self.tree)
        with pytest.raises(RadixError):
            self.tree.insert([*tokens, 0], slots=[1] * (len(tokens) + 2))
        unlocked = [node for node in self.tree.root.below() if not node.lock_ref]
        for node in [*self.gone[-2:], *unlocked[:2]]:
            with pytest.raises(RadixError):
                self.tree.unlock(node)
        for node in self.gone[-2:]:
            with pytest.raises(RadixError):
                self.tree.lock(node)
        assert state(self.tree) == before

    @precondition(lambda self: len(self.slots) > 20 and not self.locks)
    @rule()
    def clear(self):
        self.gone += list(self.tree.root.below())
        self.tree.clear()
        self.slots.clear()

    @invariant()
    def all_sizes_and_pictures_agree(self):
        tree = self.tree
        tree.check()
        assert tree.num_tokens == len(self.slots)
        assert tree.num_protected == len(self.held())
        assert {place for node in tree.root.below() for place in self.places(node.path_tokens())} == set(self.slots)
        drawn = {n.number: {"key": n.key, "parent": n.parent.number, "locks": n.lock_ref} for n in tree.root.below()}
        assert self.picture.nodes == drawn
        assert tree.leaves_to_evict() == sorted(
            (n for n in tree.root.below() if not n.children and not n.lock_ref),
            key=lambda n: (self.policy(n), n.last_access, n.number),
        )


RadixTreeAgainstASetOfPrefixes.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestRadixTree = RadixTreeAgainstASetOfPrefixes.TestCase
