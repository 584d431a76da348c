"""Which full blocks are known, and by what: all tokens from the start of a sequence to the end of the block.

A `Prefix` stands for these tokens. There is one object for equal tokens, found by (prefix before the block, tokens of
the block), so comparing a whole prefix is one look-up that compares the tokens of one block; a hash alone never
decides. A prefix stays as long as somebody needs it: a block that holds it, a longer prefix, a sequence in its chain.

Engines differ in what becomes of equal blocks: `one` is known (the first to fill), or all of them are and a look-up
finds the first (`keep_first`, vLLM V1) or the last (`last_writer`, nano-vllm: without it older ones are out of reach).
"""

from typing import Protocol

from engine.kv.content import BlockContent, Tokens
from engine.sequence import Sequence


class Prefix:
    """All tokens up to the end of a block. `block` is the one that a look-up finds, `others` are equal ones."""

    __slots__ = ("block", "key", "num_uses", "others")

    def __init__(self, key: "tuple[Prefix | None, Tokens]") -> None:
        self.key = key
        self.block: int | None = None
        self.others: dict[int, None] | None = None
        self.num_uses = 0

    @property
    def parent(self) -> "Prefix | None":
        return self.key[0]

    @property
    def tokens(self) -> Tokens:
        """The tokens of the last block."""
        return self.key[1]

    @property
    def num_blocks(self) -> int:
        prefix, count = self.parent, 1
        while prefix is not None:
            prefix, count = prefix.parent, count + 1
        return count


class Chain:
    """The prefixes of one sequence as far as anybody asked for them. `num_registered` blocks have been made known.

    `hit` is the result of the last look-up; it holds until the known blocks change (`seen`). `unknown` is the key after
    the last of `prefixes`, once somebody looked for it in vain: who waits will look for it again.
    """

    __slots__ = ("content", "hit", "num_registered", "prefixes", "seen", "unknown")

    def __init__(self, seq: Sequence, block_size: int) -> None:
        self.content = BlockContent(seq, block_size)
        self.prefixes: list[Prefix] = []
        self.num_registered = 0
        self.hit: list[int] = []
        self.seen: tuple[int, int] | None = None
        self.unknown: tuple[int, tuple[Prefix | None, Tokens]] | None = None


class KnownBlocks:
    """The prefixes in use and the blocks that hold them."""

    def __init__(self, on_duplicate: str) -> None:
        self._on_duplicate = on_duplicate
        self._prefixes: dict[tuple[Prefix | None, Tokens], Prefix] = {}
        self.held: dict[int, Prefix] = {}
        self._num_changes = 0

    def __contains__(self, block: int) -> bool:
        return block in self.held

    @property
    def num_prefixes(self) -> int:
        return len(self._prefixes)

    def longest_hit(self, chain: Chain, limit: int) -> list[int]:
        """Blocks for the leading prefixes of a chain that are known, at most `limit`. The chain only grows by these."""
        if chain.seen == (self._num_changes, limit):
            return chain.hit
        prefixes: list[Prefix] = chain.prefixes
        found: list[int] = []
        for index in range(limit):
            if index == len(prefixes):
                if chain.unknown is None or chain.unknown[0] != index:
                    parent = prefixes[-1] if prefixes else None
                    chain.unknown = index, (parent, chain.content.block(index))
                prefix = self._prefixes.get(chain.unknown[1])
                if prefix is None:
                    break
                self._append(prefixes, prefix)
            block = prefixes[index].block
            if block is None:
                break
            found.append(block)
        chain.hit, chain.seen = found, (self._num_changes, limit)
        return found

    def register(self, chain: Chain, table: list[int], num_blocks: int) -> list[int]:
        """The first `num_blocks` blocks of a table are full: those that are new become known. Returns these."""
        self._num_changes += 1
        prefixes, known, held = chain.prefixes, self._prefixes, self.held
        last = prefixes[-1] if prefixes else None
        for tokens in chain.content.blocks(len(prefixes), num_blocks):
            made = Prefix((last, tokens))
            last = known.setdefault(made.key, made)
            if last is made:
                made.num_uses = 1
                prefixes.append(made)
            else:
                self._append(prefixes, last)
        new = []
        for index in range(chain.num_registered, num_blocks):
            block, prefix = table[index], prefixes[index]
            if block in held:
                continue
            if prefix.block is None:
                prefix.block = block
            elif not self._add_equal(block, prefix):
                continue
            held[block] = prefix
            prefix.num_uses += 1
            new.append(block)
        chain.num_registered = max(chain.num_registered, num_blocks)
        return new

    def forget(self, blocks: list[int]) -> list[Prefix]:
        """The blocks lose their content; returns what they held."""
        self._num_changes += 1
        forgotten = []
        for block in blocks:
            prefix = self.held.pop(block)
            if prefix.block == block:
                prefix.block = self._next_equal(prefix) if prefix.others else None
            elif prefix.others:
                prefix.others.pop(block, None)
            self._release(prefix)
            forgotten.append(prefix)
        return forgotten

    def drop(self, chain: Chain) -> None:
        """A sequence gives up its chain."""
        if chain.prefixes:
            self._release(chain.prefixes[-1])

    def check(self) -> None:
        """Every known block holds its prefix, and every prefix has as many users as it counts."""
        uses = dict.fromkeys(self._prefixes.values(), 0)
        for prefix in self._prefixes.values():
            if prefix.parent is not None:
                uses[prefix.parent] += 1
        for block, prefix in self.held.items():
            uses[prefix] += 1
            assert self._prefixes[prefix.key] is prefix, "a block holds a prefix that nobody can find"
            is_found = prefix.block == block or block in (prefix.others or ())
            assert is_found or self._on_duplicate == "last_writer", "a known block is not listed by its prefix"
        for prefix, count in uses.items():
            assert prefix.block is None or self.held.get(prefix.block) is prefix, "a prefix names a block of others"
            assert prefix.num_uses >= max(count, 1), "a prefix is used more often than it counts"

    def _add_equal(self, block: int, prefix: Prefix) -> bool:
        """Another block with content that is known already; returns whether it is known as well."""
        if self._on_duplicate == "last_writer":
            prefix.block = block
        elif self._on_duplicate == "keep_first":
            prefix.others = prefix.others or {}
            prefix.others[block] = None
        return self._on_duplicate != "one"

    @staticmethod
    def _next_equal(prefix: Prefix) -> int:
        """The oldest of the other blocks takes the place of the first."""
        others = prefix.others or {}
        block = next(iter(others))
        del others[block]
        return block

    @staticmethod
    def _append(prefixes: list[Prefix], prefix: Prefix) -> None:
        """A chain keeps its last prefix alive, and this one those before it."""
        prefix.num_uses += 1
        if prefixes:
            prefixes[-1].num_uses -= 1
        prefixes.append(prefix)

    def _release(self, prefix: Prefix) -> None:
        """One user less; prefixes without users go, the last block first."""
        current: Prefix | None = prefix
        while current is not None:
            current.num_uses -= 1
            if current.num_uses:
                return
            del self._prefixes[current.key]
            current = current.key[0]


class PrefixCache(Protocol):
    """What the scheduler asks of a cache beyond `allocate`."""

    def match(self, seq: Sequence) -> int:
        """A probe: tokens that `seq`, which has no memory yet, would find. At least one of its tokens stays."""

    def register(self, seq: Sequence, num_tokens: int) -> int:
        """Of `seq` the first `num_tokens` tokens are stored (or will be when the step is over): full blocks are known.
        Returns how many are new."""


class NoPrefixCache:
    """Nothing is ever found."""

    def match(self, seq: Sequence) -> int:
        return 0

    def register(self, seq: Sequence, num_tokens: int) -> int:
        return 0
