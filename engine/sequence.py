"""The running side of a request: its sequences and the counters that the scheduler moves.

A decoding sequence advances by one token a step and needs nobody until its block is full or its output ends. So its
counters are ramps over the engine's ticks (one tick a scheduled step): value + rate x ticks since. The trace records
the same ramps, which is why neither the engine nor the trace touches a sequence for every token.
"""

from typing import TYPE_CHECKING

from engine.request import FinishReason, Request, SequenceStatus

if TYPE_CHECKING:
    from engine.kv.prefix_cache import Chain


class Ticks:
    """Counts the scheduled steps of one engine."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0


class Sequence:
    """One answer in the making.

    num_tokens            known tokens: prompt + output, counting tokens whose step is already scheduled
    num_computed_tokens   tokens whose KV is stored once the scheduled steps are done
    num_cached_tokens     of these, tokens found in a prefix cache
    rate                  1 while it advances by one token a tick, else 0
    block_table           physical block of each logical block
    chain                 its prefixes as the prefix cache knows them, None without one
    limit                 prompt and output tokens at its end, if nothing ends it before
    finish_reason         why it ended, None before
    seat                  its place in the batch, -1 without one
    order                 counts admissions; smaller was admitted earlier
    wake                  tick at which the scheduler has to look at it again; -1 when it looks every time
    """

    __slots__ = (
        "_computed",
        "_known",
        "_since",
        "_ticks",
        "block_table",
        "chain",
        "finish_reason",
        "group",
        "index",
        "limit",
        "num_cached_tokens",
        "num_scheduled_tokens",
        "order",
        "output_token_ids",
        "rate",
        "sample",
        "seat",
        "status",
        "wake",
    )

    def __init__(self, index: int, group: "SequenceGroup", sample: int, ticks: Ticks) -> None:
        self.index = index
        self.group = group
        self.sample = sample
        script = group.request.output_script
        most = group.max_tokens if script is None else min(group.max_tokens, max(len(script[sample]), 1))
        self.limit = group.prompt_len + most
        self.finish_reason: FinishReason | None = None
        self.status = SequenceStatus.WAITING
        self.block_table: list[int] = []
        self.chain: Chain | None = None
        self.seat = -1
        self.order = -1
        self.wake = -1
        self.num_cached_tokens = 0
        self.num_scheduled_tokens = 0
        self.output_token_ids: list[int] = []
        self.rate = 0
        self._known = group.prompt_len
        self._computed = 0
        self._since = 0
        self._ticks = ticks

    @property
    def num_tokens(self) -> int:
        return self._known + self.rate * (self._ticks.now - self._since)

    @property
    def num_computed_tokens(self) -> int:
        return self._computed + self.rate * (self._ticks.now - self._since)

    @property
    def num_output_tokens(self) -> int:
        """Output tokens, counting those whose step is scheduled but not finished."""
        return self.num_tokens - self.group.prompt_len

    @property
    def num_missing_tokens(self) -> int:
        """Known tokens that have to be computed before the next one can be sampled; 0 when the last is on its way."""
        known = self._known + self.rate * (self._ticks.now - self._since)
        return self._known - self._computed if known < self.limit else 0

    @property
    def is_decoding(self) -> bool:
        return self.status is SequenceStatus.DECODE

    @property
    def phase(self) -> SequenceStatus:
        """DECODE when everything is computed but the token that was sampled last, else PREFILL."""
        is_decoding = self._known - self._computed == 1 and self.num_output_tokens > 0
        return SequenceStatus.DECODE if is_decoding else SequenceStatus.PREFILL

    def start(self) -> None:
        """From the next tick on, advance by one token a tick."""
        self._since = self._ticks.now
        self.rate = 1

    def settle(self) -> None:
        """Turn the ramp into plain numbers; the sequence stands still from here."""
        if self.rate:
            passed = self._ticks.now - self._since
            self._known += passed
            self._computed += passed
            self.rate = 0

    def advance(self, num_tokens: int) -> None:
        """`num_tokens` more are computed (a prompt, a chunk); tokens that were not known before become known."""
        self._computed += num_tokens
        self._known = max(self._known, self._computed)

    def take_over(self, num_tokens: int) -> None:
        """The first `num_tokens` tokens were found in a cache: nobody has to compute them."""
        self._computed = self.num_cached_tokens = num_tokens
        self._known = max(self._known, num_tokens)

    def sample_one(self) -> None:
        """One more token is known; its KV is not computed yet."""
        self._known += 1

    def follow(self, parent: "Sequence") -> None:
        """Stand where `parent` stands: its computed tokens are mine as well (after a fork)."""
        self._computed = parent.num_computed_tokens
        self._known = max(self._known, self._computed)
        self.status = self.phase

    def reset(self) -> None:
        """Nothing is computed any more (recompute preemption); known tokens stay known."""
        self.settle()
        self._computed = 0
        self.num_cached_tokens = 0

    def __repr__(self) -> str:
        name = f"{self.group.request.request_id}.{self.sample}"
        return f"<{name} {self.status.name} {self.num_computed_tokens}/{self.num_tokens}>"


class SequenceGroup:
    """A request inside the engine: its sequences, its place in the queue, how often it was preempted.

    `rank` orders the queue (smaller is nearer the head). `is_forked` says that all samples have their share of the
    prompt. `max_tokens` is the output limit of each sample, cut to what the context leaves.
    """

    __slots__ = (
        "index",
        "is_forked",
        "max_tokens",
        "num_finished",
        "num_preemptions",
        "prompt_len",
        "rank",
        "request",
        "sequences",
        "status",
    )

    def __init__(self, request: Request, index: int, first_sequence: int, max_tokens: int, ticks: Ticks) -> None:
        self.request = request
        self.index = index
        self.prompt_len = request.prompt.num_tokens
        self.max_tokens = max_tokens
        self.status = SequenceStatus.WAITING
        self.rank = 0
        self.num_preemptions = 0
        self.num_finished = 0
        self.is_forked = False
        self.sequences = [Sequence(first_sequence + i, self, i, ticks) for i in range(request.sampling.n)]

    @property
    def lead(self) -> Sequence:
        """The sequence that computes the prompt: the first unfinished one; the other samples fork from it."""
        if len(self.sequences) == 1:
            return self.sequences[0]
        unfinished = (seq for seq in self.sequences if seq.status is not SequenceStatus.FINISHED)
        return next(unfinished, self.sequences[0])

    @property
    def unfinished(self) -> list[Sequence]:
        return [seq for seq in self.sequences if seq.status is not SequenceStatus.FINISHED]

    @property
    def num_known_at_admission(self) -> int:
        """Tokens to compute before the first (next) token: the prompt of a group, all known tokens of a single one."""
        sequences = self.sequences
        return self.prompt_len if len(sequences) > 1 else sequences[0].num_tokens

    @property
    def num_distinct_computed_tokens(self) -> int:
        """Computed tokens of the unfinished samples; the prompt that they share counts once."""
        computed = [seq.num_computed_tokens for seq in self.unfinished]
        return min(max(computed), self.prompt_len) + sum(max(0, count - self.prompt_len) for count in computed)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or never could run."""
        return self.status in (SequenceStatus.FINISHED, SequenceStatus.REJECTED)

    @property
    def is_finished(self) -> bool:
        return self.num_finished == len(self.sequences)
