"""The radix tree of cached prefixes (SGLang paper, section 3): who shares what with whom, who holds it, who goes first.

    insert 1 2 3 4 5        insert 1 2 3 9          lock 1 2 3 9 protects 4 tokens, leaves 2 to evict
    root - [1 2 3 4 5]      root - [1 2 3] - [4 5]
                                           - [9]
A pure data structure: it has no capacity, no clock and no memory of its own. Slots are numbers that it keeps for its
caller, times count its own operations. Which leaf goes first is an eviction policy, how a split ages a name.
"""

from collections.abc import Callable, Hashable, Sequence

from engine.kv.eviction import EvictionPolicy, lru
from engine.kv.leaf_heap import LeafHeap
from engine.kv.radix_node import SILENT, Insertion, Match, RadixError, RadixListener, RadixNode, Tokens

SPLIT_AGES = {"upper": (True, False), "both": (True, True), "neither": (False, False)}
"""Which halves of a node count as used when a match splits it. SGLang: both, the upper one last; mini-sglang: neither."""


class RadixTree:
    """Prefixes in whole pages of `page_size` tokens.

    `num_evictable` and `num_protected` are the tokens of nodes without and with a lock; together they are all tokens of
    the tree. `num_nodes` does not count the root.
    """

    def __init__(
        self,
        page_size: int = 1,
        policy: EvictionPolicy = lru,
        split_age: str = "upper",
        listener: RadixListener = SILENT,
    ) -> None:
        if type(page_size) is not int or page_size < 1:
            raise RadixError(f"page_size is {page_size!r}; a page has a whole number of tokens, at least 1.")
        if split_age not in SPLIT_AGES:
            raise RadixError(f"split_age is {split_age!r}; choose one of {', '.join(SPLIT_AGES)}.")
        self.page_size = page_size
        self.root = RadixNode(0, 0, 0, (), ())
        self.root.lock_ref = 1
        self.num_evictable = 0
        self.num_protected = 0
        self.num_nodes = 0
        self._leaves = LeafHeap(policy)
        self._listener = listener
        self._upper_is_used, self._lower_is_used = SPLIT_AGES[split_age]
        self._first: Callable[[Sequence[Hashable], int], Hashable] = self._first_page if page_size > 1 else _first_token
        self._now = 0
        self._num_created = 0
        self._num_visits = 0

    @property
    def num_tokens(self) -> int:
        return self.num_evictable + self.num_protected

    @property
    def num_steps(self) -> int:
        """Nodes looked at so far, by walks, locks and evictions."""
        return self._num_visits + self._leaves.num_steps

    def leaves_to_evict(self) -> list[RadixNode]:
        """The leaves that may go, the next one first. Sorts them: for a look, not for an eviction."""
        return self._leaves.in_order()

    def probe(self, tokens: Tokens) -> Match:
        """The longest cached prefix in whole pages. Changes nothing; the prefix may end inside the node."""
        node, num_matched, _ = self._walk(self._whole_pages(tokens))
        return Match(node, num_matched)

    def match_prefix(self, tokens: Tokens) -> Match:
        """The longest cached prefix in whole pages, which now counts as used; a node in which it ends is split there."""
        whole = self._whole_pages(tokens)
        if not whole:
            return Match(self.root, 0)
        node, num_matched, part = self._walk(whole)
        node = self._use(node, part)
        self._leaves.used(node)
        return Match(node, num_matched)

    def insert(
        self,
        tokens: Tokens,
        slots: Sequence[int] = (),
        priority: int = 0,
        inserted_len: int = 0,
        below: RadixNode | None = None,
    ) -> Insertion:
        """Store a sequence; what of it fills no page is left out.

        `slots` has one number a token, or none at all. Of the path, `priority` is the maximum of what was inserted.
        `inserted_len` tokens were inserted by the same request before, so their nodes are not counted as hit again.
        With `below`, the sequence is all tokens down to the end of that node and then `tokens`, and nothing above it is
        compared again. Raises RadixError for slots that do not fit or a node that is not in the tree, TypeError for a
        token that is not hashable; all of them change nothing.
        """
        if len(slots) not in (0, len(tokens)):
            raise RadixError(f"there are {len(slots)} slots for {len(tokens)} tokens; give one for each.")
        whole = self._whole_pages(tokens)
        num_above = sum(len(step.key) for step in self._path(below or self.root))
        node, num_matched, part = self._walk(whole, below)
        new = whole[num_matched:]
        hash(new)
        node = self._use(node, part)
        end, above = num_above + num_matched, node
        while above.parent is not None:
            above.hit_count += end > inserted_len
            above.priority = max(above.priority, priority)
            end -= len(above.key)
            above = above.parent
        if new:
            above, node = node, self._new_node(self._tick(), new, tuple(slots[num_matched : len(whole)]))
            node.hit_count = int(num_above + len(whole) > inserted_len)
            node.priority = priority
            node.parent = above
            above.children[self._first(new, 0)] = node
            self.num_evictable += len(new)
            self._leaves.discard(above)
            self._leaves.add(node)
        else:
            self._leaves.used(node)
        self._listener.inserted(node, len(new))
        return Insertion(node, num_above + num_matched, len(new))

    def lock(self, node: RadixNode) -> None:
        """A running request uses everything from the root to the end of this node. The root itself needs no lock.

        Raises RadixError for a node that is not in the tree.
        """
        for step in self._path(node):
            if not step.lock_ref:
                self.num_evictable -= len(step.key)
                self.num_protected += len(step.key)
            step.lock_ref += 1
        self._leaves.discard(node)
        self._listener.locked(node)

    def unlock(self, node: RadixNode) -> None:
        """One lock less from the root to this node. Raises RadixError for a node without lock or not in the tree."""
        path = self._path(node)
        if not node.lock_ref:
            raise RadixError(f"{len(node.path_tokens())} tokens are unlocked that nobody has locked.")
        for step in path:
            step.lock_ref -= 1
            if not step.lock_ref:
                self.num_evictable += len(step.key)
                self.num_protected -= len(step.key)
        if not node.lock_ref and not node.children:
            self._leaves.add(node)
        self._listener.unlocked(node)

    def evict(self, num_tokens: int) -> list[RadixNode]:
        """Remove whole unlocked leaves until `num_tokens` tokens are gone or no leaf may go, which can be fewer.

        A parent without children left is a leaf at once. Returns the nodes in their order; their slots are free again.
        """
        gone: list[RadixNode] = []
        missing = num_tokens
        while missing > 0 and len(self._leaves):
            node = self._leaves.pop()
            self._remove(node)
            missing -= len(node.key)
            gone.append(node)
        return gone

    def evictable_beside(self, match: Match) -> int:
        """Tokens that could be evicted while the prefix of `match`, from a probe or a match, is kept."""
        kept, end = 0, match.num_tokens
        for node in match.node.path():
            kept += 0 if node.lock_ref else min(end, len(node.key))
            end -= len(node.key)
        return self.num_evictable - kept

    def clear(self) -> None:
        """Forget everything, locks included: nodes that somebody still holds can neither be locked nor unlocked."""
        for node in list(self.root.below()):
            node.parent, node.heap_index = None, -1
        self.root.children = {}
        self.num_evictable = self.num_protected = self.num_nodes = 0
        self._leaves.clear()
        self._listener.cleared()

    def check(self) -> None:
        """Every invariant, node by node. Raises AssertionError."""
        nodes = list(self.root.below())
        assert len(nodes) == self.num_nodes, "the number of nodes is wrong"
        assert self.root.parent is None and self.root.lock_ref == 1 and not self.root.key, "the root has changed"
        for node in (self.root, *nodes):
            for first, child in node.children.items():
                assert child.parent is node, "a child does not know its parent"
                assert child.key and self._first(child.key, 0) == first, "a child is filed under tokens it has not"
            if node is not self.root:
                assert len(node.key) % self.page_size == 0, "a node ends inside a page"
                assert len(node.slots) in (0, len(node.key)), "a node has not one slot for each token"
                locks = sum(child.lock_ref for child in node.children.values())
                assert node.lock_ref >= locks >= 0, "a node has fewer locks than its children"
                assert (node.heap_index >= 0) == (not node.children and not node.lock_ref), (
                    "an evictable leaf is missed"
                )
        assert self.num_evictable == sum(len(n.key) for n in nodes if not n.lock_ref), "num_evictable is wrong"
        assert self.num_protected == sum(len(n.key) for n in nodes if n.lock_ref), "num_protected is wrong"
        assert len(self._leaves) == sum(n.heap_index >= 0 for n in nodes), "a leaf is in the heap and not in the tree"
        self._leaves.check()

    def _whole_pages(self, tokens: Tokens) -> tuple[Hashable, ...]:
        whole = tuple(tokens)
        rest = len(whole) % self.page_size
        return whole[:-rest] if rest else whole

    def _walk(self, tokens: tuple[Hashable, ...], below: RadixNode | None = None) -> tuple[RadixNode, int, int]:
        """Go down as far as the tokens lead: the last node reached, tokens matched, tokens matched inside that node."""
        node, start, end = below or self.root, 0, len(tokens)
        num_visits = 1
        while start < end:
            child = node.children.get(self._first(tokens, start))
            if child is None:
                break
            node, stop = child, start + len(child.key)
            num_visits += 1
            if tokens[start:stop] != node.key:
                part = node.num_common(tokens[start:stop])
                part -= part % self.page_size
                self._num_visits += num_visits
                return node, start + part, part
            start = stop
        self._num_visits += num_visits
        return node, start, len(node.key)

    def _use(self, node: RadixNode, part: int) -> RadixNode:
        """A walk led to the first `part` tokens of `node`: split it there, and note that the path was used."""
        now = self._tick()
        if part == len(node.key):
            node.use(now)
            self._listener.touched(node)
            return node
        upper = self._split(node, part)
        assert upper.parent is not None, "the root is never split"
        if self._lower_is_used:
            node.last_access = now
            self._leaves.used(node)
        upper.parent.use(now)
        if self._upper_is_used:
            upper.last_access = self._tick()
        self._listener.touched(upper if self._upper_is_used else upper.parent)
        return upper

    def _split(self, lower: RadixNode, length: int) -> RadixNode:
        """A new node takes the first `length` tokens of `lower`, its counts and its place; the rest hangs below it."""
        upper = self._new_node(lower.last_access, lower.key[:length], lower.slots[:length])
        upper.place, upper.lock_ref = lower.place, lower.lock_ref
        upper.hit_count, upper.priority = lower.hit_count, lower.priority
        upper.parent, lower.parent = lower.parent, upper
        assert upper.parent is not None, "the root is never split"
        upper.parent.children[self._first(upper.key, 0)] = upper
        lower.key, lower.slots = lower.key[length:], lower.slots[length:]
        upper.children[self._first(lower.key, 0)] = lower
        self._listener.split(upper, lower)
        return upper

    def _new_node(self, now: int, key: tuple[Hashable, ...], slots: tuple[int, ...]) -> RadixNode:
        self._num_created += 1
        self.num_nodes += 1
        return RadixNode(self._num_created, self._num_created, now, key, slots)

    def _remove(self, leaf: RadixNode) -> None:
        self._listener.evicted(leaf)
        parent = leaf.parent
        assert parent is not None, "the root is never evicted"
        del parent.children[self._first(leaf.key, 0)]
        leaf.parent = None
        self.num_evictable -= len(leaf.key)
        self.num_nodes -= 1
        if not parent.children and not parent.lock_ref:
            self._leaves.add(parent)

    def _path(self, node: RadixNode) -> list[RadixNode]:
        """The nodes from this one up to below the root."""
        path = []
        step = node
        while step.parent is not None:
            path.append(step)
            step = step.parent
        if step is not self.root:
            raise RadixError(f"{node} is not in the tree; it was evicted or belongs to another tree.")
        self._num_visits += len(path)
        return path

    def _tick(self) -> int:
        self._now += 1
        return self._now

    def _first_page(self, tokens: Sequence[Hashable], start: int) -> Hashable:
        return tokens[start : start + self.page_size]


def _first_token(tokens: Sequence[Hashable], start: int) -> Hashable:
    return tokens[start]
