"""The engine: schedule, execute, update, and a clock that is the sum of the durations.

Everything that happens is decided by the scheduler and its KV manager; the executor only says how long a step took and
which tokens came out. Idle time is jumped over to the next arrival.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from engine.admission import output_limit, refusal
from engine.batch import Batch, StepOutput
from engine.executor.cost_model import CostModel
from engine.executor.executor import Executor
from engine.executor.simulated import SimulatedExecutor
from engine.kv import MANAGERS
from engine.kv.manager import KVManager
from engine.request import Request, SequenceStatus
from engine.scheduler import POLICIES
from engine.scheduler.policy import SchedulingPolicy
from engine.scheduler.scheduler import Scheduler
from engine.sequence import SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from engine.workload import Workload

Progress = Callable[["Engine"], None]
PROGRESS_EVERY = 256


class Engine:
    """One serving engine with its own counters; any number of them live side by side.

    A simulator knows how long every answer gets. Without `lengths_known`, in a live run, a request is let in if its
    prompt fits, and one that comes to need more than all memory ends there.
    """

    def __init__(
        self,
        settings: Settings,
        recorder: Listener = SILENT,
        executor: Executor | None = None,
        lengths_known: bool = True,
    ) -> None:
        self.settings = settings
        self.recorder = recorder
        self.executor = executor or SimulatedExecutor(CostModel.of(settings))
        self.kv: KVManager = MANAGERS[settings.manager](settings, recorder)
        self.ticks = Ticks()
        self.scheduler = Scheduler(settings, self.kv, self.ticks, recorder, lengths_known)
        self.policy: SchedulingPolicy = POLICIES[settings.policy]()
        self.scheduler.retire = partial(self.policy.retire, self.scheduler)
        self.clock = 0.0
        self.num_steps = 0
        self.groups: list[SequenceGroup] = []
        self.num_done = 0
        self._lengths_known = lengths_known
        self._num_sequences = 0
        self._on_finish: Callable[[Request, float], None] = lambda request, now: None

    def submit(self, request: Request) -> SequenceGroup:
        """Queue a request, or refuse it if it can never run (its status then is REJECTED)."""
        most = request.sampling.max_tokens
        if request.output_script is not None:
            most = min(most, max(1, *map(len, request.output_script)))
        limit = output_limit(request.prompt.num_tokens, most, self.settings)
        group = SequenceGroup(request, len(self.groups), self._num_sequences, limit, self.ticks)
        self.groups.append(group)
        self._num_sequences += len(group.sequences)
        refused = refusal(group, self.settings, self.kv, self._lengths_known)
        if refused is None:
            self.scheduler.enqueue(group)
            return group
        group.status = SequenceStatus.REJECTED
        for seq in group.sequences:
            seq.status = SequenceStatus.REJECTED
        self.recorder.arrived(group)
        self.recorder.rejected(group, *refused)
        self.recorder.close()
        self._done(group)
        return group

    def abort(self, request_id: str) -> bool:
        """Take a request back between two steps, wherever it stands. False when no request of that name is under way."""
        group = next((group for group in reversed(self.groups) if _is_under_way(group, request_id)), None)
        if group is None:
            return False
        self.scheduler.abort(group)
        self._note_completed()
        return True

    def schedule(self) -> Batch | None:
        """Plan a step; None when nothing can run."""
        self.scheduler.begin()
        self.policy.schedule(self.scheduler)
        self._note_completed()
        return self.scheduler.seal()

    def update(self, batch: Batch, output: StepOutput) -> None:
        """Take in the results of `batch` and move the clock on."""
        start = self.clock
        self.clock += output.duration
        self.num_steps += 1
        finished = self.scheduler.update(batch, output)
        if finished:
            self.policy.retire(self.scheduler, finished)
            self._note_completed()
        self.recorder.updated(batch, start, self.clock)

    def step(self) -> Batch | None:
        """One pass of the loop; None when nothing can run. A pass that only took memory away is followed by another."""
        batch = self.schedule()
        while batch is None and self.scheduler.has_preempted:
            batch = self.schedule()
        if batch is not None:
            self.update(batch, self.executor.execute(batch))
        return batch

    def run(self, workload: Workload, progress: Progress | None = None) -> None:
        """Serve a workload to its end or to `max_steps`. `progress` is called now and then; it may raise to stop."""
        self._on_finish = workload.on_finish
        self.scheduler.more_arrivals = workload.more_arrivals
        while True:
            for request in workload.take(self.clock):
                self.submit(request)
            if self.num_steps >= self.settings.max_steps:
                self.recorder.stopped(self.settings.max_steps)
                self.recorder.close()
                return
            if self.step() is None:
                arrival = workload.next_arrival()
                if arrival is None:
                    return
                self.clock = max(self.clock, arrival)
            elif progress is not None and self.num_steps % PROGRESS_EVERY == 0:
                progress(self)

    def check(self) -> None:
        """All invariants of the memory hold. Raises AssertionError."""
        self.kv.check([seq for group in self.groups for seq in group.sequences])

    def _note_completed(self) -> None:
        completed = self.scheduler.completed
        if completed:
            self.scheduler.completed = []
            for group in completed:
                self._done(group)

    def _done(self, group: SequenceGroup) -> None:
        self.num_done += 1
        self._on_finish(group.request, self.clock)


def _is_under_way(group: SequenceGroup, request_id: str) -> bool:
    return group.request.request_id == request_id and not group.is_over


def trace_header(settings: Settings, name: str, vocabulary: Sequence[str] = ()) -> dict[str, Any]:
    """What a trace says about the run before its first row. Token id t is the word `vocabulary[t]`, where there is one."""
    first, end = settings.block_range
    if settings.has_blocks:
        pools = [{"name": "gpu", "first": first, "size": settings.pool_blocks}]
        if settings.num_host_blocks:
            pools.append({"name": "host", "first": end, "size": settings.num_host_blocks})
    else:
        pools = [{"name": "gpu", "first": 0, "size": settings.pool_tokens}]
    memory = ["tables", "blocks"] if settings.has_blocks else ["strips"]
    if settings.kv_manager == "radix":
        memory.append("nodes")
    header = {
        "format": 1,
        "name": name,
        "settings": settings.as_dict(),
        "pools": pools,
        "resource": "blocks" if settings.has_blocks else "slots",
        "block_size": settings.block_size,
        "tracks": ["requests", "sequences", *memory],
        "time_unit": "s",
    }
    return {**header, "vocabulary": list(vocabulary)} if vocabulary else header


def simulate(
    settings: Settings,
    workload: Workload,
    name: str = "",
    progress: Progress | None = None,
    vocabulary: Sequence[str] = (),
) -> Trace:
    """Run a workload on the simulated executor and return its trace."""
    recorder = Recorder(trace_header(settings, name, vocabulary))
    Engine(settings, recorder).run(workload, progress)
    return recorder.trace()
