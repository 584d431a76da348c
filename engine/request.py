"""What a user asks for, and the sequences that answer it.

A `Request` is what arrives; a `Sequence` is one running answer with its block table. A request with n > 1 samples has
n sequences that share the blocks of the prompt (vLLM paper, section 4.4). Requests and sequences carry the numbers
that the trace uses as keys: `index`, counted from 0 in order of arrival by one engine.
"""

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

TokenRun = tuple[int, int, int]
"""(content id, start, length): `length` tokens of a content, from its token number `start` on."""


class SequenceStatus(IntEnum):
    """Where a request or sequence stands; the numbers are those of the trace."""

    PENDING = 0  # not arrived yet; the value of a key that has no row
    WAITING = 1
    PREFILL = 2
    DECODE = 3
    PREEMPTED = 4
    SWAPPED = 5
    FINISHED = 6
    REJECTED = 7


class FinishReason(StrEnum):
    """Why a sequence ended: a stop token, its length (or no memory for more), or somebody who took it back."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as runs of tokens, so that a trace of a hundred million tokens fits into memory.

    Two runs with the same content id hold the same tokens; `token_ids` is given only where real ids exist.
    """

    runs: tuple[TokenRun, ...] = ()
    token_ids: tuple[int, ...] | None = None

    @property
    def num_tokens(self) -> int:
        if self.token_ids is not None:
            return len(self.token_ids)
        return sum(length for _, _, length in self.runs)

    @classmethod
    def of_length(cls, num_tokens: int, content: int = 0) -> "Prompt":
        """A prompt of `num_tokens` tokens of one content (equal to nothing else when the content id is its own)."""
        return cls(runs=((content, 0, num_tokens),) if num_tokens else ())

    @classmethod
    def of_ids(cls, token_ids) -> "Prompt":
        return cls(token_ids=tuple(token_ids))


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How a request is decoded: `n` samples of at most `max_tokens` tokens each.

    The simulator has no model that could stop by itself: there `max_tokens` is the output length. With a model, a
    sample ends at the first of `stop_token_ids` as well, which stays its last token. Temperature 0 takes the best
    token; else `top_k` (0 = all) and `top_p` cut the distribution, and `seed` makes the draw repeatable.
    """

    n: int = 1
    max_tokens: int = 16
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    stop_token_ids: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Request:
    """One arrival. `arrival_time` is in seconds of the run's clock.

    `output_script`, where given, holds the token ids that each sample will produce (a replay of a live run); a sample
    ends with its script at the latest.
    `after` and `delay` describe a later round of a conversation: it arrives `delay` seconds after request `after` ended.
    `measured` keeps times that a file brought along (seconds); they are shown beside the simulated ones.
    """

    request_id: str
    arrival_time: float
    prompt: Prompt
    sampling: SamplingParams = SamplingParams()
    tenant: str = ""
    priority: int = 0
    output_script: tuple[tuple[int, ...], ...] | None = None
    after: str | None = None
    delay: float = 0.0
    measured: dict[str, float] = field(default_factory=dict)
