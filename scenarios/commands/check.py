"""`check`: every number of the source texts beside ours. Exit status 1 when one of them is missed."""

import json
from argparse import ArgumentParser, Namespace

from scenarios.acceptance import ROWS, check
from scenarios.commands.progress import ProgressLine
from scenarios.commands.table import table

MARKS = {True: "pass", False: "FAIL", None: "-"}


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
            (row["id"], row["class"], MARKS[row["passed"]], row["title"], row["expected"], row["ours"])
            for row in report["rows"]
        ]
        print(table(("id", "class", "", "item", "expected", "ours"), rows))
        open_rows = len(rows) - report["passed"] - report["failed"]
        print(f"{report['passed']} passed, {report['failed']} failed, {open_rows} cited or not built yet")
    return 1 if report["failed"] else 0
