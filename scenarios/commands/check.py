"""`check`: every number of the source texts beside ours. Exit status 1 when one of them is missed."""

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scenarios.acceptance import ROWS, check
from scenarios.commands.progress import ProgressLine
from scenarios.commands.table import table, terminal_width, wrapped

PASSED, FAILED, OPEN, CITED = STATES = ("passed", "failed", "not built yet", "cited")
MARKS = {PASSED: "pass", FAILED: "FAIL", OPEN: "-", CITED: "cited"}
LEGEND = (
    "Class: D determined by the text, D* with one input added, S a shape with a band, P a claim that is only cited, "
    "B a behaviour"
)


def state_of(row: Mapping[str, Any]) -> str:
    """One of STATES for a row of the report; a claim of a paper or slide is cited for good."""
    if row["passed"] is not None:
        return PASSED if row["passed"] else FAILED
    return CITED if row["ours"] or row["class"].startswith("P") else OPEN


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def execute(arguments: Namespace) -> int:
    with ProgressLine() as line:
        done = iter(range(1, len(ROWS) + 1))
        report = check(lambda row: line.show(f"row {next(done)} of {len(ROWS)}: {row.id} {row.title}"))
    if arguments.json:
        print(json.dumps(report, indent=1, allow_nan=False))
    else:
        rows = [
            (row["id"], row["class"], MARKS[state_of(row)], row["title"], row["expected"], row["ours"])
            for row in report["rows"]
        ]
        width = terminal_width()
        print(table(("id", "class", "", "item", "expected", "ours"), rows, width=width))
        counts = Counter(map(state_of, report["rows"]))
        print("\n".join(wrapped(LEGEND, width)))
        print(", ".join(f"{counts[state]} {state}" for state in STATES))
    return 1 if report["failed"] else 0
