"""What `check` prints: rows that keep to the width of the terminal."""

import pytest

import scenarios.commands.check as check_command
from scenarios.__main__ import main


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("80", 80), (None, 100)])
def test_check_keeps_to_the_width_of_the_terminal_and_loses_no_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    ours = " ".join(f"word{number}" for number in range(60))
    row = {"id": "A01", "title": "one " * 12, "class": "D", "expected": "1", "ours": ours, "passed": True, "where": ""}
    monkeypatch.setattr(check_command, "check", lambda progress: {"rows": [row], "passed": 1, "failed": 0})
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert [word for line in lines for word in line.split() if word.startswith("word")] == ours.split()
