"""Places in the batch: the lowest free one is taken first, so that a newcomer sits where somebody left."""

from heapq import heappop, heappush


class Seats:
    """Numbers from 0 on."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._num_seats = 0

    def take(self) -> int:
        if self._free:
            return heappop(self._free)
        self._num_seats += 1
        return self._num_seats - 1

    def put(self, seat: int) -> None:
        heappush(self._free, seat)
