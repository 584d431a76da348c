"""The waiting requests: newcomers join the end, preempted ones go to the head (vLLM).

Every request gets a rank when it enters; smaller is nearer the head. The rank says its place without renumbering the
others, which is what the trace records.
"""

from collections import deque
from collections.abc import Iterator

from engine.sequence import SequenceGroup


class WaitingQueue:
    """First come, first served."""

    def __init__(self) -> None:
        self._groups: deque[SequenceGroup] = deque()
        self._last_rank = 0
        self._first_rank = 0

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[SequenceGroup]:
        return iter(self._groups)

    def __getitem__(self, place: int) -> SequenceGroup:
        return self._groups[place]

    def join(self, group: SequenceGroup) -> None:
        """To the end."""
        self._last_rank += 1
        group.rank = self._last_rank
        self._groups.append(group)

    def return_to_head(self, group: SequenceGroup) -> None:
        self._first_rank -= 1
        group.rank = self._first_rank
        self._groups.appendleft(group)

    def leave(self, group: SequenceGroup) -> None:
        """Admitted, or finished by a step that was still on its way."""
        self._groups.remove(group)
