"""`convert`: read a trace file, say what was found, and write it as a scenario file with the three runs."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from scenarios.commands.inputs import add_cut, add_set, open_source
from scenarios.commands.output import check_place, whole_file
from scenarios.commands.progress import ProgressLine
from scenarios.commands.table import number, table, text_of
from scenarios.fields import ScenarioError, shortened, shown_path
from scenarios.readers import convert_summary
from scenarios.terminal import printable

MAX_LISTED = 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE", help="a trace file")
    parser.add_argument("-o", "--output", type=Path, metavar="X.json", help="write a scenario file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_set(parser)
    add_cut(parser)


def execute(arguments: Namespace) -> int:
    output: Path | None = arguments.output
    if output is not None:
        check_place(output, (".json",), arguments.source)
    with ProgressLine() as line:
        source = open_source(arguments, line)
    if source.file is None or source.scenario is None:
        raise ScenarioError(f"{shown_path(arguments.source)} is no trace file; convert reads only those.")
    if output is not None:
        with whole_file(output) as draft:
            draft.write_text(json.dumps(source.scenario.dump(), allow_nan=False) + "\n", encoding="utf-8")
    summary = convert_summary(source.file)
    if arguments.json:
        print(json.dumps({**summary, "input": source.input}, indent=1, allow_nan=False))
    else:
        print(_text(summary))
        if output is not None:
            print(f"\nwritten: {printable(str(output))}")
    return 0


def _text(found: dict[str, Any]) -> str:
    rejected = found["rejected"]
    lines = [
        f"{found['format']}: {found['rows']:,} rows, {found['accepted']:,} accepted, {len(rejected):,} rejected, "
        + f"{found['left_out']:,} left out; {found['requests']:,} requests"
    ]
    lines += [f"  line {row['line']}: {row['reason']}: {row['text']}" for row in rejected[:MAX_LISTED]]
    if len(rejected) > MAX_LISTED:
        lines.append(f"  ... and {len(rejected) - MAX_LISTED:,} more (--json lists all)")
    lines += [f"  {note}" for note in found["notes"]]
    if found["ignored_columns"]:
        lines.append(f"  ignored: {', '.join(found['ignored_columns'])}")
    entries = found["first"] + [entry for entry in found["last"] if entry not in found["first"]]
    rows = [
        (
            shortened(entry["id"]),
            f"after {shortened(entry['after'])}" if entry["arrival_s"] is None else number(entry["arrival_s"], 3),
            number(entry["prompt_len"]),
            number(entry["output_len"]),
        )
        for entry in entries
    ]
    return f"{text_of(lines)}\n\n{table(('first and last', 'arrival [s]', 'prompt', 'output'), rows, numbers_from=1)}"
