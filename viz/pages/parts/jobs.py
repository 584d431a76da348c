"""Work that takes longer than a page may wait: it runs in a thread, tells how far it is, and can be stopped.

A job knows nothing of Streamlit or of the work itself. Jobs of one visitor can be put one after another, so that the pages
and the short runs of everybody else stay quick. Whoever asks for the same content shares the work and its result; Stop
ends it for the one who pressed it, and the work itself when nobody else waits for it.
"""

import logging
from collections.abc import Callable
from copy import copy
from enum import Enum
from threading import Event, Semaphore, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from engine.settings import SettingsError
from engine.trace.check import TraceFileError
from scenarios.fields import ScenarioError
from scenarios.readers import ReadError
from viz.pages.parts.words import on_screen

Result = TypeVar("Result")
Report = Callable[[float, str], None]
"""`report(fraction, note)`: how much is done (0 to 1) and what is being done; raises `Stopped` when it should end."""

FOR_USERS = (SettingsError, ScenarioError, ReadError, TraceFileError)
"""Errors whose message is one sentence about the input; any other is a fault of ours and goes to the log."""
MAX_RUNNING = 8
_TURNS = Semaphore(MAX_RUNNING)
_LOOK_AGAIN = 0.1
LOG = logging.getLogger(__name__)


class State(Enum):
    """Where a job stands; the last three are final."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class Stopped(Exception):
    """Raised inside work that nobody waits for any more after Stop was pressed."""


class Visitor:
    """Somebody who waits for jobs, such as a session of a browser. One who is gone, and kept by nobody, waits no longer."""


class Job(Generic[Result]):
    """One piece of work as one visitor sees it. `result` is there when `state` is DONE, `problem` (one sentence) when it
    is FAILED; for a visitor who has let go it is STOPPED, also while the work goes on for others.

    after    a job that has to end before this one begins
    """

    def __init__(self, work: Callable[[Report], Result], after: "Job[Any] | None" = None) -> None:
        self._work: _Work[Result] = _Work(work, None if after is None else after._work)
        self._visitor = Visitor()

    def of(self, visitor: Visitor) -> "Job[Result]":
        """The same work as that visitor sees it, who waits for it from now on unless he has let go of it."""
        job = copy(self)
        job._visitor = visitor
        if not job.is_let_go:
            self._work.waiting.add(visitor)
        return job

    @property
    def is_let_go(self) -> bool:
        """Whether this visitor has pressed Stop."""
        return self._visitor in self._work.let_go

    @property
    def state(self) -> State:
        return State.STOPPED if self.is_let_go else self._work.state

    @property
    def ended(self) -> bool:
        return self.is_let_go or self._work.ended.is_set()

    @property
    def fraction(self) -> float:
        return self._work.fraction

    @property
    def note(self) -> str:
        return self._work.note

    @property
    def result(self) -> Result | None:
        return self._work.result

    @property
    def problem(self) -> str:
        return self._work.problem

    def stop(self) -> None:
        """Let go of work that has not ended; it ends at its next report unless others wait for it."""
        if not self.ended:
            self._work.waiting.discard(self._visitor)
            self._work.let_go.add(self._visitor)
            self._work.is_unwanted = True

    def ask_again(self) -> None:
        """Wait for it once more after Stop."""
        self._work.let_go.discard(self._visitor)
        self._work.waiting.add(self._visitor)

    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; True when it has come."""
        return self.is_let_go or self._work.ended.wait(timeout)


class _Work(Generic[Result]):
    """The thread behind all jobs that share it, and who waits for it. `is_unwanted`: somebody has pressed Stop."""

    def __init__(self, work: Callable[[Report], Result], after: "_Work[Any] | None") -> None:
        self.state = State.WAITING
        self.fraction = 0.0
        self.note = ""
        self.result: Result | None = None
        self.problem = ""
        self.ended = Event()
        self.waiting: WeakSet[Visitor] = WeakSet()
        self.let_go: WeakSet[Visitor] = WeakSet()
        self.is_unwanted = False
        Thread(target=self._run, args=(work, after), name="job", daemon=True).start()

    def _report(self, fraction: float, note: str) -> None:
        if self.is_unwanted and not self.waiting:
            raise Stopped
        self.fraction, self.note = min(max(fraction, 0.0), 1.0), note

    def _run(self, work: Callable[[Report], Result], after: "_Work[Any] | None") -> None:
        try:
            while after is not None and not after.ended.wait(_LOOK_AGAIN):
                self._report(0.0, "")
            while not _TURNS.acquire(timeout=_LOOK_AGAIN):
                self._report(0.0, "")
            try:
                self.state = State.RUNNING
                self._report(0.0, "")
                self.result = work(self._report)
                self.state = State.DONE
            finally:
                _TURNS.release()
        except Stopped:
            self.state = State.STOPPED
        except FOR_USERS as error:
            self.problem, self.state = on_screen(str(error)), State.FAILED
        except MemoryError:
            self.problem = "This run does not fit into memory; use fewer requests, or a smaller pool."
            self.state = State.FAILED
        except Exception:
            LOG.exception("a job failed")
            self.problem = "This could not be computed because of a fault in KVScope; the log of the server names it."
            self.state = State.FAILED
        finally:
            self.ended.set()
