"""Full caches of any size, on which a request does the same work: it hits a beginning that others share, computes the
rest, leaves it behind, and as much that nobody reads goes for it. Only the size of the cache differs.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from engine.kv.hashed import HashedKV
from engine.kv.radix import RadixKV
from engine.presets import settings_of
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of cache. `settings_of` a size gives a pool that so many nodes or blocks fill. A prompt is a shared
    beginning of `head_len` tokens and `tail_len` tokens of its own (`fill_len` while the cache is being filled); there
    is a beginning for every `per_head` nodes or blocks."""

    name: str
    unit: str
    sizes: tuple[int, ...]
    settings_of: Callable[[int], Settings]
    head_len: int
    tail_len: int
    fill_len: int
    per_head: int


def _radix(num_nodes: int) -> Settings:
    """A node is 4 pages of 4 tokens."""
    return Settings.of({"kv_manager": "radix", "block_size": 4, "num_blocks": 4 * num_nodes})


def _hashed(num_blocks: int) -> Settings:
    return settings_of("vllm-v1", null_block=False, block_size=16, num_blocks=num_blocks)


def _one_queue(num_blocks: int) -> Settings:
    return settings_of("nano-vllm", block_size=16, num_blocks=num_blocks)


NODES, BLOCKS = (100, 1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000)
SHAPES = (
    Shape("radix tree", "nodes", NODES, _radix, 16, 16, fill_len=16, per_head=10),
    Shape("hashed", "blocks", BLOCKS, _hashed, 128, 64, fill_len=1_600, per_head=100),
    Shape("hashed, one queue", "blocks", BLOCKS, _one_queue, 128, 64, fill_len=1_600, per_head=100),
)


class FullCache:
    """A cache of one shape and size, full from the start. Tokens tell the prompts apart: a beginning is one number again
    and again, and what follows it another one."""

    def __init__(self, shape: Shape, size: int, recorder: Listener = SILENT) -> None:
        settings = shape.settings_of(size)
        self.kv = RadixKV(settings, recorder) if settings.kv_manager == "radix" else HashedKV(settings, recorder)
        self.num_heads = size // shape.per_head
        self._shape = shape
        self._recorder = recorder
        self._rng = random.Random(size)
        self._numbers = count(self.num_heads)
        self._fill(self.kv.pool.size * self.kv.block_size)

    @property
    def num_stored(self) -> int:
        """Blocks that hold something known."""
        return len(self.kv.pool.stored) if isinstance(self.kv, RadixKV) else len(self.kv.known.held)

    def prompts(self, num_prompts: int) -> list[Sequence]:
        """The next ones, with any of the beginnings."""
        heads = (self._rng.randrange(self.num_heads) for _ in range(num_prompts))
        return [self._prompt(head, self._shape.tail_len) for head in heads]

    def serve(self, sequences: list[Sequence]) -> tuple[float, int]:
        """From look-up to release, one after the other: processor seconds, and the tokens that were found."""
        start = time.process_time()
        num_hit = sum(self._serve(seq) for seq in sequences)
        return time.process_time() - start, num_hit

    def _fill(self, num_slots: int) -> None:
        """Each beginning once, then until all slots are used, then each once more: no beginning is among the oldest."""
        heads, tail_len, fill_len = range(self.num_heads), self._shape.tail_len, self._shape.fill_len
        self.serve([self._prompt(head, tail_len) for head in heads])
        for _ in range(num_slots // fill_len):
            self._serve(self._prompt(self._rng.randrange(self.num_heads), fill_len))
        self.serve([self._prompt(head, tail_len) for head in heads])

    def _prompt(self, head: int, tail_len: int) -> Sequence:
        number = next(self._numbers)
        prompt = Prompt.of_ids((head,) * self._shape.head_len + (number,) * tail_len)
        return SequenceGroup(Request("", 0.0, prompt, SamplingParams()), number, number, 1, Ticks()).lead

    def _serve(self, seq: Sequence) -> int:
        """What the scheduler does with a prompt that is computed in one step and samples one token."""
        kv, num_tokens = self.kv, seq.num_tokens
        missing = num_tokens - kv.match(seq)
        assert kv.fits(seq, missing) is None, "whatever nobody reads makes room"
        allocation = kv.allocate(seq, missing)
        assert allocation is not None, "what fits is allocated"
        self._recorder.close()
        seq.advance(missing)
        kv.register(seq, num_tokens)
        self._recorder.close()
        seq.status = SequenceStatus.FINISHED
        kv.free(seq)
        self._recorder.close()
        return allocation.hit_tokens
