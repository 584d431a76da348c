"""What one run of the engine did, in the terms of the case files: steps, requests, decisions.

A run is observed from outside: an executor that notes the rows of each batch, a workload that notes when a request was
first seen, and the trace for everything else. `RunFacts.of` runs the requests; `facts_of_log` reads a log that somebody
wrote down, so that the same predicates can be asked about it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.batch import Batch, StepOutput
from engine.executor.cost_model import CostModel
from engine.executor.simulated import SimulatedExecutor
from engine.kv.hashed import HashedKV
from engine.kv.manager import KVManager
from engine.loop import Engine, trace_header
from engine.request import Request, SequenceStatus
from engine.settings import Settings
from engine.trace.metrics import Metrics, measure
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, BLOCK_STATES, HAPPENINGS, REASONS
from engine.workload import ListWorkload
from tests.cases.written import WrittenSlots

MAX_CUTS = 2_000
MAX_FREE = 10_000
"""So many ids of the free list are looked at."""


@dataclass(slots=True)
class StepFacts:
    """One step. `scheduled` tokens by request; `emitted` request ids, one a token; `stored` tokens of each sample of a
    request whose KV is there when the step ends. `free_blocks` after the step, None for unlimited memory."""

    step: int
    time: float
    end: float
    scheduled: dict[str, int] = field(default_factory=dict)
    emitted: list[str] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    preempted: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    free_blocks: int | None = None
    num_running: int = 0
    stored: dict[str, list[int]] = field(default_factory=dict)

    def as_expected(self) -> dict[str, Any]:
        """The fields that case files may name."""
        names = ["step", "time", "scheduled", "emitted", "admitted", "finished", "preempted", "rejected", "free_blocks"]
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True)
class RequestFacts:
    """One request at the end of the run; times in steps, None where it never happened."""

    request_id: str
    prompt_len: int
    output_len: int
    n: int
    arrival: float
    status: str
    reason: str | None
    output_tokens: int
    finish_time: float | None
    ttft: float | None
    preemptions: int
    hit_tokens: int = 0
    recomputed_tokens: int = 0


class _Observer:
    """Executor of one time unit a step; keeps the rows of every batch, and what is wrong with the memory after it."""

    def __init__(self, settings: Settings) -> None:
        self._executor = SimulatedExecutor(CostModel.of(settings))
        self._written = WrittenSlots(settings.block_size)
        self.rows: list[list[tuple[str, int, int, int, int]]] = []
        self.kv: KVManager | None = None
        self.stale: list[str] = []
        self.free_twice: list[str] = []

    def execute(self, batch: Batch) -> StepOutput:
        if isinstance(self.kv, HashedKV):
            self._written.note(batch)
            self._look(self.kv, batch.step)
        self.rows.append(
            [
                (row.sequence.group.request.request_id, row.sequence.sample, row.start, row.num_tokens, row.num_samples)
                for row in batch.rows
            ]
        )
        return self._executor.execute(batch)

    def _look(self, kv: HashedKV, step: int) -> None:
        problem = self._written.difference(kv)
        if problem is not None:
            self.stale.append(f"step {step}: {problem}")
        free = kv.pool.free_list.ids(MAX_FREE)
        if len(free) != len(set(free)):
            self.free_twice.append(f"step {step}: the free list is {free}")


class _Arrivals(ListWorkload):
    """Notes the time at which each request was handed to the engine."""

    def __init__(self, requests: list[Request]) -> None:
        super().__init__(requests)
        self.seen: dict[str, float] = {}

    def take(self, now: float) -> list[Request]:
        arrived = super().take(now)
        self.seen.update((request.request_id, now) for request in arrived)
        return arrived


@dataclass(slots=True)
class RunFacts:
    """A finished run. `requests` are in order of arrival; `stale` and `free_twice` say where a prefix cache names content
    that a block does not hold, and where the free list names a block twice."""

    settings: Settings
    trace: Trace
    steps: list[StepFacts]
    requests: dict[str, RequestFacts]
    metrics: Metrics
    stale: list[str] = field(default_factory=list)
    free_twice: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, settings: Settings, requests: list[Request]) -> "RunFacts":
        """Run the requests to the end, every invariant checked after every step."""
        observer, workload = _Observer(settings), _Arrivals(requests)
        recorder = Recorder(trace_header(settings, "case"))
        engine = Engine(settings, recorder, observer)
        observer.kv = engine.kv
        engine.run(workload)
        engine.check()
        trace = recorder.trace()
        metrics = measure(trace)
        facts = cls(settings, trace, _steps(trace, observer.rows), _requests(trace, metrics), metrics)
        facts.stale, facts.free_twice = observer.stale, observer.free_twice
        facts._place_happenings(workload.seen)
        facts._count_free_blocks()
        return facts

    @property
    def end_time(self) -> float:
        return float(self.trace.times[-1, 1]) if self.steps else 0.0

    @property
    def num_sequences(self) -> int:
        return len(self.trace.cut(event=0).tracks["sequences"]["status"])

    def finished(self) -> list[RequestFacts]:
        return [request for request in self.requests.values() if request.status == "finished"]

    def throughput(self) -> float:
        """Output tokens a time unit, as the program reports it."""
        return self.metrics.throughput or 0.0

    def in_latency_averages(self, name: str) -> bool:
        """Whether the request takes part in the average of time per output token."""
        return bool(np.isfinite(self.metrics.requests.normalized_latency[list(self.requests).index(name)]))

    def decision(self, action: str, name: str | None = None) -> dict[str, int] | None:
        """The first decision of that kind (about that request): needed, available and the request of the record."""
        for record in _records(self.trace.decisions):
            request = self.trace.requests[record["request"]]["id"] if record["request"] >= 0 else None
            if ACTIONS[record["action"]] == action and name in (None, request):
                return record
        return None

    def oversized(self, step: StepFacts) -> bool:
        """Whether a record says that this step is a recompute longer than the budget, running alone."""
        begin, scheduled = (int(self.trace.steps[name][step.step]) for name in ("begin", "scheduled"))
        return len(step.scheduled) == 1 and any(
            ACTIONS[record["action"]] == "oversize" and begin < record["event"] <= scheduled
            for record in _records(self.trace.decisions)
        )

    def cuts(self) -> list[int]:
        """The events at which frames are looked at: all of them, or an even choice of a long run."""
        total = self.trace.num_events
        return sorted(
            {round(i * total / MAX_CUTS) for i in range(MAX_CUTS + 1)} if total > MAX_CUTS else range(total + 1)
        )

    def _place_happenings(self, seen: dict[str, float]) -> None:
        """Give every happening to its step. A refusal belongs to the step that began when the request was seen."""
        names = {"admitted": "admitted", "resumed": "admitted", "preempted": "preempted", "finished": "finished"}
        for record in _records(self.trace.happenings):
            kind = HAPPENINGS[record["kind"]]
            request = self.trace.requests[record["request"]]["id"] if record["request"] >= 0 else ""
            if kind == "rejected":
                for step in self.steps:
                    if step.time == seen[request]:
                        step.rejected.append(request)
            elif kind in names:
                getattr(self.steps[self.trace.step_of(record["event"])], names[kind]).append(request)
            if kind == "hit":
                self.requests[request].hit_tokens += record["amount"]
            if kind == "preempted":
                self.requests[request].recomputed_tokens += record["amount"]

    def _count_free_blocks(self) -> None:
        if self.settings.pool_blocks is None or "blocks" not in self.trace.tracks:
            return
        first, end = self.settings.block_range
        for step in self.steps:
            states = self.trace.cut(step=step.step).tracks["blocks"]["state"][first:end]
            step.free_blocks = int((states != BLOCK_STATES.index("used")).sum())


def facts_of_log(log: list[dict[str, Any]]) -> list[StepFacts]:
    """A log of `scheduled` and `emitted`, as steps; one running sample for each request that is scheduled."""
    return [
        StepFacts(
            step=number,
            time=float(number),
            end=float(number + 1),
            scheduled=dict(entry.get("scheduled", {})),
            emitted=list(entry.get("emitted", [])),
            num_running=len(entry.get("scheduled", {})),
        )
        for number, entry in enumerate(log)
    ]


def _steps(trace: Trace, rows: list[list[tuple[str, int, int, int, int]]]) -> list[StepFacts]:
    steps = []
    for number, batch in enumerate(rows):
        step = StepFacts(number, float(trace.times[number, 0]), float(trace.times[number, 1]))
        step.num_running = int(trace.steps["num_running"][number])
        for name, _, start, num_tokens, num_samples in batch:
            step.scheduled[name] = step.scheduled.get(name, 0) + num_tokens
            step.emitted += [name] * num_samples
            step.stored.setdefault(name, []).append(start + num_tokens)
        steps.append(step)
    return steps


def _requests(trace: Trace, metrics: Metrics) -> dict[str, RequestFacts]:
    last = trace.cut(event=trace.num_events)
    figures = metrics.requests
    reasons = {
        record["request"]: REASONS[record["reason"]]
        for record in _records(trace.decisions)
        if ACTIONS[record["action"]] == "reject"
    }
    requests = {}
    for index, entry in enumerate(trace.requests):
        samples = slice(entry["first_sequence"], entry["first_sequence"] + entry["n"])
        known = last.tracks["sequences"]["num_tokens"][samples]
        status = SequenceStatus(int(last.tracks["requests"]["status"][index])).name.lower()
        requests[entry["id"]] = RequestFacts(
            request_id=entry["id"],
            prompt_len=entry["prompt_len"],
            output_len=entry["output_len"],
            n=entry["n"],
            arrival=entry["arrival_s"],
            status=status,
            reason=reasons.get(index),
            output_tokens=0 if status == "rejected" else int((known - entry["prompt_len"]).sum()),
            finish_time=_time(figures.finish[index]),
            ttft=_time(figures.ttft[index]),
            preemptions=int(figures.num_preemptions[index]),
        )
    return requests


def _time(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _records(columns: dict[str, np.ndarray]) -> list[dict[str, int]]:
    """The rows of a table of columns, as dictionaries."""
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*(columns[n].tolist() for n in names), strict=True)]
