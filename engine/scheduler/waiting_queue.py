"""The waiting requests, in the order in which they want to enter.

`fcfs`: newcomers join the end, preempted ones go to the head. `priority`: the more important first (the smaller
number), then the earlier arrival, then the smaller id; a preempted request finds its place like any other (vLLM V1).

Every request gets a rank when it enters; smaller is nearer the head. The rank says its place without renumbering the
others, which is what the trace records; only where no number is left between two neighbours all get new ones. An order
that looks at the requests anew before every admission (`queue_sorter`) hands the same ranks out again.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator

from engine.sequence import SequenceGroup

GAP = 1024
"""Distance between the ranks of neighbours where others may come between."""


def importance(group: SequenceGroup) -> tuple[int, float, str]:
    """Sorts the most important request first."""
    request = group.request
    return request.priority, request.arrival_time, request.request_id


class WaitingQueue:
    """`order` "priority" keeps it sorted; with any other name newcomers join the end."""

    def __init__(self, order: str = "fcfs") -> None:
        self._groups: deque[SequenceGroup] = deque()
        self._is_sorted = order == "priority"
        self._last_rank = 0
        self._first_rank = 0

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[SequenceGroup]:
        return iter(self._groups)

    def __getitem__(self, place: int) -> SequenceGroup:
        return self._groups[place]

    def join(self, group: SequenceGroup) -> list[SequenceGroup]:
        """A newcomer. Returns the others whose rank had to change."""
        if self._is_sorted:
            return self._insert(group)
        self._last_rank += 1
        group.rank = self._last_rank
        self._groups.append(group)
        return []

    def return_preempted(self, group: SequenceGroup) -> list[SequenceGroup]:
        """A request that lost its memory. Returns the others whose rank had to change."""
        if self._is_sorted:
            return self._insert(group)
        self._first_rank -= 1
        group.rank = self._first_rank
        self._groups.appendleft(group)
        return []

    def reorder(self, groups: list[SequenceGroup]) -> list[SequenceGroup]:
        """The same requests in another order. Returns those whose rank has changed."""
        ranks = [group.rank for group in self._groups]
        moved = [(group, rank) for group, rank in zip(groups, ranks, strict=True) if group.rank != rank]
        for group, rank in moved:
            group.rank = rank
        self._groups = deque(groups)
        return [group for group, _ in moved]

    def leave(self, group: SequenceGroup) -> None:
        """Admitted, or finished by a step that was still on its way."""
        self._groups.remove(group)

    def _insert(self, group: SequenceGroup) -> list[SequenceGroup]:
        groups = self._groups
        place = bisect_right(groups, importance(group), key=importance)
        groups.insert(place, group)
        before = groups[place - 1].rank if place else None
        behind = groups[place + 1].rank if place + 1 < len(groups) else None
        low = before if before is not None else (behind or 0) - 2 * GAP
        high = behind if behind is not None else low + 2 * GAP
        group.rank = (low + high) // 2
        if low < group.rank < high:
            return []
        for number, other in enumerate(groups):
            other.rank = number * GAP
        return [other for other in groups if other is not group]
