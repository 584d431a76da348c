"""A story told by operations on the block pool instead of requests: allocate, append, fork, free, match, evict.

The operations run on the engine's own paged KV manager and speak to its recorder, one operation a step, so that the
player shows them like any other run. No scheduler takes part. An operation that fails changes nothing; it gets a step
all the same, and its result names the error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from engine.batch import Row
from engine.kv import MANAGERS
from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.loop import trace_header
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence as EngineSequence
from engine.sequence import SequenceGroup
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from scenarios.operations import Op, appended_later, num_tokens_of, read_ops
from scenarios.ops_run import OpError, OpsRun, Result

Progress = Callable[["BlockPoolOps"], None]
ERRORS = ("out_of_blocks", "unknown_seq", "duplicate_seq", "empty_prompt")
"""Several at once: the first of this order."""


class BlockPoolOps(OpsRun):
    """Operations on the block pool; every result has `free_blocks`."""

    def __init__(self, settings: Settings, ops: Iterable[Op], name: str = "", recorder: Recorder | None = None) -> None:
        if settings.kv_manager != "paged":
            raise ScenarioError(f"kv_manager is {settings.kv_manager!r}; operations need the paged one.")
        recorder = recorder or Recorder(trace_header(settings, name))
        kv = MANAGERS[settings.manager](settings, recorder)
        assert isinstance(kv, PagedKV)
        super().__init__(read_ops(ops), recorder, kv, settings.step_time)
        self.kv = kv
        self._num_own = 0
        self._output_lens = appended_later(self.ops)

    @property
    def verbs(self) -> Mapping[str, Callable[..., Result]]:
        return {
            "allocate": self._allocate,
            "append": self._append,
            "fork": self._fork,
            "free": self._free,
            "match": self._match,
            "evict": self._evict,
        }

    def sizes(self) -> Result:
        return {"free_blocks": self.kv.num_free}

    @property
    def tables(self) -> dict[str, list[int]]:
        """The block table of every living sequence, in order of creation."""
        return {name: list(seq.block_table) for name, seq in self.sequences.items()}

    def _store(self, row: Row) -> None:
        super()._store(row)
        if isinstance(self.kv, HashedKV):
            self.kv.register(row.sequence, row.sequence.num_computed_tokens)

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
        self._admit(group.lead)
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
        self._admit(group.lead)
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
        self._known(name)
        return {"freed_blocks": self._end(name)}

    def _known(self, name: str) -> EngineSequence:
        if name not in self.sequences:
            raise OpError("unknown_seq")
        return self.sequences[name]

    def _group(self, name: str, tokens: int | Sequence[int] | Prompt) -> SequenceGroup:
        """A request of one sequence that nobody knows yet."""
        number, prompt = self._num_requests, tokens if isinstance(tokens, Prompt) else self._prompt(tokens)
        output_len = self._output_lens[self.num_steps]
        request = Request(name, self.num_steps * self._duration, prompt, SamplingParams(1, output_len))
        return SequenceGroup(request, number, number, output_len, self._ticks)

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


def run_ops(settings: Settings, ops: Iterable[Op], name: str = "", progress: Progress | None = None) -> Trace:
    """The trace of a list of operations, one a step. Raises ScenarioError for an operation that is not well formed."""
    return BlockPoolOps(settings, ops, name).run(progress).recorder.trace()
