"""Paged KV under a radix tree of prefixes, as SGLang has it: one pool for cached and running tokens.

At admission a sequence takes over the blocks of its longest cached prefix and locks them up to the root; the rest it
computes. Once computed, its prompt is inserted page by page: where the tree has these tokens already, its own blocks go
back and its table names those of the tree. At its end the answer follows, all but the last token, which has no KV. What
nobody reads stays in the tree until a block is missing; then whole unlocked leaves go, so the tree yields to a larger
batch. Who is preempted gives up its lock and inserts nothing.
"""

from dataclasses import dataclass
from itertools import takewhile

from engine.kv.eviction import policy_of
from engine.kv.manager import Allocation, KVError, Need
from engine.kv.paged import PagedKV, num_blocks_for
from engine.kv.radix_node import Insertion, Match, RadixListener, RadixNode
from engine.kv.radix_pool import RadixPool
from engine.kv.radix_tree import RadixTree
from engine.kv.token_ids import TokenIds
from engine.request import SequenceStatus
from engine.sequence import Sequence, SequenceGroup
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener


@dataclass(slots=True)
class Held:
    """What a sequence has locked: the node in which its part of the tree ends, and the tokens up to there;
    `num_inserted` of its tokens it has inserted itself."""

    node: RadixNode
    num_tokens: int
    num_inserted: int = 0


class RadixKV(PagedKV):
    """`allocate` of a sequence without memory counts its new tokens from the end of the hit on. A page is a block."""

    pool: RadixPool

    def __init__(self, settings: Settings, recorder: Listener = SILENT) -> None:
        super().__init__(settings, recorder)
        first, end = settings.block_range
        self.pool = RadixPool(settings.free_list, first, end, settings.block_script, self._make_room_for)
        self._counts = self.pool.used
        self._words = TreeWords(recorder)
        self.tree = RadixTree(self.block_size, policy_of(settings.eviction), settings.split_age, self._words)
        self.token_ids = TokenIds()
        self._eviction = settings.eviction
        self._held: dict[int, Held] = {}

    def match(self, seq: Sequence) -> int:
        """Tokens of the longest cached prefix that `seq` may take over."""
        return 0 if seq.block_table else self._probe(seq).num_tokens

    def look_up(self, seq: Sequence, touches: bool) -> Match:
        """The longest cached prefix of `seq`, for an order of the queue; with `touches` it counts as used."""
        return self.tree.match_prefix(self._findable(seq)) if touches else self._probe(seq)

    def fits(self, seq: Sequence, num_new_tokens: int, keep_free: int = 0) -> Need | None:
        if seq.block_table:
            return super().fits(seq, num_new_tokens, keep_free)
        needed = num_blocks_for(num_new_tokens, self.block_size)
        available = self._available_beside(self._probe(seq))
        return Need(needed, available, "blocks") if needed + keep_free > available else None

    def allocate(self, seq: Sequence, num_new_tokens: int, lookahead: int = 0, keep_free: int = 0) -> Allocation | None:
        self._words.reader = seq
        if not seq.block_table:
            return self._begin(seq, num_blocks_for(num_new_tokens + lookahead, self.block_size), keep_free)
        return super().allocate(seq, num_new_tokens, lookahead, keep_free)

    def hold(self, seq: Sequence, node: RadixNode, num_tokens: int) -> None:
        """`seq`, which has no memory, takes over the `num_tokens` tokens down to the end of `node` and locks them."""
        blocks = self._blocks_between(self.tree.root, node)
        self.pool.share(blocks)
        seq.block_table = blocks
        seq.take_over(num_tokens)
        self._held[seq.index] = Held(node, num_tokens)
        if blocks:
            self._recorder.matched(seq, node, list(blocks))
        self._lock(seq, node)

    def keep(self, tokens: tuple[int, ...], node: RadixNode) -> tuple[Insertion, list[RadixNode]]:
        """Store tokens that nobody reads; `node` is where their cached part ends. The caller has seen that the rest fits.
        Returns what was stored and which leaves went for it."""
        self._words.reader = None
        size = self.block_size
        num_cached = len(node.path_tokens())
        num_new = (len(tokens) - num_cached) // size
        gone = self.make_room((num_new - self.pool.num_empty) * size, kept=node)
        blocks = self.pool.take(num_new)
        slots = node.path_slots() + [slot for block in blocks for slot in range(block * size, (block + 1) * size)]
        inserted = self.tree.insert(tokens[: len(slots)], slots)
        self.pool.store(blocks)
        self.pool.release(blocks)
        self._recorder.kept(blocks)
        return inserted, gone

    def register(self, seq: Sequence, num_tokens: int) -> int:
        """Whole pages among the first `num_tokens` tokens, which are computed, are in the tree from now on; returns how
        many of them `seq` holds there for the first time."""
        held = self._held[seq.index]
        num_pages = (num_tokens - held.num_tokens) // self.block_size
        if num_pages > 0:
            first = held.num_tokens // self.block_size
            shared = seq.block_table[first : first + num_pages]
            self._insert(seq, held, num_pages)
            for fork in seq.group.sequences:
                if fork is not seq and fork.index in self._held:
                    self._follow(fork, first, shared)
        return max(num_pages, 0)

    def fork(self, parent: Sequence, child: Sequence) -> None:
        super().fork(parent, child)
        if child.block_table:
            held = self._held[parent.index]
            self._held[child.index] = Held(held.node, held.num_tokens, held.num_inserted)
            self._lock(child, held.node)

    def free(self, seq: Sequence) -> int:
        """Give up everything; a sequence with its last token leaves in the tree what it has computed."""
        held = self._held.get(seq.index)
        if held is None:
            return 0
        if seq.status is SequenceStatus.FINISHED:
            self.register(seq, seq.num_computed_tokens)
        del self._held[seq.index]
        self._unlock(seq, held.node)
        table, seq.block_table = seq.block_table, []
        freed = self.pool.release(table)
        self._recorder.freed(seq, table, freed)
        return len(freed)

    def move_out(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        raise KVError("a radix tree does not move requests to host memory.")

    def move_in(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        raise KVError("a radix tree does not move requests to host memory.")

    def check(self, sequences: list[Sequence]) -> None:
        super().check(sequences)
        self.tree.check()
        size, nodes = self.block_size, list(self.tree.root.below())
        stored = [block for node in nodes for block in self._blocks(node.slots)]
        assert len(stored) == len(set(stored)) and set(stored) == self.pool.stored, "the tree and the pool disagree"
        assert self.tree.num_evictable == self.pool.num_cached * size, "a cached block is locked, or a read one is not"
        slots = [slot for block in stored for slot in range(block * size, (block + 1) * size)]
        assert [slot for node in nodes for slot in node.slots] == slots, "a page is not one block"
        locks = dict.fromkeys(nodes, 0)
        for seq in sequences:
            held = self._held.get(seq.index)
            assert (held is None) == (not seq.block_table), "a sequence has memory and no lock, or a lock and no memory"
            if held is not None:
                path = self._blocks(held.node.path_slots())
                assert len(path) * size == held.num_tokens, "a lock does not end where its sequence thinks"
                assert seq.block_table[: len(path)] == path, "a table does not name the blocks of the tree"
                for node in held.node.path():
                    locks[node] += 1
        assert all(node.lock_ref == count for node, count in locks.items()), "a lock without a sequence"

    def _begin(self, seq: Sequence, num_new: int, keep_free: int) -> Allocation | None:
        """The cached prefix is found, which may split a node; room is made; then lock, take over, take new blocks."""
        if num_new + keep_free > self._available_beside(self._probe(seq)):
            return None
        num_nodes = self.tree.num_nodes
        node, num_tokens = self.tree.match_prefix(self._findable(seq))
        if self.tree.num_nodes > num_nodes:
            self._recorder.close()
        self.make_room((num_new - self.pool.num_empty) * self.block_size, kept=node)
        self.hold(seq, node, num_tokens)
        return Allocation(self._append(seq, num_new) if num_new else (), (), num_tokens)

    def _insert(self, seq: Sequence, held: Held, num_pages: int) -> None:
        """The next pages of `seq` are in the tree: its own blocks, or those that hold the same tokens already."""
        size, first = self.block_size, held.num_tokens // self.block_size
        end = first + num_pages
        own = seq.block_table[first:end]
        slots = [slot for block in own for slot in range(block * size, (block + 1) * size)]
        self._words.reader = seq
        tokens = self.token_ids.of(seq, end * size, held.num_tokens)
        priority = -seq.group.request.priority
        inserted = self.tree.insert(tokens, slots, priority, held.num_inserted, held.node)
        blocks = self._blocks_between(held.node, inserted.node)
        if inserted.num_new:
            new = blocks[num_pages - inserted.num_new // size :]
            self.pool.store(new)
            self._recorder.stored(seq, new)
        swapped = {first + i: block for i, block in enumerate(own) if block != blocks[i]}
        self.pool.share(blocks[index - first] for index in swapped)
        seq.block_table[first:end] = blocks
        freed = self.pool.release(swapped.values())
        if swapped:
            self._recorder.merged(seq, swapped, freed)
        self._lock(seq, inserted.node)
        self._unlock(seq, held.node)
        held.node, held.num_tokens, held.num_inserted = inserted.node, end * size, end * size

    def _follow(self, fork: Sequence, first: int, shared: list[int]) -> None:
        """A fork that was made before these pages were inserted holds them as well."""
        held = self._held[fork.index]
        pairs = zip(fork.block_table[first:], shared, strict=False)
        num_pages = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if num_pages and held.num_tokens == first * self.block_size:
            self._insert(fork, held, num_pages)

    def make_room(self, num_tokens: int, kept: RadixNode | None = None) -> list[RadixNode]:
        """Whole leaves go, one transaction each, until so many tokens are free or none may go; `kept` and all above it
        stay. Returns them in their order."""
        missing, gone = num_tokens, []
        while missing > 0 and self.tree.num_evictable:
            self._words.missing, self._words.free = missing, self.pool.num_empty * self.block_size
            if kept is not None:
                self.tree.lock(kept)
            leaves = self.tree.evict(1)
            if kept is not None:
                self.tree.unlock(kept)
            if not leaves:
                break
            self.pool.forget(self._blocks(leaves[0].slots))
            self._recorder.close()
            missing -= len(leaves[0].key)
            gone += leaves
        return gone

    def _make_room_for(self, num_blocks: int) -> None:
        self.make_room(num_blocks * self.block_size)

    def _lock(self, seq: Sequence, node: RadixNode) -> None:
        before = self.tree.num_protected
        self.tree.lock(node)
        if node.parent is not None:
            self._recorder.node_locked(seq, node, self.tree.num_protected - before)

    def _unlock(self, seq: Sequence, node: RadixNode) -> None:
        before = self.tree.num_protected
        self.tree.unlock(node)
        if node.parent is not None:
            self._recorder.node_unlocked(seq, node, before - self.tree.num_protected)

    def _probe(self, seq: Sequence) -> Match:
        return self.tree.probe(self._findable(seq))

    def _findable(self, seq: Sequence) -> tuple[int, ...]:
        """The tokens of `seq` that may be found: one at least is left to compute."""
        return self.token_ids.of(seq, seq.group.num_known_at_admission - 1)

    def _available_beside(self, match: Match) -> int:
        """Blocks that `match` leaves to be taken: free ones, and cached ones outside of it."""
        return self.pool.num_empty + self.tree.evictable_beside(match) // self.block_size

    def _blocks(self, slots: list[int] | tuple[int, ...]) -> list[int]:
        return [slot // self.block_size for slot in slots[:: self.block_size]]

    def _blocks_between(self, above: RadixNode, node: RadixNode) -> list[int]:
        """The blocks from the end of `above` down to the end of `node`."""
        parts = []
        while node is not above:
            parts.append(self._blocks(node.slots))
            assert node.parent is not None, "a node lies above another one"
            node = node.parent
        return [block for part in reversed(parts) for block in part]


class TreeWords(RadixListener):
    """What the tree tells of itself, passed on to a recorder with what the tree does not know: for whom it happens
    (`reader`), and of an eviction how many tokens are `missing` and how many `free`."""

    def __init__(self, recorder: Listener) -> None:
        self._recorder = recorder
        self.reader: Sequence | None = None
        self.missing = 0
        self.free = 0

    def split(self, upper: RadixNode, lower: RadixNode) -> None:
        self._recorder.node_split(upper, lower)

    def touched(self, node: RadixNode) -> None:
        self._recorder.node_touched(node)

    def inserted(self, node: RadixNode, num_new: int) -> None:
        if num_new:
            self._recorder.node_inserted(self.reader, node)

    def evicted(self, node: RadixNode) -> None:
        self._recorder.node_evicted(self.reader, node, self.missing, self.free)
