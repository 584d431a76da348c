"""Where requests come from. The engine asks; a workload answers with what has arrived and learns what has ended."""

from collections.abc import Iterable
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from engine.request import Request


class Workload(Protocol):
    """Arrivals in seconds of the run's clock."""

    def next_arrival(self) -> float | None:
        """Time of the next known arrival; None when none is known (yet)."""

    def take(self, now: float) -> list[Request]:
        """All requests with arrival <= now, in order of arrival; they are not given again."""

    def on_finish(self, request: Request, now: float) -> None:
        """A request finished or was refused; later rounds of a conversation may follow."""

    def more_arrivals(self) -> bool:
        """Whether any request is still to come."""


class ListWorkload:
    """A fixed list. Rounds with `after` arrive `delay` seconds after that request ended, however it ended."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._number = count()
        self._arrivals: list[tuple[float, int, Request]] = []
        self._rounds: dict[str, list[Request]] = {}
        self._num_rounds = 0
        for request in requests:
            if request.after is None:
                heappush(self._arrivals, (request.arrival_time, next(self._number), request))
            else:
                self._rounds.setdefault(request.after, []).append(request)
                self._num_rounds += 1

    def next_arrival(self) -> float | None:
        return self._arrivals[0][0] if self._arrivals else None

    def take(self, now: float) -> list[Request]:
        arrived = []
        while self._arrivals and self._arrivals[0][0] <= now:
            arrived.append(heappop(self._arrivals)[2])
        return arrived

    def on_finish(self, request: Request, now: float) -> None:
        for following in self._rounds.pop(request.request_id, ()):
            self._num_rounds -= 1
            arrival = now + following.delay
            heappush(self._arrivals, (arrival, next(self._number), replace(following, arrival_time=arrival)))

    def more_arrivals(self) -> bool:
        return bool(self._arrivals or self._num_rounds)
