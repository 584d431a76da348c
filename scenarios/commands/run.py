"""`run`: the figures of every run of a scenario, a scenario file, a saved run or a trace file."""

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from scenarios.commands.inputs import add_cut, add_set, open_source
from scenarios.commands.progress import ProgressLine
from scenarios.commands.table import number, percent, seconds, table
from scenarios.run import result, run
from scenarios.source import Source

RUN_FORMAT = 1
LISTED = 5
HEADS = (
    "run", "requests", "finished", "rejected", "steps", "time", "tok/s", "TTFT p50", "p99", "ITL p50", "p99",
    "per token", "preempted", "copies", "KV used",
)  # fmt: skip


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after everything that was complete has been printed."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="NAME_OR_FILE", help="a scenario, a scenario file, a saved run or a trace file"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_set(parser)
    add_cut(parser)


def execute(arguments: Namespace) -> int:
    results: list[dict[str, Any]] = []
    with ProgressLine() as line:
        source = open_source(arguments, line)
        names = [each.name for each in source.scenario.runs] if source.scenario else []
        interrupted = False
        try:
            _fill(results, source, names, line)
        except KeyboardInterrupt:
            interrupted = True
    report = {"scenario": source.name, "run_format": RUN_FORMAT, "input": source.input, "runs": results}
    if interrupted:
        report["interrupted"] = True
    print(json.dumps(report, indent=1, allow_nan=False) if arguments.json else _text(report), flush=True)
    if interrupted:
        raise Interrupted(f"Stopped; {len(results)} of {len(names)} runs are complete.")
    return 0


def _fill(results: list[dict[str, Any]], source: Source, names: list[str], line: ProgressLine) -> None:
    """One result after the other, so that those before an interruption are kept."""
    if source.trace is not None:
        results.append(result(source.run_name, source.trace))
    if source.scenario is not None:
        num_requests = len(source.scenario.all_requests())
        for name in names:
            results.append(result(name, run(source.scenario, name, line.running(name, num_requests))))


def _text(report: dict[str, Any]) -> str:
    source = report["input"]
    lines = [
        f"{report['scenario']} ({source['format']}): {source['accepted']:,} accepted, "
        + f"{len(source['rejected']):,} rejected"
    ]
    lines += [f"  line {row['line']}: {row['text']}" for row in source["rejected"][:LISTED]]
    if len(source["rejected"]) > LISTED:
        lines.append(f"  ... and {len(source['rejected']) - LISTED:,} more (--json lists all)")
    lines += [f"  {note}" for note in source.get("notes", ())]
    lines += ["", table(HEADS, [_row(each) for each in report["runs"]], numbers_from=1)]
    for each in report["runs"]:
        lines += [
            f"{each['name']}: {count:,} requests refused, {reason}"
            for reason, count in each["rejected_reasons"].items()
        ]
        if each["stopped"]:
            unfinished = each["requests"] - each["finished"] - each["rejected"]
            lines.append(
                f"{each['name']}: stopped after {each['steps']:,} steps (max_steps), {unfinished:,} unfinished"
            )
    return "\n".join(lines)


def _row(each: dict[str, Any]) -> list[str]:
    return [
        each["name"],
        *(number(each[key]) for key in ("requests", "finished", "rejected", "steps")),
        seconds(each["duration_s"]),
        number(each["throughput_tok_s"], 1),
        *(seconds(each[key][share]) for key in ("ttft_s", "itl_s") for share in ("p50", "p99")),
        seconds(each["normalized_latency_s"]),
        *(number(each[key]) for key in ("preemptions", "cow_copies")),
        percent(_used(each["kv"])),
    ]


def _used(kv: dict[str, float | None]) -> float | None:
    return None if kv["free"] is None else 1 - kv["free"] - (kv["external"] or 0.0)
