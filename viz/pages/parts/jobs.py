"""Work that takes longer than a page may wait: it runs in a thread, tells how far it is, and can be stopped.

A job knows nothing of Streamlit or of the work itself. Jobs of one visitor can be put one after another, so that the pages
and the short runs of everybody else stay quick. Whoever asks for the same content shares the job and its result.
"""

import logging
from collections.abc import Callable
from enum import Enum
from threading import Event, Semaphore, Thread
from typing import Any, Generic, TypeVar

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
    """Raised inside the work when somebody pressed Stop."""


class Job(Generic[Result]):
    """One piece of work. `result` is there when `state` is DONE, `problem` (one sentence) when it is FAILED.

    after    a job that has to end before this one begins
    """

    def __init__(self, work: Callable[[Report], Result], after: "Job[Any] | None" = None) -> None:
        self.state = State.WAITING
        self.fraction = 0.0
        self.note = ""
        self.result: Result | None = None
        self.problem = ""
        self._stop = Event()
        self._ended = Event()
        Thread(target=self._run, args=(work, after), name="job", daemon=True).start()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def stop(self) -> None:
        """Ask the work to end; it does so at its next report."""
        self._stop.set()

    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; True when it has come."""
        return self._ended.wait(timeout)

    def _report(self, fraction: float, note: str) -> None:
        if self._stop.is_set():
            raise Stopped
        self.fraction, self.note = min(max(fraction, 0.0), 1.0), note

    def _run(self, work: Callable[[Report], Result], after: "Job[Any] | None") -> None:
        try:
            while after is not None and not after.wait(_LOOK_AGAIN):
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
            self._ended.set()
