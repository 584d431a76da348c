"""Paged KV: block tables, blocks on demand, reference counts, copy-on-write (vLLM paper, sections 4.2 to 4.5).

Token k of a sequence lies in block table[k // block_size] at offset k % block_size. A block is taken when its first
token is stored. After a fork nobody may write to the open block before asking: whoever writes while others read gets
a copy, the last one writes in place. Full blocks are never written again, so they are never copied.
"""

from engine.kv.block_pool import BlockPool
from engine.kv.manager import NOTHING, Allocation, KVError, Need
from engine.sequence import Sequence, SequenceGroup
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener


def num_blocks_for(num_tokens: int, block_size: int) -> int:
    """Blocks that hold `num_tokens` tokens."""
    return -(-num_tokens // block_size)


def last_block_fill(num_tokens: int, block_size: int) -> int:
    """Tokens in the last block; a full block counts as full, not as empty."""
    return (num_tokens - 1) % block_size + 1 if num_tokens else 0


def num_new_blocks(num_stored: int, num_new: int, block_size: int) -> int:
    """Blocks that have to be taken when `num_new` tokens follow `num_stored` stored ones."""
    return num_blocks_for(num_stored + num_new, block_size) - num_blocks_for(num_stored, block_size)


class PagedKV:
    """The pool of the device, the pool of the host, and the tables that point into them."""

    resource = "blocks"
    is_reserved = False

    def __init__(self, settings: Settings, recorder: Listener = SILENT) -> None:
        first, end = settings.block_range
        self.block_size = settings.block_size
        self.is_unlimited = settings.pool_blocks is None
        self.pool = BlockPool(settings.free_list, first, end, settings.block_script)
        self._counts = self.pool.used
        self.host = BlockPool(settings.free_list, end, end + settings.num_host_blocks)
        self._admit_lookahead = settings.admit_lookahead
        self._tail_first = settings.freed_first == "tail"
        self._watermark = int(settings.watermark * (self.pool.size + first))
        self._keeps_sharing = settings.swap_sharing == "kept"
        self._recorder = recorder

    @property
    def num_free(self) -> int:
        return self.pool.num_free

    @property
    def num_used(self) -> int:
        return self.pool.num_used

    def watermark(self) -> int:
        return self._watermark

    def never_fits(self, group: SequenceGroup, prompt_only: bool = False) -> Need | None:
        """Full prompt blocks are stored once for all samples; the rest once for each."""
        ahead = self._admit_lookahead if prompt_only else max(group.max_tokens - 1, self._admit_lookahead)
        total = num_blocks_for(group.prompt_len + ahead, self.block_size)
        shared = group.prompt_len // self.block_size
        needed = total if prompt_only else shared + len(group.sequences) * (total - shared)
        return Need(needed, self.pool.size, "blocks") if needed > self.pool.size else None

    def fits(self, seq: Sequence, num_new_tokens: int, keep_free: int = 0) -> Need | None:
        needed = max(0, self._blocks_missing(seq, num_new_tokens)) + (self._source_of_copy(seq) is not None)
        return Need(needed, self.pool.num_free, "blocks") if needed + keep_free > self.pool.num_free else None

    def allocate(self, seq: Sequence, num_new_tokens: int, lookahead: int = 0, keep_free: int = 0) -> Allocation | None:
        computed, table, size = seq.num_computed_tokens, seq.block_table, self.block_size
        needed = -(-(computed + num_new_tokens + lookahead) // size) - len(table)
        if computed % size and self._counts[table[computed // size]] > 1:
            if max(needed, 0) + 1 + keep_free > self.pool.num_free:
                return None
            source = table[computed // size]
            copies = [(source, self._copy(seq, source))]
            return Allocation(self._append(seq, needed) if needed > 0 else (), copies)
        if needed <= 0:
            return NOTHING
        if needed + keep_free > self.pool.num_free:
            return None
        return Allocation(self._append(seq, needed))

    def room(self, seq: Sequence) -> int:
        computed, table, size = seq.num_computed_tokens, seq.block_table, self.block_size
        if computed % size and self._counts[table[computed // size]] > 1:
            return 0
        return len(table) * size - computed

    def fork(self, parent: Sequence, child: Sequence) -> None:
        if child.block_table:
            raise KVError(
                f"sequence {child.index} has {len(child.block_table)} blocks; only an empty one can be forked."
            )
        if parent.block_table and parent.block_table[0] >= self.host.first:
            raise KVError(f"sequence {parent.index} lies in host memory; move it in before it is forked.")
        stored = parent.block_table[: num_blocks_for(parent.num_computed_tokens, self.block_size)]
        self.pool.share(stored)
        child.block_table = stored
        child.follow(parent)
        self._recorder.forked(parent, child)

    def free(self, seq: Sequence) -> int:
        table, seq.block_table = seq.block_table, []
        if not table:
            return 0
        pool = self.pool if table[0] < self.host.first else self.host
        freed = pool.release(reversed(table) if self._tail_first else table)
        self._recorder.freed(seq, table, freed)
        return len(freed)

    def move_out(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        return self._move(group, self.pool, self.host, 0)

    def move_in(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        return self._move(group, self.host, self.pool, self._watermark)

    def check(self, sequences: list[Sequence]) -> None:
        named: dict[int, int] = {}
        for seq in sequences:
            for block in seq.block_table:
                named[block] = named.get(block, 0) + 1
        assert named == {**self.pool.used, **self.host.used}, "reference counts differ from the tables"
        self.pool.check()
        self.host.check()

    def _blocks_missing(self, seq: Sequence, num_new_tokens: int) -> int:
        return num_blocks_for(seq.num_computed_tokens + num_new_tokens, self.block_size) - len(seq.block_table)

    def _source_of_copy(self, seq: Sequence) -> int | None:
        """The open block of `seq` if others read it as well: it has to be copied before `seq` writes."""
        computed = seq.num_computed_tokens
        if not computed % self.block_size:
            return None
        block = seq.block_table[computed // self.block_size]
        return block if self._counts[block] > 1 else None

    def _append(self, seq: Sequence, count: int) -> list[int]:
        """The next `count` blocks of the pool go to the end of the table."""
        blocks = self.pool.take(count)
        self._recorder.allocated(seq, blocks)
        seq.block_table += blocks
        return blocks

    def _copy(self, seq: Sequence, source: int) -> int:
        """Take the copy first, then let go of the source, as vLLM V0 does."""
        index, offset = divmod(seq.num_computed_tokens, self.block_size)
        (target,) = self.pool.take(1)
        seq.block_table[index] = target
        self.pool.release((source,))
        self._recorder.copied(seq, index, source, target, offset)
        return target

    def _move(
        self, group: SequenceGroup, source: BlockPool, target: BlockPool, keep_free: int
    ) -> list[tuple[int, int]] | None:
        """All or nothing, block by block through the tables: a block is taken there, then one here is let go."""
        entries = [block for seq in group.sequences for block in seq.block_table]
        if not entries or any(source.ref_count(block) == 0 for block in entries):
            raise KVError(f"request {group.request.request_id!r} has no blocks in the pool that it should leave.")
        if len(set(entries) if self._keeps_sharing else entries) + keep_free > target.num_free:
            return None
        moved: list[tuple[int, int]] = []
        homes: dict[int, int] = {}
        for seq in group.sequences:
            old, seq.block_table = seq.block_table, []
            if not self._keeps_sharing:
                homes = {}
            for block in old:
                if block in homes:
                    target.share((homes[block],))
                else:
                    (homes[block],) = target.take(1)
                    moved.append((block, homes[block]))
                seq.block_table.append(homes[block])
                source.release((block,))
        self._recorder.moved(group, moved)
        return moved
