"""A story told by operations on the radix tree instead of requests: insert, match, lock, unlock, evict.

The operations run on the engine's own radix manager and speak to its recorder, one operation a step. Tokens are ids, a
number of tokens that are equal to no others, or a text, whose words become tokens. A lock is a running request: it has
the cached blocks in its table until it is unlocked. An operation that fails changes nothing; it gets a step all the same,
and its result names the error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

from engine.kv.radix import RadixKV
from engine.loop import trace_header
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import SequenceGroup
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from scenarios.operations import RADIX_OPERANDS, Op, read_ops
from scenarios.ops_run import OpError, OpsRun, Result

Tokens = int | str | Sequence[int]
Progress = Callable[["RadixOps"], None]
ERRORS = ("out_of_space", "unlock_without_lock", "handle_in_use")


class RadixOps(OpsRun):
    """Operations on the radix tree; every result has the sizes after it. The sequences are the handles of the locks."""

    def __init__(self, settings: Settings, ops: Iterable[Op], name: str = "", recorder: Recorder | None = None) -> None:
        if settings.kv_manager != "radix" or settings.pool_tokens is None:
            raise ScenarioError("operations on a radix tree need kv_manager 'radix' and a pool of known size.")
        read = read_ops(ops, RADIX_OPERANDS)
        texts = (op[-1] for op in read if isinstance(op[-1], str) and op[0] != "unlock")
        self.vocabulary = {
            word: number for number, word in enumerate(dict.fromkeys(w for t in texts for w in t.split()))
        }
        recorder = recorder or Recorder(trace_header(settings, name, list(self.vocabulary)))
        self.kv = RadixKV(settings, recorder)
        super().__init__(read, recorder, self.kv, settings.step_time)
        self.capacity = settings.pool_tokens
        self._unequal = count(-1, -1)

    @property
    def verbs(self) -> Mapping[str, Callable[..., Result]]:
        return {
            "insert": self._insert,
            "match": self._match,
            "lock": self._lock,
            "unlock": self._unlock,
            "evict": self._evict,
        }

    def sizes(self) -> Result:
        """Tokens of the tree by what may become of them, and those that are free."""
        tree = self.kv.tree
        return {
            "total_tokens": tree.num_tokens,
            "evictable": tree.num_evictable,
            "protected": tree.num_protected,
            "free_tokens": self.capacity - tree.num_tokens,
        }

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
        if handle in self.sequences:
            raise OpError("handle_in_use")
        ids = self._ids(tokens)
        request = Request(handle, self.num_steps * self._duration, Prompt.of_ids(ids), SamplingParams(1, 0))
        group = SequenceGroup(request, self._num_requests, self._num_requests, 0, self._ticks)
        self._num_requests += 1
        self.recorder.arrived(group)
        self.recorder.close()
        node, num_tokens = self.kv.tree.match_prefix(ids)
        seq = self.sequences[handle] = group.lead
        if num_tokens:
            self.kv.hold(seq, node, num_tokens)
        self._admit(seq)
        return {"locked_tokens": num_tokens}

    def _unlock(self, handle: str) -> Result:
        if handle not in self.sequences:
            raise OpError("unlock_without_lock")
        self._end(handle)
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
