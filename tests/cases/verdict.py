"""What a runner says about one file, and how a folder of files is run and printed.

A runner answers with a list of contradictions (FAIL) and a list of things it cannot check (SKIP); a contradiction
always wins, and a case passes only when both lists are empty. Shared by the case files and the golden runs.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios.fields import shown_path
from scenarios.terminal import printable, say

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


class Unsupported(Exception):
    """A case that needs something that is not built; the message says what."""


@dataclass(slots=True)
class Findings:
    """What was found wrong in one case, and what could not be checked."""

    wrong: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def add(self, where: str, problem: str | None) -> None:
        if problem is not None:
            self.wrong.append(f"{where}: {problem}" if where else problem)

    def equal(self, where: str, ours: Any, expected: Any) -> None:
        if ours != expected:
            self.wrong.append(f"{where} is {_short(ours)}, expected {_short(expected)}")

    def skip(self, what: str) -> None:
        self.unchecked.append(what)

    def verdict(self) -> tuple[str, str]:
        if self.wrong:
            rest = len(self.wrong) - 1
            return FAIL, self.wrong[0] + (f" (and {rest} more)" if rest else "")
        return (SKIP, self.unchecked[0]) if self.unchecked else (PASS, "")


Runner = Callable[[dict[str, Any], Path], Findings]


def judge(case: Any, path: Path, runner: Runner) -> tuple[str, str]:
    """The verdict on one parsed file; an exception of the program under test is a FAIL, never the end of the run."""
    if not isinstance(case, dict):
        return FAIL, "the file does not hold a JSON object"
    try:
        return runner(case, path).verdict()
    except Unsupported as reason:
        return SKIP, str(reason)
    except Exception as error:  # noqa: BLE001 - whatever breaks belongs to the line of its case
        return FAIL, f"{type(error).__name__}: {error}"


def run_files(paths: Iterable[Path], runner: Runner, out: Callable[[str], Any] = print) -> int:
    """One line a file, a last line with the counts. Returns the exit code: 1 after a failure, else 0."""
    counts: Counter[str] = Counter()
    for path in paths:
        name = path.stem
        try:
            case = json.loads(path.read_text(encoding="utf-8"))
            name = str(case.get("id", name)) if isinstance(case, dict) else name
            verdict, why = judge(case, path, runner)
        except (OSError, ValueError) as error:
            verdict, why = FAIL, f"the file cannot be read: {error}"
        except RecursionError:
            verdict, why = FAIL, "the file cannot be read: it is nested too deeply"
        counts[verdict] += 1
        out(_line(f"{verdict} {_cut(name)}" + (f": {_cut(why, 2000)}" if why else "")))
    out(f"{counts[PASS]} passed, {counts[FAIL]} failed, {counts[SKIP]} skipped")
    return 1 if counts[FAIL] else 0


def main(argv: list[str], usage: str, folder: str, runner: Runner) -> int:
    """The command: DIR holds the files, or a sub-folder of that name does. Exit code 2 for a folder without files."""
    if len(argv) != 1:
        say(f"usage: {usage}")
        return 2
    place = Path(argv[0], folder)
    try:
        paths = sorted(place.glob("*.json"))
    except (OSError, ValueError):
        paths = []
    if not paths:
        what = "holds no .json file" if os.path.isdir(place) else "is not a folder"
        say(f"{shown_path(place)} {what}; give the folder that the files are in.")
        return 2
    return run_files(paths, runner)


def _line(text: str) -> str:
    return printable(" ".join(text.split()))


def _short(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
