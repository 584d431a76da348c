"""Who has to be looked at in this step, and who runs on alone.

A decoding sequence takes one token a step until its blocks are full or its last token is on its way. For that long it
is `steady`; a calendar of ticks says when it wakes. The rest is `awake`. So a step costs as much as there are
sequences to decide about, not as many as are running. An entry of the calendar may be out of date or stand there
twice: it counts only if the sequence still says that it wakes then. With a prefix cache a second calendar says in
which step somebody's block becomes full.
"""

from engine.sequence import Sequence, Ticks


class DecodeRuns:
    """Running sequences by order of admission, split in `awake` and `steady`.

    With a `block_size`, `take_fills` tells once a step whose block becomes full in it: before anybody begins to run on
    (who begins, registers the block of this step alone) or after that (`taken_late`).
    """

    def __init__(self, ticks: Ticks, block_size: int | None = None, taken_late: bool = False) -> None:
        self.awake: dict[int, Sequence] = {}
        self.steady: dict[int, Sequence] = {}
        self.context = 0
        self._ticks = ticks
        self._due: dict[int, list[Sequence]] = {}
        self._ends: dict[int, list[Sequence]] = {}
        self._fills: dict[int, list[Sequence]] = {}
        self._block_size = block_size
        self._taken_late = taken_late

    def begin(self, seq: Sequence, room: int) -> None:
        """`seq` decodes from this step on and may write `room` tokens; `context` counts the stored tokens it reads."""
        if not seq.rate:
            seq.start()
        num_tokens, now = seq.num_tokens, self._ticks.now
        left = seq.limit - num_tokens
        if left <= room:
            seq.wake = now + left
            self._ends.setdefault(seq.wake, []).append(seq)
        else:
            seq.wake = now + room
            self._due.setdefault(seq.wake, []).append(seq)
        del self.awake[seq.order]
        self.steady[seq.order] = seq
        self.context += num_tokens - 1
        if self._block_size is not None:
            full_in = -num_tokens % self._block_size
            if now + full_in < seq.wake and (full_in or self._taken_late):
                self._fills.setdefault(now + full_in, []).append(seq)

    def take_fills(self) -> dict[int, Sequence]:
        """By order of admission: steady sequences whose block becomes full in this step."""
        now = self._ticks.now
        if self._block_size is None or now not in self._fills:
            return {}
        full = {seq.order: seq for seq in self._fills.pop(now) if seq.order in self.steady}
        return {order: seq for order, seq in full.items() if not seq.num_tokens % self._block_size}

    def wake(self, seq: Sequence) -> None:
        """From steady to awake."""
        del self.steady[seq.order]
        self.context -= seq.num_computed_tokens
        self.awake[seq.order] = seq
        seq.wake = -1

    def wake_due(self) -> None:
        """Before a step: those whose blocks are full."""
        now = self._ticks.now
        for seq in self._due.pop(now, ()):
            if seq.wake == now:
                self.wake(seq)

    def wake_all(self) -> None:
        for seq in list(self.steady.values()):
            self.wake(seq)

    def tick(self) -> list[Sequence]:
        """One step is scheduled: every steady sequence moved on by one token. Returns those whose last one this was."""
        self.context += len(self.steady)
        self._ticks.now = now = self._ticks.now + 1
        ended = []
        for seq in self._ends.pop(now, ()):
            if seq.wake == now and not seq.num_missing_tokens:
                self.wake(seq)
                ended.append(seq)
        return ended

    def leave(self, seq: Sequence) -> bool:
        """Out of both; returns whether it was steady."""
        was_steady = seq.order in self.steady
        if was_steady:
            self.wake(seq)
        self.awake.pop(seq.order, None)
        return was_steady
