"""A live run as a script: who called what and when, which tokens came out, how long the steps took.

`replay` calls the same again on the simulator's side of the engine: without a model, without a clock. The trace is the
same, column by column, because everything in it but these three things is decided by scheduler and memory. What a cost
model would have said about the times of the same run is `engine.prediction`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.executor.scripted import ScriptedExecutor
from engine.loop import Engine, trace_header
from engine.request import Request
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Submit:
    request: Request


@dataclass(frozen=True, slots=True)
class Abort:
    """Taken back at `time`, in seconds of the run's clock, while it was under way."""

    request_id: str
    time: float


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of the loop that began at `start`, in seconds of the run's clock; it may have found nothing to do."""

    start: float


Call = Submit | Abort | Step


@dataclass(frozen=True, slots=True)
class Script:
    """`calls` in order; `tokens` by (index of the request, sample); `durations` in seconds of the steps that computed."""

    name: str
    settings: Settings
    calls: tuple[Call, ...]
    tokens: dict[tuple[int, int], tuple[int, ...]]
    durations: tuple[float, ...]
    vocabulary: Sequence[str] = ()


def replay(script: Script, recorder: Recorder | None = None) -> Trace:
    """The trace of the run again."""
    recorder = recorder or Recorder(trace_header(script.settings, script.name, script.vocabulary))
    executor = ScriptedExecutor(script.tokens, script.durations)
    engine = Engine(script.settings, recorder, executor, lengths_known=False)
    for call in script.calls:
        match call:
            case Submit(request):
                engine.submit(request)
            case Abort(request_id, _):
                engine.abort(request_id)
            case Step(start):
                engine.clock = start
                engine.step()
    return recorder.trace()
