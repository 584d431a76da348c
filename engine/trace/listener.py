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

    def reranked(self, groups: list[Any]) -> None:
        """These waiting requests got other ranks: sorted anew, or to make a place between two."""

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

    def cut_short(self, seq: Any, resource: str, needed: int, available: int) -> None:
        """A sequence (and all of its request that wait) is about to end because it needs more than all memory."""

    def finished(self, seq: Any) -> None:
        """A sequence has its last token, which its `finish_reason` explains."""

    def completed(self, group: Any) -> None:
        """All samples of a request are finished, or it was taken back."""

    def unseated(self, seq: Any) -> None:
        """A finished sequence gave its seat back."""

    def stopped(self, limit: int) -> None:
        """The run ended at its step limit."""

    def started(self, seq: Any) -> None:
        """From the next tick on the sequence writes one token a tick; it stands still until now."""

    def entered(self, seq: Any) -> None:
        """A sequence that writes one token a tick goes on in a block that it had taken ahead."""

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

    def moved(self, group: Any, moved: list[tuple[int, int]]) -> None:
        """Blocks changed pools: (old, new) in order; the tables name the new ones. An old block may have several new
        ones, each read by one sequence."""

    def hit(self, seq: Any, blocks: list[int]) -> None:
        """The table of `seq` begins with these blocks, whose content was known; some of them were free."""

    def registered(self, seq: Any, blocks: list[int]) -> None:
        """These full blocks of `seq` are known by their content from now on."""

    def evicted(self, blocks: list[int]) -> None:
        """The content of free blocks is about to be forgotten, mostly because they will be taken."""

    def emptied(self, blocks: list[int]) -> None:
        """These blocks were evicted and stay free."""

    def matched(self, seq: Any, node: Any, blocks: list[int]) -> None:
        """The table of `seq` begins with these blocks, which hold the path of a radix tree down to `node`; without a
        sequence (None) somebody only looked."""

    def stored(self, seq: Any, blocks: list[int]) -> None:
        """The radix tree holds these full blocks of `seq` from now on."""

    def kept(self, blocks: list[int]) -> None:
        """The radix tree holds these full blocks, and no sequence reads them."""

    def merged(self, seq: Any, swapped: dict[int, int], freed: list[int]) -> None:
        """The table of `seq` now names blocks of the radix tree in place of equal ones (index -> old block); nobody
        reads the `freed` ones any more."""

    def node_split(self, upper: Any, lower: Any) -> None:
        """`upper` is a new node of the radix tree, above `lower`, whose first tokens it took over."""

    def node_touched(self, node: Any) -> None:
        """A node and everything above it was used now."""

    def node_inserted(self, seq: Any, node: Any) -> None:
        """A new leaf; `seq` (None without one) brought its tokens."""

    def node_evicted(self, seq: Any, node: Any, missing: int, free: int) -> None:
        """A leaf leaves the tree for `seq` (None without one): `missing` tokens were wanted, `free` ones were there."""

    def node_locked(self, seq: Any, node: Any, num_tokens: int) -> None:
        """One lock more from the root to `node`, which protects `num_tokens` tokens that nobody had locked."""

    def node_unlocked(self, seq: Any, node: Any, num_tokens: int) -> None:
        """One lock less from the root to `node`; `num_tokens` tokens may be evicted again."""

    def reserved(self, seq: Any, start: int, size: int) -> None:
        """A strip of contiguous slots."""

    def unreserved(self, seq: Any, size: int) -> None:
        """The strip is free again."""


SILENT = Listener()
