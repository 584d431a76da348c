"""A story told by operations on the radix tree instead of requests: insert, match, lock, unlock, evict.

The operations run on the engine's own radix manager and speak to its recorder, one operation a step. Tokens are ids, a
number of tokens that are equal to no others, or a text, whose words become tokens. A lock is a running request: it has
the cached blocks in its table until it is unlocked. An operation that fails changes nothing; it gets a step all the same,
and its result names the error.
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from engine.batch import Batch
from engine.kv.radix import RadixKV
from engine.loop import trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence as EngineSequence
from engine.sequence import SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from scenarios.operations import RADIX_OPERANDS, Op, read_ops

Result = dict[str, Any]
Tokens = int | str | Sequence[int]
Progress = Callable[["RadixOps"], None]
ERRORS = ("out_of_space", "unlock_without_lock", "handle_in_use")


class OpError(Exception):
    """An operation that cannot be done; the argument is one of ERRORS."""


class RadixOps:
    """Runs operations one after the other. `results` has one entry an operation: its numbers, or `error`, and the sizes
    after it."""

    def __init__(self, settings: Settings, ops: Iterable[Op], name: str = "", recorder: Recorder | None = None) -> None:
        if settings.kv_manager != "radix" or settings.pool_tokens is None:
            raise ScenarioError("operations on a radix tree need kv_manager 'radix' and a pool of known size.")
        self.ops = read_ops(ops, RADIX_OPERANDS)
        self.capacity = settings.pool_tokens
        texts = (op[-1] for op in self.ops if isinstance(op[-1], str) and op[0] != "unlock")
        self.vocabulary = {
            word: number for number, word in enumerate(dict.fromkeys(w for t in texts for w in t.split()))
        }
        self.recorder = recorder or Recorder(trace_header(settings, name, list(self.vocabulary)))
        self.kv = RadixKV(settings, self.recorder)
        self.handles: dict[str, EngineSequence] = {}
        self.results: list[Result] = []
        self._duration = settings.step_time or 1.0
        self._ticks = Ticks()
        self._unequal = count(-1, -1)
        self._num_requests = 0
        self._free_seats: list[int] = []
        self._verbs: dict[str, Callable[..., Result]] = {
            "insert": self._insert,
            "match": self._match,
            "lock": self._lock,
            "unlock": self._unlock,
            "evict": self._evict,
        }

    def run(self, progress: Progress | None = None) -> "RadixOps":
        """Carry out every operation. `progress` is called before each one; it may raise to stop. Returns itself."""
        for number, op in enumerate(self.ops):
            if progress is not None:
                progress(self)
            self.results.append(self._step(number, op))
        return self

    @property
    def num_done(self) -> int:
        """Operations that are carried out."""
        return len(self.results)

    @property
    def num_steps(self) -> int:
        return len(self.results)

    def sizes(self) -> Result:
        """Tokens of the tree by what may become of them, and those that are free."""
        tree = self.kv.tree
        return {
            "total_tokens": tree.num_tokens,
            "evictable": tree.num_evictable,
            "protected": tree.num_protected,
            "free_tokens": self.capacity - tree.num_tokens,
        }

    def check(self) -> None:
        """The invariants of tree and pool. Raises AssertionError."""
        self.kv.check(list(self.handles.values()))

    def _step(self, number: int, op: Op) -> Result:
        verb, *operands = op
        try:
            result = self._verbs[verb](*operands)
        except OpError as error:
            result = {"error": str(error)}
        self._ticks.now += 1
        self.recorder.advanced(Batch(number, None), [], len(self.handles), 0, self.kv.num_used)
        self.recorder.close()
        self.recorder.updated(Batch(number, None), number * self._duration, (number + 1) * self._duration)
        return {**result, **self.sizes()}

    def _insert(self, tokens: Tokens) -> Result:
        ids, size = self._ids(tokens), self.kv.block_size
        cached = self.kv.tree.probe(ids)
        num_new = len(ids) // size * size - cached.num_tokens
        missing = num_new - (self.capacity - self.kv.tree.num_tokens)
        if missing > self.kv.tree.evictable_beside(cached):
            raise OpError("out_of_space")
        node = self.kv.tree.match_prefix(ids).node
        self.recorder.close()
        inserted, gone = self.kv.keep(ids, node)
        self.recorder.close()
        evicted = [list(leaf.key) for leaf in gone]
        return {"already_cached": inserted.num_cached, "new_tokens": inserted.num_new, "evicted": evicted}

    def _match(self, tokens: Tokens) -> Result:
        node, num_tokens = self.kv.tree.match_prefix(self._ids(tokens))
        if num_tokens:
            self.recorder.matched(None, node, node.path_slots()[:: self.kv.block_size])
        self.recorder.close()
        return {"hit_tokens": num_tokens}

    def _lock(self, handle: str, tokens: Tokens) -> Result:
        if handle in self.handles:
            raise OpError("handle_in_use")
        ids = self._ids(tokens)
        request = Request(handle, self.num_steps * self._duration, Prompt.of_ids(ids), SamplingParams(1, 0))
        group = SequenceGroup(request, self._num_requests, self._num_requests, 0, self._ticks)
        self._num_requests += 1
        self.recorder.arrived(group)
        self.recorder.close()
        node, num_tokens = self.kv.tree.match_prefix(ids)
        seq = self.handles[handle] = group.lead
        seq.seat = heappop(self._free_seats) if self._free_seats else len(self.handles) - 1
        seq.status = group.status = SequenceStatus.DECODE
        if num_tokens:
            self.kv.hold(seq, node, num_tokens)
        self.recorder.admitted(group, group.prompt_len, False)
        self.recorder.close()
        return {"locked_tokens": num_tokens}

    def _unlock(self, handle: str) -> Result:
        if handle not in self.handles:
            raise OpError("unlock_without_lock")
        seq = self.handles.pop(handle)
        self.kv.free(seq)
        heappush(self._free_seats, seq.seat)
        seq.seat = -1
        seq.status = seq.group.status = SequenceStatus.FINISHED
        self.recorder.finished(seq)
        self.recorder.completed(seq.group)
        self.recorder.close()
        return {}

    def _evict(self, num_tokens: int) -> Result:
        gone = self.kv.make_room(num_tokens)
        return {"evicted": [list(node.key) for node in gone], "evicted_tokens": sum(len(node.key) for node in gone)}

    def _ids(self, tokens: Tokens) -> tuple[int, ...]:
        """Words by number; a plain number stands for that many tokens that are equal to no other ones."""
        if isinstance(tokens, str):
            return tuple(self.vocabulary[word] for word in tokens.split())
        return tuple(next(self._unequal) for _ in range(tokens)) if isinstance(tokens, int) else tuple(tokens)


def run_radix_ops(settings: Settings, ops: Iterable[Op], name: str = "", progress: Progress | None = None) -> Trace:
    """The trace of a list of operations, one a step. Raises ScenarioError for an operation that is not well formed."""
    return RadixOps(settings, ops, name).run(progress).recorder.trace()
