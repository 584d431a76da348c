"""The process around a command: closed streams, pipes that end, full disks, Ctrl-C at any time, and text for a terminal.

`command` runs a `main` so that none of these ends in a traceback. Whatever stands in a file can be an id, a title or the
name of a column; `printable` writes what would move the cursor, change colours or turn a line around as an escape.
"""

import os
import signal
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

STOPPED = 130


def command(main: Callable[[list[str]], int]) -> int:
    """Run `main` on the arguments of this process and return the exit status: its own, 130 after Ctrl-C, 2 where the
    output cannot be written. A reader that has gone away is no error."""
    _open_missing_streams()
    try:
        status = _status_of(main)
    except KeyboardInterrupt as stop:
        with uninterrupted():
            say(str(stop) or "Stopped.")
        status = STOPPED
    # nothing is left to save: the next Ctrl-C may end the process at once, without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return status


def say(sentence: str) -> None:
    """One line on stderr, if there is one that takes it."""
    try:
        print(printable(" ".join(sentence.split())), file=sys.stderr, flush=True)
    except OSError:
        _to_nowhere(sys.stderr)


def printable(text: str) -> str:
    """The text on one line, without anything that a terminal would obey: control characters, marks that change the
    direction of writing and halves of characters are escaped."""
    if text.isprintable():
        return text
    return "".join(sign if _is_harmless(sign) else sign.encode("unicode_escape").decode() for sign in text)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Inside, Ctrl-C is not heard: a second one must not cost what was saved after the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _status_of(main: Callable[[list[str]], int]) -> int:
    status = 0
    try:
        try:
            status = main(sys.argv[1:])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()
    except BrokenPipeError:
        _to_nowhere(sys.stdout)
    except OSError as error:
        _to_nowhere(sys.stdout)
        if status == 0:
            say(f"the output: {error.strerror or error}.")
        status = status or 2
    return status


def _is_harmless(sign: str) -> bool:
    return sign.isprintable() or unicodedata.category(sign) == "Zs"


def _open_missing_streams() -> None:
    """A stream that was closed by the caller (`>&-`) takes everything and shows nothing. Its number is taken as well,
    so that no file which is opened later gets it."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open to the end
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _to_nowhere(stream: TextIO) -> None:
    """What is still buffered, and all that follows, is dropped without an error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
