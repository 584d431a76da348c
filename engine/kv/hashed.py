"""Paged KV with a prefix cache over full blocks, as vLLM V1 and nano-vllm have it.

A new sequence (or one that resumes) takes over the blocks of its longest known prefix and computes the rest: block
size 4, the tokens 1..8 are cached, so a prompt 1..8 hits one block, because at least one token has to be computed. A
hit that lies in the free list leaves it, so it needs a free block like any new one. Look-ups are probes; nothing
changes before it is certain that everything fits. Which blocks are known is `prefix_cache.py`'s.
"""

from engine.kv.cached_pool import CachedPool
from engine.kv.manager import Allocation, Need
from engine.kv.paged import PagedKV, num_blocks_for
from engine.kv.prefix_cache import Chain, KnownBlocks, Prefix
from engine.request import Prompt, Request
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener


class HashedKV(PagedKV):
    """`allocate` of a sequence without memory counts its new tokens from the end of the hit on."""

    pool: CachedPool

    def __init__(self, settings: Settings, recorder: Listener = SILENT) -> None:
        super().__init__(settings, recorder)
        first, end = settings.block_range
        self.known = KnownBlocks(settings.on_duplicate)
        self.pool = CachedPool(settings.free_list, first, end, settings.block_script, self.known, self._evict)
        self._counts = self.pool.used
        self._keeps_unwritten = settings.keep_unwritten
        self._registers_early = settings.register_at == "schedule"

    def match(self, seq: Sequence) -> int:
        """Tokens of the longest known prefix that `seq` may take over."""
        return 0 if seq.block_table else len(self._hit(seq)) * self.block_size

    def longest_known(self, prompt: Prompt) -> int:
        """Tokens of the longest run of known blocks that `prompt` begins with; all of them may be known."""
        seq = SequenceGroup(Request("", 0.0, prompt), -1, -1, 0, Ticks()).lead
        chain = Chain(seq, self.block_size)
        hit = self.known.longest_hit(chain, prompt.num_tokens // self.block_size)
        self.known.drop(chain)
        return len(hit) * self.block_size

    def fits(self, seq: Sequence, num_new_tokens: int, keep_free: int = 0) -> Need | None:
        if seq.block_table:
            return super().fits(seq, num_new_tokens, keep_free)
        hit = self._hit(seq)
        needed = num_blocks_for(num_new_tokens, self.block_size) + self.pool.num_free_of(hit)
        return Need(needed, self.pool.num_free, "blocks") if needed + keep_free > self.pool.num_free else None

    def allocate(self, seq: Sequence, num_new_tokens: int, lookahead: int = 0, keep_free: int = 0) -> Allocation | None:
        if not seq.block_table:
            return self._begin(seq, num_new_tokens, lookahead, keep_free)
        allocation = super().allocate(seq, num_new_tokens, lookahead, keep_free)
        if self._registers_early and allocation is not None:
            num_learned = self.register(seq, seq.num_computed_tokens + num_new_tokens)
            if num_learned:
                return Allocation(allocation.new_blocks, allocation.copies, 0, num_learned)
        return allocation

    def register(self, seq: Sequence, num_tokens: int) -> int:
        """Full blocks among the first `num_tokens` tokens are known from now on; returns how many are new."""
        num_blocks = num_tokens // self.block_size
        chain = self._chain(seq)
        if num_blocks <= chain.num_registered or num_blocks > len(seq.block_table):
            return 0
        new = self.known.register(chain, seq.block_table, num_blocks)
        if new:
            self._recorder.registered(seq, new)
        return len(new)

    def fork(self, parent: Sequence, child: Sequence) -> None:
        super().fork(parent, child)
        self._chain(child).num_registered = min(self._chain(parent).num_registered, len(child.block_table))

    def free(self, seq: Sequence) -> int:
        chain, seq.chain = seq.chain, None
        if chain is None:
            return super().free(seq)
        first = seq.num_computed_tokens // self.block_size
        if chain.num_registered > first and not self._keeps_unwritten:
            self._evict([block for block in seq.block_table[first : chain.num_registered] if block in self.known])
        self.known.drop(chain)
        return super().free(seq)

    def evict(self, count: int) -> list[Prefix]:
        """Forget the content of at most `count` free cached blocks, the next ones to go; returns what they held."""
        blocks = self.pool.free_list.cached(count)
        prefixes = self._evict(blocks)
        self.pool.free_list.make_plain(blocks)
        self._recorder.emptied(blocks)
        return prefixes

    def reset(self) -> bool:
        """Forget all content, while no block is in use; every block keeps its place."""
        if self.pool.num_used:
            return False
        blocks = self.pool.free_list.cached()
        self._evict(blocks)
        self._recorder.emptied(blocks)
        return True

    def check(self, sequences: list[Sequence]) -> None:
        super().check(sequences)
        self.known.check()
        for block in self.known.held:
            assert self.pool.first <= block < self.pool.first + self.pool.size, "a known block is not of this pool"

    def _begin(self, seq: Sequence, num_new_tokens: int, lookahead: int, keep_free: int) -> Allocation | None:
        """The blocks of the hit, touched before anything is taken, then new ones."""
        hit = self._hit(seq)
        needed = num_blocks_for(num_new_tokens + lookahead, self.block_size)
        if needed + self.pool.num_free_of(hit) + keep_free > self.pool.num_free:
            return None
        if hit:
            self.pool.touch(hit)
            seq.block_table = list(hit)
            seq.take_over(len(hit) * self.block_size)
            self._recorder.hit(seq, hit)
        chain = self._chain(seq)
        chain.num_registered = len(hit)
        new = self._append(seq, needed) if needed else []
        if self._registers_early:
            self.register(seq, seq.num_computed_tokens + num_new_tokens)
        return Allocation(new, (), len(hit) * self.block_size)

    def _hit(self, seq: Sequence) -> list[int]:
        """The longest known prefix; one token at least is left to compute."""
        limit = (seq.group.num_known_at_admission - 1) // self.block_size
        return self.known.longest_hit(self._chain(seq), limit)

    def _chain(self, seq: Sequence) -> Chain:
        if seq.chain is None:
            seq.chain = Chain(seq, self.block_size)
        return seq.chain

    def _evict(self, blocks: list[int]) -> list[Prefix]:
        self._recorder.evicted(blocks)
        return self.known.forget(blocks)
