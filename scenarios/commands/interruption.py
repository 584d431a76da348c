"""Ctrl-C between two steps: the first one is noted and the step is done to its end, the second one ends the process."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interruption:
    """Use as `with Interruption() as interruption:` and ask `is_heard` between steps."""

    def __init__(self) -> None:
        self.is_heard = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.is_heard:
            raise KeyboardInterrupt
        self.is_heard = True
