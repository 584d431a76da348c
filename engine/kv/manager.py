"""What a KV manager promises to the scheduler.

A manager knows where the KV of each sequence lies and who may write to it; it knows nothing of queues or time. An
operation that cannot be done returns None (or raises for a caller's mistake) and has changed nothing.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from engine.sequence import Sequence, SequenceGroup


@dataclass(slots=True)
class Allocation:
    """What `allocate` changed: new physical blocks (contiguous: none), copies (source, target) to carry out before the
    step, tokens found in a cache, full blocks that the cache knows from now on."""

    new_blocks: list[int] | tuple[()] = ()
    copies: list[tuple[int, int]] | tuple[()] = ()
    hit_tokens: int = 0
    num_learned: int = 0


NOTHING = Allocation()
"""Nothing had to change."""


class Need(NamedTuple):
    """What something takes, what there is of it, in which unit ("blocks" or "slots")."""

    needed: int
    available: int
    resource: str


class KVError(ValueError):
    """A caller's mistake (freeing twice, forking onto a sequence that has blocks); nothing was changed."""


class KVManager(Protocol):
    """Memory for KV. Sequences keep their own `block_table`; the manager is the only one who writes to it.

    `resource` is the unit ("blocks" or "slots"); `is_reserved` says that memory is set aside for a whole request, so
    that a finished member of a static batch cannot give it back early.
    """

    resource: str
    is_reserved: bool

    def never_fits(self, group: SequenceGroup, prompt_only: bool = False) -> Need | None:
        """What the request takes at its largest if that can never be had, else None. With `prompt_only`, where nobody
        knows the length of an answer, what it takes at its admission."""

    def fits(self, seq: Sequence, num_new_tokens: int, keep_free: int = 0) -> Need | None:
        """A probe: None if `allocate` would succeed, else what is missing."""

    def allocate(self, seq: Sequence, num_new_tokens: int, lookahead: int = 0, keep_free: int = 0) -> Allocation | None:
        """Slots for the next tokens of `seq` (and `lookahead` more), so that it may write them. None: no change."""

    def room(self, seq: Sequence) -> int:
        """Tokens that `seq` may write without asking again."""

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """`child` shares all blocks in which `parent` has stored tokens. Raises KVError if the child has memory already."""

    def free(self, seq: Sequence) -> int:
        """Give up everything; returns how many blocks (slots) became free. Without memory: 0."""

    def move_out(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        """Move a request to host memory: (device, host) pairs in order, or None without change."""

    def move_in(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        """Move a request back: (host, device) pairs in order, or None without change."""

    def watermark(self) -> int:
        """Units that an admission leaves free."""

    @property
    def num_free(self) -> int:
        """Free blocks (slots)."""

    @property
    def num_used(self) -> int:
        """Taken blocks (slots)."""

    def check(self, sequences: list[Sequence]) -> None:
        """The invariant: free + used = total and every reference is held by a table. Raises AssertionError."""
