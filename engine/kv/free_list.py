"""In which order free blocks are handed out again: the one thing in which every engine's picture differs.

fifo            never used ids ascending, then returned ones in the order of their return
stack           vLLM V0 manager v1: the last returned first, then ids from the highest down
left            vLLM V0 manager v2: a returned table from its last block on, then ids ascending
uncached_first  vLLM V1 without content: a returned group goes to the head in its own order, then ids ascending
all_at_tail     vLLM before 0.23, nano-vllm: the same as fifo, also for blocks that a prefix cache knows

Ids that were never used are a range, not a list: a pool of millions of blocks costs nothing until it is used.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice


class FreeList:
    """Free ids of one pool. `script` names the first ids to hand out, in order."""

    def __init__(self, order: str, first: int, end: int, script: Sequence[int] = ()) -> None:
        self._order = "fifo" if order == "all_at_tail" else order
        self._returned: deque[int] = deque()
        self._script = deque(script)
        self._scripted = frozenset(script)
        self._ids = range(end - 1, first - 1, -1) if order == "stack" else range(first, end)
        self._position = 0
        self._size = end - first

    def __len__(self) -> int:
        return self._size

    def take(self, count: int) -> list[int]:
        """The next `count` ids; the caller has checked that there are so many."""
        self._size -= count
        returned = self._returned
        if not self._script and (self._order != "fifo" or self._position == len(self._ids)):
            head = [returned.popleft() for _ in range(min(count, len(returned)))]
            return head if len(head) == count else head + [self._next() for _ in range(count - len(head))]
        return [self._next() for _ in range(count)]

    def put(self, ids: Iterable[int]) -> None:
        """Return ids; those of one call belong together, as a rule the last block of a sequence first."""
        ids = list(ids)
        self._size += len(ids)
        if self._order == "fifo":
            self._returned.extend(ids)
        elif self._order == "stack":
            self._returned.extendleft(ids)
        else:
            self._returned.extendleft(reversed(ids))

    def ids(self, limit: int | None = None) -> list[int]:
        """Free ids, next one first (at most `limit`)."""
        fresh = (i for i in self._ids[self._position :] if i not in self._scripted)
        parts = (fresh, self._returned) if self._order == "fifo" else (self._returned, fresh)
        everything = [*islice(self._script, limit), *islice(parts[0], limit), *islice(parts[1], limit)]
        return everything[:limit]

    def _next(self) -> int:
        if self._script:
            return self._script.popleft()
        if self._order != "fifo" and self._returned:
            return self._returned.popleft()
        while self._position < len(self._ids):
            block = self._ids[self._position]
            self._position += 1
            if block not in self._scripted:
                return block
        return self._returned.popleft()
