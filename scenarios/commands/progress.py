"""How far a long command has got, on stderr: one line that is overwritten on a terminal; elsewhere a line after one
second and then every five."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TextIO

from engine.loop import Engine
from scenarios.ops_run import OpsRun
from scenarios.terminal import printable


class ProgressLine:
    """Use as `with ProgressLine() as line: line.show("...")`; on leaving the terminal line is cleared."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._is_terminal = self._stream.isatty()
        self._due = clock() + (0.2 if self._is_terminal else 1.0)
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def show(self, text: str) -> None:
        """Print `text` if it is time to."""
        now = self._clock()
        if now < self._due:
            return
        self._due = now + (0.1 if self._is_terminal else 5.0)
        self._write(f"\r\x1b[K{printable(text)}" if self._is_terminal else f"{printable(text)}\n")
        self._is_shown = True

    def show_on_terminal(self, text: str) -> None:
        """As `show`, but only on a terminal: elsewhere an error stays the only line."""
        if self._is_terminal:
            self.show(text)

    def clear(self) -> None:
        """Take the line away again (terminal only)."""
        if self._is_terminal and self._is_shown:
            self._write("\r\x1b[K")
            self._is_shown = False

    def reading(self, name: str) -> Callable[..., None] | None:
        """A callback for a reader. Only on a terminal: elsewhere an error about the file stays the only line."""
        if not self._is_terminal:
            return None
        return lambda *counts: self.show(f"reading {name}: {_counted(counts)}")

    def running(self, name: str, total: str) -> Callable[[Engine | OpsRun], None]:
        """A callback for a run of `total`, such as "12 requests"."""

        def show(engine: Engine | OpsRun) -> None:
            self.show(f"{name}: {engine.num_done:,} of {total}, {engine.num_steps:,} steps")

        return show

    def _write(self, text: str) -> None:
        """A line that nobody can read is no reason to stop."""
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


def _counted(counts: tuple[Any, ...]) -> str:
    return " of ".join(f"{count:,}" for count in counts if isinstance(count, int))
