"""A story told by operations on the block pool instead of requests: allocate, append, fork, free, match, evict.

The operations run on the engine's own paged KV manager and speak to its recorder, one operation a step, so that the
player shows them like any other run. No scheduler takes part. An operation that fails changes nothing; it gets a step
all the same, and its result names the error.
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from engine.batch import Batch, Row
from engine.kv import MANAGERS
from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.loop import trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence as EngineSequence
from engine.sequence import SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from scenarios.operations import Op, appended_later, num_tokens_of, read_ops

Result = dict[str, Any]
Progress = Callable[["BlockPoolOps"], None]
ERRORS = ("out_of_blocks", "unknown_seq", "duplicate_seq", "empty_prompt")
"""Several at once: the first of this order."""


class OpError(Exception):
    """An operation that cannot be done; the argument is one of ERRORS."""


class BlockPoolOps:
    """Runs operations one after the other. `results` has one entry an operation: its numbers, or `error`, and always
    `free_blocks`."""

    def __init__(self, settings: Settings, ops: Iterable[Op], name: str = "", recorder: Recorder | None = None) -> None:
        if settings.kv_manager != "paged":
            raise ScenarioError(f"kv_manager is {settings.kv_manager!r}; operations need the paged one.")
        self.ops = read_ops(ops)
        self.recorder = recorder or Recorder(trace_header(settings, name))
        kv = MANAGERS[settings.manager](settings, self.recorder)
        assert isinstance(kv, PagedKV)
        self.kv = kv
        self.sequences: dict[str, EngineSequence] = {}
        self.results: list[Result] = []
        self._duration = settings.step_time or 1.0
        self._ticks = Ticks()
        self._num_requests = 0
        self._num_own = 0
        self._free_seats: list[int] = []
        self._rows: list[Row] = []
        self._output_len = 0
        self._verbs: dict[str, Callable[..., Result]] = {
            "allocate": self._allocate,
            "append": self._append,
            "fork": self._fork,
            "free": self._free,
            "match": self._match,
            "evict": self._evict,
        }

    def run(self, progress: Progress | None = None) -> "BlockPoolOps":
        """Carry out every operation. `progress` is called before each one; it may raise to stop. Returns itself."""
        outputs = appended_later(self.ops)
        for number, op in enumerate(self.ops):
            if progress is not None:
                progress(self)
            self._output_len = outputs[number]
            self.results.append(self._step(number, op))
        return self

    @property
    def num_done(self) -> int:
        """Operations that are carried out."""
        return len(self.results)

    @property
    def num_steps(self) -> int:
        return len(self.results)

    @property
    def tables(self) -> dict[str, list[int]]:
        """The block table of every living sequence, in order of creation."""
        return {name: list(seq.block_table) for name, seq in self.sequences.items()}

    def check(self) -> None:
        """The invariants of the pool. Raises AssertionError."""
        self.kv.check(list(self.sequences.values()))

    def _step(self, number: int, op: Op) -> Result:
        verb, *operands = op
        self._rows = []
        try:
            result = self._verbs[verb](*operands)
        except OpError as error:
            result = {"error": str(error)}
        batch = Batch(number, None, planned=self._rows, num_tokens=sum(row.num_tokens for row in self._rows))
        jumps = [(row.sequence, row.num_tokens) for row in self._rows]
        self._ticks.now += 1
        for row in self._rows:
            row.sequence.advance(row.num_tokens)
            if isinstance(self.kv, HashedKV):
                self.kv.register(row.sequence, row.sequence.num_computed_tokens)
        self.recorder.advanced(batch, jumps, len(self.sequences), 0, self.kv.num_used)
        self.recorder.close()
        self.recorder.updated(batch, number * self._duration, (number + 1) * self._duration)
        return {**result, "free_blocks": self.kv.num_free}

    def _allocate(self, name: str, tokens: int | Sequence[int]) -> Result:
        group = self._group(name, tokens)
        seq = group.lead
        num_tokens = group.prompt_len - self._hit(seq)
        if self.kv.fits(seq, num_tokens) is not None:
            raise OpError("out_of_blocks")
        if name in self.sequences:
            raise OpError("duplicate_seq")
        if not group.prompt_len:
            raise OpError("empty_prompt")
        self._enter(name, group)
        allocation = self.kv.allocate(seq, num_tokens)
        assert allocation is not None, "a probe that fits is followed by an allocation that fits"
        self._admit(group)
        self._rows = [Row(seq, allocation.hit_tokens, num_tokens, 0)]
        return {"hit_tokens": allocation.hit_tokens, "new_blocks": len(allocation.new_blocks)}

    def _append(self, name: str, tokens: int | Sequence[int]) -> Result:
        seq, count = self._known(name), num_tokens_of(tokens)
        if not count:
            return {"new_blocks": 0, "cow_copies": 0}
        num_known = len(seq.output_token_ids)
        if not isinstance(tokens, int):
            seq.output_token_ids += [*self._own_tokens(seq.num_output_tokens - num_known), *tokens]
        allocation = self.kv.allocate(seq, count)
        if allocation is None:
            del seq.output_token_ids[num_known:]
            need = self.kv.fits(seq, count)
            assert need is not None, "an allocation that fails is explained by the probe"
            self.recorder.skipped(seq.group, "no_block", need.resource, need.needed, need.available, -1)
            self.recorder.close()
            raise OpError("out_of_blocks")
        if allocation.new_blocks or allocation.copies:
            self.recorder.close()
        self._rows = [Row(seq, seq.num_computed_tokens, count, 0)]
        return {"new_blocks": len(allocation.new_blocks), "cow_copies": len(allocation.copies)}

    def _fork(self, parent: str, child: str) -> Result:
        source = self._known(parent)
        if child in self.sequences:
            raise OpError("duplicate_seq")
        group = self._group(child, self._stored_by(source))
        self._enter(child, group)
        self.kv.fork(source, group.lead)
        self._admit(group)
        return {}

    def _match(self, tokens: int | Sequence[int]) -> Result:
        """Only a look: the longest run of known blocks, up to the last token."""
        if not isinstance(self.kv, HashedKV):
            return {"hit_tokens": 0}
        return {"hit_tokens": self.kv.longest_known(self._prompt(tokens))}

    def _evict(self, count: int) -> Result:
        if not isinstance(self.kv, HashedKV):
            return {"evicted": []}
        size = self.kv.block_size
        prefixes = self.kv.evict(count)
        if prefixes:
            self.recorder.close()
        evicted = [{"block_tokens": list(p.tokens), "prefix_len": size * p.num_blocks} for p in prefixes]
        return {"evicted": evicted}

    def _free(self, name: str) -> Result:
        seq = self._known(name)
        del self.sequences[name]
        freed = self.kv.free(seq)
        heappush(self._free_seats, seq.seat)
        seq.seat = -1
        seq.status = seq.group.status = SequenceStatus.FINISHED
        self.recorder.finished(seq)
        self.recorder.completed(seq.group)
        self.recorder.close()
        return {"freed_blocks": freed}

    def _known(self, name: str) -> EngineSequence:
        if name not in self.sequences:
            raise OpError("unknown_seq")
        return self.sequences[name]

    def _group(self, name: str, tokens: int | Sequence[int] | Prompt) -> SequenceGroup:
        """A request of one sequence that nobody knows yet."""
        number, prompt = self._num_requests, tokens if isinstance(tokens, Prompt) else self._prompt(tokens)
        request = Request(name, len(self.results) * self._duration, prompt, SamplingParams(1, self._output_len))
        return SequenceGroup(request, number, number, self._output_len, self._ticks)

    def _prompt(self, tokens: int | Sequence[int]) -> Prompt:
        """A plain number stands for tokens that are equal to no others."""
        return Prompt.of_length(tokens, self._num_requests) if isinstance(tokens, int) else Prompt.of_ids(tokens)

    def _stored_by(self, seq: EngineSequence) -> Prompt:
        """The tokens of a sequence, to go on from; some that nobody gave ids make all of them unlike any others."""
        prompt, later = seq.group.request.prompt, seq.num_computed_tokens - seq.group.prompt_len
        if not later:
            return prompt
        if prompt.token_ids is None or len(seq.output_token_ids) < later:
            return self._prompt(seq.num_computed_tokens)
        return Prompt.of_ids((*prompt.token_ids, *seq.output_token_ids[:later]))

    def _hit(self, seq: EngineSequence) -> int:
        return self.kv.match(seq) if isinstance(self.kv, HashedKV) else 0

    def _own_tokens(self, count: int) -> range:
        """Tokens that are equal to no others."""
        self._num_own += count
        return range(-self._num_own, count - self._num_own)

    def _enter(self, name: str, group: SequenceGroup) -> None:
        self._num_requests += 1
        self.sequences[name] = group.lead
        self.recorder.arrived(group)

    def _admit(self, group: SequenceGroup) -> None:
        seat = heappop(self._free_seats) if self._free_seats else len(self.sequences) - 1
        group.lead.seat = seat
        group.lead.status = group.status = SequenceStatus.DECODE
        self.recorder.admitted(group, group.prompt_len, False)
        self.recorder.close()


def run_ops(settings: Settings, ops: Iterable[Op], name: str = "", progress: Progress | None = None) -> Trace:
    """The trace of a list of operations, one a step. Raises ScenarioError for an operation that is not well formed."""
    return BlockPoolOps(settings, ops, name).run(progress).recorder.trace()
