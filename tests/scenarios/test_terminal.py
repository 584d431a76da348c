"""What stands around a command: text that a terminal may print, streams that are closed or full, a second Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.terminal import printable, say, uninterrupted

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[2J", r"\x1b[31mred\x1b[2J"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("half \ud800", r"half \ud800"),
        ("\x07\x08\x9b", r"\x07\x08\x9b"),
        ("中文\u3000é", "中文\u3000é"),
    ],
)
def test_what_a_terminal_would_obey_is_written_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_any_text_becomes_one_line_that_every_terminal_can_show(text: str) -> None:
    line = printable(text)
    line.encode()
    assert not set(line) & {chr(code) for code in (*range(32), *range(127, 160), 0x2028, 0x2029, 0x202E)}


def test_a_sentence_is_said_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("two\nlines and \x1b[2J.")
    assert capsys.readouterr().err == "two lines and \\x1b[2J.\n"


def test_ctrl_c_is_not_heard_while_results_are_saved_and_then_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def shell(line: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a line of bash, in which `$P` is this Python."""
    environment = {**os.environ, "P": sys.executable}
    done = subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "status", "err"),
    [
        ("$P -m scenarios list >&-", 0, ""),
        ("$P -m scenarios list 2>&- <&- >/dev/null", 0, ""),
        ("$P -m scenarios run nothing 2>&-", 2, ""),
        ("$P -m scenarios run nothing 2>/dev/full", 2, ""),
        ("$P -m scenarios list >/dev/full", 2, "the output: No space left on device.\n"),
        (
            "$P -m tests.goldens /nowhere >&-",
            2,
            "'/nowhere/cases' is not a folder; give the folder that the files are in.\n",
        ),
    ],
)
def test_closed_and_full_streams_cost_one_line_at_most(line: str, status: int, err: str) -> None:
    assert shell(line) == (status, "", err)
