"""Runs for the acceptance list: catalogue scenarios by name and small experiments, each run at most once."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.metrics import Metrics, measure
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios.catalogue import load
from scenarios.run import run


class Lab:
    """Keeps the traces and figures that several rows ask for."""

    def __init__(self) -> None:
        self._traces: dict[tuple[str, str], Trace] = {}
        self._metrics: dict[tuple[str, str], Metrics] = {}

    def trace(self, scenario: str, run_name: str) -> Trace:
        """A run of a scenario of the catalogue."""
        key = (scenario, run_name)
        if key not in self._traces:
            self._traces[key] = run(load()[scenario], run_name)
        return self._traces[key]

    def metrics(self, scenario: str, run_name: str) -> Metrics:
        key = (scenario, run_name)
        if key not in self._metrics:
            self._metrics[key] = measure(self.trace(scenario, run_name))
        return self._metrics[key]


def batch_of(outputs: Iterable[int], prompt_len: int = 1, **settings: object) -> Trace:
    """Requests that all arrive at 0 with prompts of one length and these outputs; a step takes one second."""
    requests = [
        Request(f"R{i}", 0.0, Prompt.of_length(prompt_len, content=i), SamplingParams(max_tokens=output))
        for i, output in enumerate(outputs, start=1)
    ]
    return simulate(Settings.of({"step_time": 1.0, **settings}), ListWorkload(requests))


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of a small run: when it ends, and by request what it does.

    emitted   request -> output tokens after the step, for the requests that emit in it
    seats     seat -> the request that sits there, working or not
    """

    end: float
    emitted: dict[str, int]
    seats: dict[int, str]


def steps_of(trace: Trace) -> list[StepView]:
    """The steps of a small run with single samples, each read from its `scheduled` cut."""
    prompts = np.array([request["prompt_len"] for request in trace.requests])
    ids = [request["id"] for request in trace.requests]
    before = prompts
    views = []
    for step in range(trace.num_steps):
        sequences = trace.cut(step=step, at="scheduled").tracks["sequences"]
        known = np.maximum(sequences["num_tokens"], prompts)
        emitted = {ids[i]: int(known[i] - prompts[i]) for i in np.flatnonzero(known > before)}
        seats = {int(seat): ids[i] for i, seat in enumerate(sequences["seat"]) if seat >= 0}
        views.append(StepView(float(trace.times[step, 1]), emitted, seats))
        before = known
    return views


def lanes_of(trace: Trace) -> dict[int, str]:
    """Seat -> one letter a step: the request that works there, "." where a seat is empty or idles."""
    views = steps_of(trace)
    width = 1 + max((seat for view in views for seat in view.seats), default=-1)
    return {
        seat: "".join(view.seats[seat] if view.seats.get(seat) in view.emitted else "." for view in views)
        for seat in range(width)
    }
