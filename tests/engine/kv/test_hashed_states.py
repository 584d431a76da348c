"""The prefix cache against a brute-force list of what every block holds, through random operations."""

import random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.kv.hashed import HashedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import CHOICES, Settings

SIZE, NUM_BLOCKS = 2, 7
Tokens = tuple[int, ...]


class Contents:
    """What each block holds: all tokens from the start to its end. Nothing but lists and comparisons."""

    def __init__(self, on_duplicate: str) -> None:
        self.on_duplicate = on_duplicate
        self.of: dict[int, Tokens] = {}
        self.last: dict[Tokens, int] = {}

    def found(self, tokens: Tokens) -> int | None:
        holders = [block for block, held in self.of.items() if held == tokens]
        if self.on_duplicate == "last_writer":
            return self.last[tokens] if self.last.get(tokens) in holders else None
        return holders[0] if holders else None

    def hit(self, tokens: Tokens, num_blocks: int) -> list[int]:
        blocks: list[int] = []
        for index in range(num_blocks):
            block = self.found(tokens[: (index + 1) * SIZE])
            if block is None:
                break
            blocks.append(block)
        return blocks

    def write(self, block: int, tokens: Tokens) -> None:
        if self.on_duplicate != "one" or self.found(tokens) is None:
            self.of[block] = tokens
            self.last[tokens] = block


class CacheMachine(RuleBasedStateMachine):
    """Sequences come, grow, leave, are preempted and resume. A refused operation may change nothing."""

    @initialize(
        on_duplicate=st.sampled_from(CHOICES["on_duplicate"]),
        free_list=st.sampled_from(CHOICES["free_list"]),
    )
    def begin(self, on_duplicate: str, free_list: str) -> None:
        chosen = Settings(
            block_size=SIZE,
            num_blocks=NUM_BLOCKS,
            prefix_caching=True,
            on_duplicate=on_duplicate,
            free_list=free_list,
        )
        self.kv = HashedKV(chosen)
        self.contents = Contents(on_duplicate)
        self.living: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self.num_added = 0

    def tokens_of(self, seq: Sequence) -> Tokens:
        prompt = seq.group.request.prompt.token_ids
        assert prompt is not None
        return (*prompt, *seq.output_token_ids)

    def state(self) -> Any:
        tables = [list(seq.block_table) for seq in self.living + self.waiting]
        held = {block: id(prefix) for block, prefix in self.kv.known.held.items()}
        return tables, dict(self.kv.pool.used), self.kv.pool.free_list.ids(), held

    def grow(self, seq: Sequence, num_tokens: int) -> bool:
        """Allocate and compute; new blocks lose what they held, full ones hold what was written."""
        before, state = list(seq.block_table), self.state()
        promised = self.kv.fits(seq, num_tokens) is None
        allocation = self.kv.allocate(seq, num_tokens)
        assert promised == (allocation is not None)
        if allocation is None:
            assert self.state() == state
            return False
        for block in allocation.new_blocks:
            assert block not in before
            self.contents.of.pop(block, None)
        first = seq.num_computed_tokens // SIZE
        seq.advance(num_tokens)
        for index in range(first, seq.num_computed_tokens // SIZE):
            self.contents.write(seq.block_table[index], self.tokens_of(seq)[: (index + 1) * SIZE])
        return True

    def enter(self, seq: Sequence) -> None:
        tokens = self.tokens_of(seq)
        expected = self.contents.hit(tokens, (len(tokens) - 1) // SIZE)
        assert self.kv.match(seq) == len(expected) * SIZE
        if self.grow(seq, len(tokens) - len(expected) * SIZE):
            assert seq.block_table[: len(expected)] == expected
            assert seq.num_cached_tokens == len(expected) * SIZE < len(tokens)
            self.living.append(seq)
        else:
            self.waiting.append(seq)

    @rule(prompt=st.lists(st.sampled_from([1, 2]), min_size=1, max_size=9).map(tuple))
    def add(self, prompt: Tokens) -> None:
        number, self.num_added = self.num_added, self.num_added + 1
        request = Request(f"r{number}", 0.0, Prompt.of_ids(prompt), SamplingParams(1, 100))
        self.enter(SequenceGroup(request, number, number, 100, Ticks()).lead)

    @precondition(lambda self: self.living)
    @rule(place=st.integers(0, 5), token=st.sampled_from([1, 2]))
    def decode(self, place: int, token: int) -> None:
        seq = self.living[place % len(self.living)]
        seq.output_token_ids.append(token)
        known = seq.num_tokens
        if seq.num_computed_tokens == known:
            seq.sample_one()
        if not self.grow(seq, 1):
            seq.output_token_ids.pop()
            self.stop(seq)

    @precondition(lambda self: self.living)
    @rule(place=st.integers(0, 5))
    def finish(self, place: int) -> None:
        self.stop(self.living[place % len(self.living)])

    def stop(self, seq: Sequence) -> None:
        self.living.remove(seq)
        table, used = list(seq.block_table), dict(self.kv.pool.used)
        assert self.kv.free(seq) == sum(used[block] == 1 for block in table)

    @precondition(lambda self: self.living)
    @rule(place=st.integers(0, 5))
    def preempt(self, place: int) -> None:
        seq = self.living[place % len(self.living)]
        if len(self.tokens_of(seq)) == seq.num_tokens:
            self.stop(seq)
            seq.reset()
            self.waiting.append(seq)

    @precondition(lambda self: self.waiting)
    @rule(place=st.integers(0, 5))
    def resume(self, place: int) -> None:
        self.enter(self.waiting.pop(place % len(self.waiting)))

    @rule()
    def give_up(self) -> None:
        """Nobody waits any more."""
        for seq in self.waiting:
            assert self.kv.free(seq) == 0
        self.waiting.clear()

    @rule(count=st.integers(0, 3))
    def evict(self, count: int) -> None:
        expected = self.kv.pool.free_list.cached(count)
        held = [self.contents.of[block] for block in expected]
        evicted = self.kv.evict(count)
        assert [prefix.tokens for prefix in evicted] == [tokens[-SIZE:] for tokens in held]
        assert [prefix.num_blocks * SIZE for prefix in evicted] == [len(tokens) for tokens in held]
        for block in expected:
            del self.contents.of[block]

    @rule(prompt=st.lists(st.sampled_from([1, 2]), max_size=9).map(tuple))
    def look(self, prompt: Tokens) -> None:
        state = self.state()
        expected = len(self.contents.hit(prompt, len(prompt) // SIZE)) * SIZE
        assert self.kv.longest_known(Prompt.of_ids(prompt)) == expected
        assert self.state() == state

    @invariant()
    def everything_balances(self) -> None:
        if not hasattr(self, "kv"):
            return
        self.kv.check(self.living)
        free = self.kv.pool.free_list.ids()
        assert len(free) == len(set(free)) == NUM_BLOCKS - len(self.kv.pool.used)
        assert set(self.kv.known.held) == set(self.contents.of)
        for block, prefix in self.kv.known.held.items():
            tokens: Tokens = ()
            step = prefix
            while step is not None:
                tokens, step = (*step.tokens, *tokens), step.parent  # type: ignore[assignment]
            assert tokens == self.contents.of[block]
        assert self.kv.known.num_prefixes <= len(self.kv.known.held) * 5 + 5 * (len(self.living) + len(self.waiting))


TestCache = CacheMachine.TestCase
TestCache.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


def test_a_long_random_life_ends_with_an_empty_cache() -> None:
    """Thousands of operations, seeded; at the end nothing is held and nothing is remembered."""
    rng = random.Random(5)
    machine = CacheMachine()
    machine.begin("keep_first", "uncached_first")
    for _ in range(3_000):
        kind = rng.random()
        if kind < 0.4 or not machine.living:
            machine.add(tuple(rng.choice([1, 2]) for _ in range(rng.randint(1, 9))))
        elif kind < 0.6:
            machine.decode(rng.randrange(6), rng.choice([1, 2]))
        else:
            machine.finish(rng.randrange(6))
        machine.give_up()
    for seq in list(machine.living):
        machine.stop(seq)
    machine.everything_balances()
    assert machine.kv.reset()
    assert machine.kv.known.num_prefixes == 0
