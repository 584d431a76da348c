"""The verbs in which the control plane tells what it does, spoken to somebody who does not listen.

Every transaction is one or more verbs followed by `close`. Callers never ask whether anybody records: `SILENT` hears
everything and does nothing.
"""

from typing import Any


class Listener:
    """Arguments are the engine's own objects (groups, sequences, batches); a listener only reads them."""

    def close(self) -> None:
        """The transaction is complete: all invariants hold again."""

    def arrived(self, group: Any) -> None:
        """A request joined the queue (or is about to be refused)."""

    def rejected(self, group: Any, reason: str, resource: str, needed: int, available: int) -> None:
        """A request can never run."""

    def admitted(self, group: Any, num_tokens: int, resumed: bool) -> None:
        """A request got its seats and its first blocks; `num_tokens` are to be computed."""

    def skipped(self, group: Any, reason: str, resource: str, needed: int, available: int, other: int) -> None:
        """The queue stops here; `other` is the index of the request that stands in the way, or -1."""

    def oversized(self, group: Any, needed: int, available: int) -> None:
        """A recompute longer than the budget gets a step of its own."""

    def preempted(self, group: Any, cause: Any, lost: int, available: int) -> None:
        """All blocks of a request are gone and it heads the queue, because the group `cause` needed memory;
        `lost` tokens have to be computed again."""

    def finished(self, seq: Any) -> None:
        """A sequence has its last token."""

    def completed(self, group: Any) -> None:
        """All samples of a request are finished."""

    def unseated(self, seq: Any) -> None:
        """A finished sequence gave its seat back."""

    def stopped(self, limit: int) -> None:
        """The run ended at its step limit."""

    def started(self, seq: Any) -> None:
        """From the next tick on the sequence writes one token a tick; it stands still until now."""

    def paused(self, seq: Any) -> None:
        """The sequence stands still: its last written block does not grow any more."""

    def advanced(self, batch: Any, jumps: list[Any], num_running: int, num_waiting: int, num_used: int) -> None:
        """All tokens of a batch are scheduled; `jumps` are the sequences that moved by a prompt or a chunk."""

    def updated(self, batch: Any, start: float, end: float) -> None:
        """The results of a batch are in; times in seconds."""

    def allocated(self, seq: Any, blocks: list[int]) -> None:
        """`blocks` are about to be appended to the table of `seq`."""

    def copied(self, seq: Any, index: int, source: int, target: int, num_slots: int) -> None:
        """Entry `index` of the table now names `target`, a copy of the first `num_slots` slots of `source`."""

    def forked(self, parent: Any, child: Any) -> None:
        """The child's table names the parent's blocks (contiguous: its strip holds a copy)."""

    def freed(self, seq: Any, table: list[int], freed: list[int]) -> None:
        """The sequence gave up its `table`; `freed` of these blocks have no reader left."""

    def moved(self, group: Any, moved: dict[int, int]) -> None:
        """Blocks changed pools: {old: new}; the tables name the new ones."""

    def reserved(self, seq: Any, start: int, size: int) -> None:
        """A strip of contiguous slots."""

    def unreserved(self, seq: Any, size: int) -> None:
        """The strip is free again."""


SILENT = Listener()
