"""What is asked of a live run, what comes back, and what its queue needs of an engine with a model."""

from dataclasses import dataclass
from typing import Any, Protocol

from engine.executor.calibration import MeasuredStep
from engine.request import SamplingParams
from engine.script import Script
from engine.trace.chunk import Chunk

EMPTY = "The prompt is empty; write at least one word."


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody typed: a prompt and how it is to be answered."""

    prompt: str
    sampling: SamplingParams


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out so far: one text for each sample, tokens of all of them, and how it ended ("" while it has not)."""

    request_id: str
    prompt: str
    texts: tuple[str, ...]
    num_tokens: int
    status: str
    ttft_s: float | None
    latency_s: float | None


@dataclass(frozen=True, slots=True)
class Record:
    """What a run leaves behind beside its trace."""

    script: Script
    measured: tuple[MeasuredStep, ...]


class LiveServing(Protocol):
    """What the queue needs of an engine with a model."""

    header: dict[str, Any]
    remark: str
    """Model, device and dtype, as they stand above the run."""

    def submit(self, request_id: str, ask: Ask) -> None:
        """Queue a request. Raises one of the errors for users for a prompt that it cannot take."""

    def abort(self, request_id: str) -> None:
        """End a request between two steps; one that has ended stays as it is."""

    def step(self) -> bool:
        """One pass of the loop; False when there is nothing to do."""

    def drain(self) -> Chunk:
        """What was recorded since the last call."""

    def answers(self) -> list[Answer]:
        """All requests so far, in order of arrival."""

    def record(self) -> Record:
        """The run so far as a script, and what its steps took."""
