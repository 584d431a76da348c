"""The live engine of this process: one thread, and one queue in which the runs of all sessions wait for it.

A run has an engine of its own (settings, pool, cache) on the one model of the process. The thread serves the run at the
head of the queue until none of its requests is left, then the next one; a request that is added to a run without work
puts it at the end of the queue again. First come, first served. What a session asks for (a request, a stop) is done
between two steps. A session that is gone takes its runs with it.
"""

import logging
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from threading import Condition, Thread, get_native_id
from time import monotonic

from engine.executor.calibration import MeasuredStep
from engine.trace.check import told
from engine.trace.trace import Trace
from viz.pages.parts.jobs import FOR_USERS
from viz.pages.parts.live_serving import Answer, Ask, LiveServing, Record
from viz.pages.parts.words import on_screen
from viz.player.arriving import ArrivingRun

LOG = logging.getLogger(__name__)
MAX_REQUESTS = 500
"""Requests of one run; a pool that is made to be looked at does not serve more."""
MAX_RUNS = 16
"""Runs that are kept; the oldest one that does nothing makes room for a new one."""
MAX_MEASURED = 8
"""Other runs whose step times are kept."""
BETWEEN_LOOKS = 0.15
"""Seconds of steps after which what happened is handed on, and one looks who is still there."""
COURTESY = 5
"""By how much the engine's thread, and those that multiply for it, stand behind the pages and the browser for the CPU."""


class LiveState(Enum):
    """Where a run stands: in the queue, on the engine, without work, or over for good."""

    WAITING = "waiting"
    RUNNING = "running"
    IDLE = "idle"
    ENDED = "ended"
    FAILED = "failed"


class LiveRunError(ValueError):
    """One sentence about what cannot be asked of a live run."""


@dataclass(eq=False)
class LiveRun:
    """One run as its session sees it; `refused` are sentences about requests that the engine did not take. Its engine is
    let go of when it is over, so that the memory can go."""

    is_wanted: Callable[[], bool]
    serving: LiveServing | None
    arriving: ArrivingRun
    state: LiveState = LiveState.IDLE
    problem: str = ""
    answers: list[Answer] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    trace: Trace | None = None
    record: Record | None = None
    num_asked: int = 0
    inbox: deque[tuple[str, Ask | None]] = field(default_factory=deque)
    closing: bool = False

    @property
    def is_over(self) -> bool:
        return self.state in (LiveState.ENDED, LiveState.FAILED)

    @property
    def coming(self) -> dict[str, Ask | None]:
        """What is done after the step that runs now: requests that are taken in, and None for those that are stopped."""
        return dict(tuple(self.inbox))


class LiveRuns:
    """All runs of the process. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._change = Condition()
        self._runs: list[LiveRun] = []
        self._queue: deque[LiveRun] = deque()
        self._measured: list[tuple[LiveRun, tuple[MeasuredStep, ...]]] = []
        self._thread: Thread | None = None

    def begin(self, title: str, serving: LiveServing, asks: list[Ask], is_wanted: Callable[[], bool]) -> LiveRun:
        """A new run with its first requests, at the end of the queue. `is_wanted` says whether its session is still there.

        Raises LiveRunError for too many requests, or when no run can make room for it."""
        header = {**serving.header, **told(title, serving.remark)}
        arriving = ArrivingRun(header, title=title, remark=serving.remark, has_words=True)
        run = LiveRun(is_wanted, serving, arriving)
        with self._change:
            self._make_room()
            self._runs.append(run)
            if self._thread is None:
                self._thread = Thread(target=self._serve, name="live engine", daemon=True)
                self._thread.start()
        self.add(run, asks)
        return run

    def add(self, run: LiveRun, asks: list[Ask]) -> list[str]:
        """More requests, now or while it runs; their ids. Raises LiveRunError."""
        with self._change:
            if run.is_over:
                raise LiveRunError("This run is over; start another one to ask more.")
            if run.num_asked + len(asks) > MAX_REQUESTS:
                raise LiveRunError(
                    f"A live run takes {MAX_REQUESTS:,} requests, and this would make "
                    f"{run.num_asked + len(asks):,}; ask fewer at once, or start another run."
                )
            names = [_name(run.num_asked + number) for number in range(len(asks))]
            run.num_asked += len(asks)
            run.inbox.extend(zip(names, asks, strict=True))
            self._enqueue(run)
        return names

    def stop(self, run: LiveRun, request_id: str) -> None:
        """End one request after the step that runs now."""
        with self._change:
            if not run.is_over:
                run.inbox.append((request_id, None))
                self._enqueue(run)

    def end(self, run: LiveRun) -> None:
        """End the run: requests that are still going are stopped, its memory is given back, its trace is whole."""
        with self._change:
            if not run.is_over:
                run.closing = True
                self._enqueue(run)

    def kept(self, run: LiveRun) -> tuple[Trace, Record] | None:
        """Trace and record of a run that does nothing now; None while it goes on, and when it has failed."""
        with self._change:
            if run.trace is not None and run.record is not None:
                return run.trace, run.record
            if run.state is LiveState.IDLE and run.serving is not None:
                return run.arriving.trace(), run.serving.record()
        return None

    def measured_elsewhere(self, run: LiveRun) -> tuple[MeasuredStep, ...]:
        """Steps of the latest other runs; empty where there are none."""
        with self._change:
            return tuple(step for other, steps in self._measured if other is not run for step in steps)

    def place(self, run: LiveRun) -> int:
        """How many runs are served before this one; 0 for the one on the engine and for those that do not wait."""
        with self._change:
            return self._queue.index(run) if run in self._queue else 0

    # the thread

    def _serve(self) -> None:
        if sys.platform == "linux":  # elsewhere a priority is that of the whole process
            thread = get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + COURTESY))
        while True:
            with self._change:
                while not self._queue:
                    self._change.wait()
                run = self._queue[0]
                if run.state is not LiveState.RUNNING:
                    run.state = LiveState.RUNNING
            self._serve_some(run)

    def _serve_some(self, run: LiveRun) -> None:
        """A few steps of the run at the head of the queue; it leaves the queue when it has nothing to do."""
        serving = run.serving
        assert serving is not None, "a run that is over is not in the queue"
        try:
            has_work, since = True, monotonic()
            while has_work and monotonic() - since < BETWEEN_LOOKS:
                if self._take_in(run, serving):
                    self._hand_on(run, serving)
                has_work = not run.closing and serving.step()
            self._hand_on(run, serving)
            if not run.is_wanted():
                run.closing = True
            with self._change:
                if run.closing:
                    self._close(run, serving)
                elif not has_work and not run.inbox:
                    self._queue.popleft()
                    run.state = LiveState.IDLE
                    self._note(run, serving.record())
        except FOR_USERS as error:
            self._fail(run, on_screen(str(error)))
        except MemoryError:
            self._fail(run, "The model lacks the memory for this step; use a smaller pool or shorter prompts.")
        except Exception:
            LOG.exception("a live run failed")
            self._fail(run, "The run was ended by a fault in KVScope; the log of the server names it.")

    def _take_in(self, run: LiveRun, serving: LiveServing) -> bool:
        """Do what was asked for since the last step; False where nothing was. A step may take long, so that it is told
        before the next one begins."""
        is_asked = bool(run.inbox)
        while run.inbox:
            request_id, ask = run.inbox.popleft()
            if ask is None:
                serving.abort(request_id)
                continue
            try:
                serving.submit(request_id, ask)
            except FOR_USERS as error:
                run.refused.append(f"{request_id}: {on_screen(str(error))}")
        return is_asked

    def _hand_on(self, run: LiveRun, serving: LiveServing) -> None:
        run.arriving.add(serving.drain())
        run.answers = serving.answers()

    def _close(self, run: LiveRun, serving: LiveServing) -> None:
        for answer in run.answers:
            serving.abort(answer.request_id)
        self._hand_on(run, serving)
        run.trace, run.record = run.arriving.end(), serving.record()
        self._note(run, run.record)
        self._leave(run, LiveState.ENDED)

    def _note(self, run: LiveRun, record: Record) -> None:
        """Keep what its steps took beside the same of others: what held up one of them moves no fit to several."""
        others = [entry for entry in self._measured if entry[0] is not run and entry[1]]
        self._measured = [*others[-MAX_MEASURED:], (run, record.measured)]

    def _fail(self, run: LiveRun, sentence: str) -> None:
        run.problem = sentence
        with self._change:
            self._leave(run, LiveState.FAILED)

    def _leave(self, run: LiveRun, state: LiveState) -> None:
        run.state = state
        if run in self._queue:
            self._queue.remove(run)
        run.serving = None

    def _enqueue(self, run: LiveRun) -> None:
        if run not in self._queue:
            run.state = LiveState.WAITING
            self._queue.append(run)
        self._change.notify_all()

    def _make_room(self) -> None:
        """Forget runs that are over or whose session is gone, then the oldest idle one."""
        self._runs = [run for run in self._runs if not run.is_over and run.is_wanted()]
        if len(self._runs) < MAX_RUNS:
            return
        idle = next((run for run in self._runs if run.state is LiveState.IDLE), None)
        if idle is None:
            raise LiveRunError(f"{MAX_RUNS} live runs are going or waiting; try again when one of them has ended.")
        idle.closing = True
        self._enqueue(idle)
        self._runs.remove(idle)


def _name(number: int) -> str:
    """A, B, ... Z, then r27, r28, ..."""
    return chr(ord("A") + number) if number < 26 else f"r{number + 1}"
