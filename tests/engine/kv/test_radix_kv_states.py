"""The radix manager against a brute-force set of prefixes: sequences come, compute in parts, fork, grow, leave, are
preempted and resume. After each operation every slot is in one place, locks reach to the root, and sizes add up.

The plain model keeps every stored prefix of whole pages with its block and finds the longest one by trying all. Which
leaf goes first is the tree's own test; here what goes may be read by nobody, is the end of a branch, and was needed.
"""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.kv.eviction import POLICIES
from engine.kv.radix import RadixKV
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import CHOICES, Settings

Prefix = tuple[int, ...]

PROMPTS = st.lists(st.sampled_from([1, 2]), min_size=1, max_size=10).map(tuple)
PLACES = st.integers(0, 5)
NUM_SLOTS = 12


class RadixAgainstASetOfPrefixes(RuleBasedStateMachine):
    """A refused operation may change nothing."""

    @initialize(
        page_size=st.sampled_from([1, 2, 3]),
        eviction=st.sampled_from([*POLICIES]),
        split_age=st.sampled_from(CHOICES["split_age"]),
        free_list=st.sampled_from(CHOICES["free_list"]),
    )
    def begin(self, page_size: int, eviction: str, split_age: str, free_list: str) -> None:
        self.size, self.num_blocks = page_size, NUM_SLOTS // page_size
        self.kv = RadixKV(
            Settings(
                kv_manager="radix",
                block_size=page_size,
                num_blocks=self.num_blocks,
                eviction=eviction,
                split_age=split_age,
                free_list=free_list,
            )
        )
        self.stored: dict[Prefix, int] = {}
        self.living: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self.num_added = 0

    # the plain model

    def tokens_of(self, seq: Sequence) -> Prefix:
        return (*(seq.group.request.prompt.token_ids or ()), *seq.output_token_ids)

    def pages(self, tokens: Prefix, end: int) -> list[Prefix]:
        """The prefixes of the first `end` tokens that end with a whole page, the shortest first."""
        return [tokens[:stop] for stop in range(self.size, end + 1, self.size)]

    def longest(self, tokens: Prefix) -> list[int]:
        """Blocks of the longest stored prefix that leaves one token to compute."""
        found: list[int] = []
        for prefix in self.pages(tokens, len(tokens) - 1):
            if prefix not in self.stored:
                break
            found.append(self.stored[prefix])
        return found

    def in_tree(self) -> dict[Prefix, int]:
        held: dict[Prefix, int] = {}
        for node in self.kv.tree.root.below():
            path, slots = node.path_tokens(), node.path_slots()
            held |= {prefix: slots[len(prefix) - 1] // self.size for prefix in self.pages(path, len(path))}
        return held

    def store(self, seq: Sequence) -> None:
        """The whole pages that `seq` has computed are stored; of equal ones the tree keeps its own."""
        table = seq.block_table
        for index, prefix in enumerate(self.pages(self.tokens_of(seq), seq.num_computed_tokens)):
            self.stored.setdefault(prefix, table[index])

    def take_evictions(self, read: set[int]) -> int:
        """What left the tree is not stored any more; somebody reads `read`. Returns how many blocks went."""
        left = self.in_tree()
        gone = {prefix: block for prefix, block in self.stored.items() if prefix not in left}
        self.stored = {prefix: block for prefix, block in self.stored.items() if prefix in left}
        assert not read & set(gone.values()), "somebody reads what was evicted"
        ends = {prefix[: len(prefix) - self.size] for prefix in self.stored}
        assert not ends & gone.keys(), "a page lost the page before it"
        return len(gone)

    # operations

    def state(self) -> Any:
        kv = self.kv
        tables = [(list(seq.block_table), seq.num_computed_tokens) for seq in (*self.living, *self.waiting)]
        nodes = [(n.number, n.key, n.slots, n.lock_ref, n.last_access, n.hit_count) for n in kv.tree.root.below()]
        return tables, nodes, dict(kv.pool.used), kv.pool.free_list.ids(), kv.tree.num_evictable, kv.tree.num_protected

    def allocate(self, seq: Sequence, num_tokens: int, kept: list[int]) -> bool:
        before, table, num_empty = self.state(), list(seq.block_table), self.kv.pool.num_empty
        read = {block for other in self.living for block in other.block_table} | set(kept)
        promised = self.kv.fits(seq, num_tokens) is None
        allocation = self.kv.allocate(seq, num_tokens)
        assert promised == (allocation is not None)
        if allocation is None:
            assert self.state() == before
            return False
        num_taken = len(allocation.new_blocks) + sum(copy[1] not in allocation.new_blocks for copy in allocation.copies)
        num_gone = self.take_evictions(read)
        assert (num_gone > 0) == (num_taken > num_empty), "evicted in vain, or a block came from nowhere"
        assert num_empty + num_gone >= num_taken
        assert not set(allocation.new_blocks) & {*table, *self.stored.values()}
        seq.advance(num_tokens)
        return True

    def register(self, seq: Sequence) -> None:
        self.kv.register(seq, seq.num_computed_tokens)
        self.store(seq)
        count = seq.num_computed_tokens // self.size
        wanted = [self.stored[prefix] for prefix in self.pages(self.tokens_of(seq), seq.num_computed_tokens)]
        assert seq.block_table[:count] == wanted, "a table names other blocks than the tree"

    def enter(self, seq: Sequence, num_first: int, registers: bool) -> None:
        tokens, hit = self.tokens_of(seq), self.longest(self.tokens_of(seq))
        assert self.kv.match(seq) == len(hit) * self.size < len(tokens)
        num_tokens = min(num_first, len(tokens) - len(hit) * self.size)
        if not self.allocate(seq, num_tokens, hit):
            self.waiting.append(seq)
            return
        assert seq.block_table[: len(hit)] == hit and seq.num_cached_tokens == len(hit) * self.size
        self.living.append(seq)
        if registers:
            self.register(seq)

    def leave(self, seq: Sequence) -> None:
        table, used = list(seq.block_table), dict(self.kv.pool.used)
        if seq.status is SequenceStatus.FINISHED:
            self.store(seq)
        self.living.remove(seq)
        num_freed = self.kv.free(seq)
        assert num_freed <= len(table)
        if seq.status is not SequenceStatus.FINISHED:
            assert num_freed == sum(used[block] == 1 for block in table)
        assert seq.block_table == [] and self.kv.free(seq) == 0

    @rule(prompt=PROMPTS, n=st.sampled_from([1, 1, 2]), num_first=st.integers(1, 10), registers=st.booleans())
    def add(self, prompt: Prefix, n: int, num_first: int, registers: bool) -> None:
        number, self.num_added = self.num_added, self.num_added + 1
        request = Request(f"r{number}", 0.0, Prompt.of_ids(prompt), SamplingParams(n, 100), priority=number % 3)
        self.enter(SequenceGroup(request, number, 2 * number, 100, Ticks()).lead, num_first, registers)

    @precondition(lambda self: self.living)
    @rule(place=PLACES, num_tokens=st.integers(1, 10), registers=st.booleans())
    def go_on(self, place: int, num_tokens: int, registers: bool) -> None:
        """The next part of a prompt that is not computed yet."""
        seq = self.living[place % len(self.living)]
        missing = len(self.tokens_of(seq)) - seq.num_computed_tokens
        if missing and self.allocate(seq, min(missing, num_tokens), []) and registers:
            self.register(seq)

    @precondition(lambda self: self.living)
    @rule(place=PLACES, token=st.sampled_from([1, 2]))
    def decode(self, place: int, token: int) -> None:
        seq = self.living[place % len(self.living)]
        if len(self.tokens_of(seq)) > seq.num_computed_tokens:
            return
        seq.output_token_ids.append(token)
        seq.sample_one()
        if not self.allocate(seq, 1, []):
            self.leave(seq)

    @precondition(lambda self: self.living)
    @rule(place=PLACES)
    def fork(self, place: int) -> None:
        seq = self.living[place % len(self.living)]
        child = seq.group.sequences[-1]
        if child is seq or child in self.living or seq.num_computed_tokens != seq.group.prompt_len:
            return
        if not seq.output_token_ids and not child.num_computed_tokens:
            self.kv.fork(seq, child)
            assert child.block_table == seq.block_table
            self.living.append(child)

    @precondition(lambda self: self.living)
    @rule(place=PLACES)
    def finish(self, place: int) -> None:
        seq = self.living[place % len(self.living)]
        seq.status = SequenceStatus.FINISHED
        self.leave(seq)

    @precondition(lambda self: self.living)
    @rule(place=PLACES)
    def preempt(self, place: int) -> None:
        """Whole requests leave; they insert nothing."""
        group = self.living[place % len(self.living)].group
        for seq in [seq for seq in self.living if seq.group is group]:
            self.leave(seq)
            seq.reset()
            if len(group.sequences) == 1:
                self.waiting.append(seq)

    @precondition(lambda self: self.waiting)
    @rule(place=PLACES, registers=st.booleans())
    def resume(self, place: int, registers: bool) -> None:
        self.enter(self.waiting.pop(place % len(self.waiting)), 100, registers)

    @rule(num_tokens=st.integers(0, NUM_SLOTS))
    def make_room(self, num_tokens: int) -> None:
        evictable = self.kv.tree.num_evictable
        gone = self.kv.make_room(num_tokens)
        freed = sum(len(node.key) for node in gone)
        assert min(num_tokens, evictable) <= freed <= evictable
        read = {block for seq in self.living for block in seq.block_table}
        assert self.take_evictions(read) * self.size == freed

    @invariant()
    def everything_balances(self) -> None:
        if not hasattr(self, "kv"):
            return
        kv, size = self.kv, self.size
        kv.check(self.living)
        assert self.in_tree() == self.stored
        free = kv.pool.free_list.ids()
        tables = [block for seq in self.living for block in seq.block_table]
        assert sum(kv.pool.used.values()) == len(tables) and set(kv.pool.used) == set(tables)
        places = [*free, *{*tables, *self.stored.values()}]
        assert sorted(places) == list(range(self.num_blocks)), "a block is in no place, or in two"
        own = set(tables) - set(self.stored.values())
        assert len(free) + len(self.stored) + len(own) == self.num_blocks
        assert kv.tree.num_evictable + kv.tree.num_protected == len(self.stored) * size
        read = set(self.stored.values()) & set(tables)
        assert kv.tree.num_protected == len(read) * size, "what somebody reads is locked, and nothing else"
        for node in kv.tree.root.below():
            assert node.lock_ref >= sum(child.lock_ref for child in node.children.values()) >= 0
        assert all(seq.num_cached_tokens < len(self.tokens_of(seq)) for seq in self.living)


TestRadixKV = RadixAgainstASetOfPrefixes.TestCase
TestRadixKV.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize("page_size", [1, 2, 3])
def test_who_has_left_leaves_nothing_but_the_tree(page_size: int) -> None:
    machine = RadixAgainstASetOfPrefixes()
    machine.begin(page_size, "lru", "upper", "fifo")
    for prompt in ((1, 2, 1, 2, 1, 1), (1, 2, 1, 1, 1), (2, 2, 2, 2), (1, 2, 1, 2, 2)):
        machine.add(prompt, 1, 100, True)
        machine.finish(0)
        machine.everything_balances()
    assert not machine.living and machine.kv.num_used == 0
    machine.make_room(NUM_SLOTS)
    machine.everything_balances()
    assert machine.stored == {} and machine.kv.pool.num_empty == machine.num_blocks
