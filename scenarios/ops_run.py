"""Operations on a KV manager, carried out one a step: what the stories of the block pool and of the radix tree share.

No scheduler takes part; the manager speaks to the recorder, so that the player shows the run like any other. An operation
that fails changes nothing; it gets a step all the same, and its result names the error.
"""

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Self

from engine.batch import Batch, Row
from engine.kv.manager import KVManager
from engine.request import SequenceStatus
from engine.sequence import Sequence as EngineSequence
from engine.sequence import Ticks
from engine.trace.recorder import Recorder
from scenarios.operations import Op

Result = dict[str, Any]


class OpError(Exception):
    """An operation that cannot be done; the argument is its code."""


class OpsRun:
    """`results` has one entry an operation: its numbers, or `error`, and always `sizes()` after it.

    sequences    the living ones by the name that the operations give them
    """

    def __init__(self, ops: Sequence[Op], recorder: Recorder, memory: KVManager, step_time: float | None) -> None:
        self.ops = ops
        self.recorder = recorder
        self.sequences: dict[str, EngineSequence] = {}
        self.results: list[Result] = []
        self._memory = memory
        self._duration = step_time or 1.0
        self._ticks = Ticks()
        self._num_requests = 0
        self._free_seats: list[int] = []
        self._rows: list[Row] = []

    @property
    def verbs(self) -> Mapping[str, Callable[..., Result]]:
        """Name of an operation -> what carries it out; it may raise OpError and has then changed nothing."""
        raise NotImplementedError

    def sizes(self) -> Result:
        """What every result says of the memory."""
        raise NotImplementedError

    def run(self, progress: Callable[[Self], None] | None = None) -> Self:
        """Carry out every operation. `progress` is called before each one; it may raise to stop. Returns itself."""
        for op in self.ops:
            if progress is not None:
                progress(self)
            self.results.append(self._step(op))
        return self

    @property
    def num_done(self) -> int:
        """Operations that are carried out."""
        return len(self.results)

    @property
    def num_steps(self) -> int:
        return len(self.results)

    @property
    def failed(self) -> list[Result]:
        """The operations that could not be done: their number counted from 1, verb and error."""
        told = zip(self.ops, self.results, strict=False)
        return [
            {"number": number, "operation": op[0], "error": result["error"]}
            for number, (op, result) in enumerate(told, start=1)
            if "error" in result
        ]

    def check(self) -> None:
        """The invariants of the memory. Raises AssertionError."""
        self._memory.check(list(self.sequences.values()))

    def _step(self, op: Op) -> Result:
        number, (verb, *operands) = self.num_steps, op
        self._rows = []
        try:
            result = self.verbs[verb](*operands)
        except OpError as error:
            result = {"error": str(error)}
        batch = Batch(number, None, planned=self._rows, num_tokens=sum(row.num_tokens for row in self._rows))
        jumps = [(row.sequence, row.num_tokens) for row in self._rows]
        self._ticks.now += 1
        for row in self._rows:
            self._store(row)
        self.recorder.advanced(batch, jumps, len(self.sequences), 0, self._memory.num_used)
        self.recorder.close()
        self.recorder.updated(batch, number * self._duration, (number + 1) * self._duration)
        return {**result, **self.sizes()}

    def _store(self, row: Row) -> None:
        """The tokens of a row are computed."""
        row.sequence.advance(row.num_tokens)

    def _admit(self, seq: EngineSequence) -> None:
        """A living sequence takes the first free seat."""
        seq.seat = heappop(self._free_seats) if self._free_seats else len(self.sequences) - 1
        seq.status = seq.group.status = SequenceStatus.DECODE
        self.recorder.admitted(seq.group, seq.group.prompt_len, False)
        self.recorder.close()

    def _end(self, name: str) -> int:
        """A sequence gives up its memory and its seat; returns how many blocks became free."""
        seq = self.sequences.pop(name)
        num_freed = self._memory.free(seq)
        heappush(self._free_seats, seq.seat)
        seq.seat = -1
        seq.status = seq.group.status = SequenceStatus.FINISHED
        self.recorder.finished(seq)
        self.recorder.completed(seq.group)
        self.recorder.close()
        return num_freed
