"""When the prefix cache hears of full blocks: as soon as their step is scheduled (vLLM V1), or when it is over (nano-vllm).

A prompt is handed in by who plans it; a sequence that decodes on its own is handed in here, in the step that fills its
block. What is told late is kept with its batch, because the sequence may have lost its memory by then.
"""

from collections.abc import Iterable

from engine.batch import Batch, Row
from engine.kv.hashed import HashedKV
from engine.kv.manager import KVManager
from engine.kv.prefix_cache import NoPrefixCache, PrefixCache
from engine.kv.radix import RadixKV
from engine.scheduler.decode_runs import DecodeRuns
from engine.sequence import Sequence
from engine.settings import Settings
from engine.trace.listener import Listener


class Learning:
    """`cache` is that of the memory, or one that never finds anything."""

    def __init__(self, settings: Settings, kv: KVManager, runs: DecodeRuns, recorder: Listener) -> None:
        self.cache: PrefixCache = kv if isinstance(kv, (HashedKV, RadixKV)) else NoPrefixCache()
        self.is_late = isinstance(kv, RadixKV) or (settings.prefix_caching and settings.register_at == "update")
        self._runs = runs
        self._recorder = recorder
        self._filling: dict[int, Sequence] = {}

    def begin(self) -> None:
        """A new step: see whose block becomes full in it."""
        self._filling = {} if self.is_late else self._runs.take_fills()

    def in_order(self, orders: Iterable[int]) -> list[int]:
        """These orders of admission and those to be handed in by `learn`, ascending."""
        return sorted({*orders, *self._filling}) if self._filling else sorted(orders)

    def learn(self, order: int) -> None:
        """The block that a steady sequence fills in this step is known from here on."""
        seq = self._runs.steady.get(order)
        if seq is not None:
            self._register(seq, seq.num_tokens)

    def note(self, batch: Batch) -> None:
        """Before the tick: what has to be told when this step is over, in running order."""
        if self.is_late:
            full = [(order, seq, seq.num_tokens) for order, seq in self._runs.take_fills().items()]
            batch.stored = sorted(full + [_stored(row) for row in batch.planned], key=lambda entry: entry[0])

    def tell(self, batch: Batch) -> None:
        """The step is over."""
        for order, seq, num_tokens in batch.stored:
            if seq.order == order and seq.block_table:
                self._register(seq, num_tokens)

    def _register(self, seq: Sequence, num_tokens: int) -> None:
        if self.cache.register(seq, num_tokens):
            self._recorder.close()


def _stored(row: Row) -> tuple[int, Sequence, int]:
    return row.sequence.order, row.sequence, row.start + row.num_tokens
