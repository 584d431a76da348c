"""Does the simulator tell how long a step takes? Calibrated to one stream of requests, asked about another one.

Both streams are served three times, in turn. The batches of a stream are the same each time, because nothing depends on
the clock: the median over the three runs is the time of a step. The simulator gets the other stream as requests only and
serves it by the calibrated cost model; its steps are the same, and their times are compared one by one.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.executor.calibration import Calibration, MeasuredStep
from engine.executor.executor import Executor
from engine.executor.paged_torch import Model, TorchExecutor
from engine.executor.simulated import SimulatedExecutor
from engine.live import LiveEngine
from engine.request import SamplingParams
from engine.settings import Settings
from tests.bench.live_streams import Asked, settings_for

REPEATS = 3
SETTINGS = {"policy": "chunked", "max_num_batched_tokens": 64, "max_num_seqs": 8}


@dataclass(frozen=True, slots=True)
class Fidelity:
    """`errors` are (predicted - measured) / measured by step; `total` is the same of the sums."""

    errors: tuple[float, ...]
    total: float

    @property
    def num_steps(self) -> int:
        return len(self.errors)

    @property
    def median(self) -> float:
        """Half of the steps are predicted at least that well."""
        return statistics.median(map(abs, self.errors))


def fidelity(model: Model, fitted: Sequence[Asked], other: Sequence[Asked]) -> Fidelity:
    """Of the live engine with a model."""
    return fidelity_of(lambda settings: TorchExecutor(model, settings), fitted, other)


def fidelity_of(executor: Callable[[Settings], Executor], fitted: Sequence[Asked], other: Sequence[Asked]) -> Fidelity:
    """`executor` makes what is measured. Raises RuntimeError when the simulator plans other steps."""
    runs = [[_steps(stream, executor) for stream in (fitted, other)] for _ in range(REPEATS)]
    known, measured = ([_median(steps) for steps in zip(*runs_of, strict=True)] for runs_of in zip(*runs, strict=True))
    calibration = Calibration.of(known)
    simulated = _steps(other, lambda settings: SimulatedExecutor(calibration))
    if [step[:3] for step in simulated] != [step[:3] for step in measured]:
        raise RuntimeError("The simulated run has other steps than the measured one.")
    pairs = [(one.duration, real.duration) for one, real in zip(simulated, measured, strict=True)]
    predicted, taken = map(sum, zip(*pairs, strict=True))
    return Fidelity(tuple(one / real - 1 for one, real in pairs), predicted / taken - 1)


def _steps(stream: Sequence[Asked], executor: Callable[[Settings], Executor]) -> list[MeasuredStep]:
    settings = settings_for(stream, **SETTINGS)
    live = LiveEngine(settings, executor(settings), clock=lambda: 0.0)
    for one in stream:
        live.submit(one.prompt, SamplingParams(max_tokens=one.num_tokens))
    while live.has_work:
        live.step()
    return live.measured


def _median(steps: Sequence[MeasuredStep]) -> MeasuredStep:
    """The same step of all runs."""
    return steps[0]._replace(duration=statistics.median(step.duration for step in steps))
