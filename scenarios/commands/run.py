"""`run`: the figures of every run of a scenario, a scenario file, a saved run or a trace file."""

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from engine.loop import Engine
from scenarios.commands.inputs import add_cut, add_set, fewer_requests, open_source
from scenarios.commands.progress import ProgressLine
from scenarios.commands.table import number, percent, seconds, table, text_of
from scenarios.fields import shown
from scenarios.ops_run import OpsRun
from scenarios.run import Progress, result, run
from scenarios.source import Source
from scenarios.terminal import uninterrupted

RUN_FORMAT = 1
LISTED = 5
HEADS = (
    "run", "requests", "finished", "rejected", "steps", "time", "tok/s", "TTFT p50", "p99", "ITL p50", "p99",
    "per token", "preempted", "copies", "hit rate", "KV used",
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
        try:
            _fill(results, source, names, line)
        except KeyboardInterrupt:
            with uninterrupted():
                line.clear()
                _print({**_report(source, results), "interrupted": True}, arguments.json)
            raise Interrupted(f"Stopped; {len(results)} of {len(names)} runs are complete.") from None
    _print(_report(source, results), arguments.json)
    return 0


def _fill(results: list[dict[str, Any]], source: Source, names: list[str], line: ProgressLine) -> None:
    """One result after the other, so that those before an interruption are kept."""
    if source.trace is not None:
        results.append(result(source.run_name, source.trace))
    if source.scenario is not None:
        total, fewer = source.total, fewer_requests(source)
        for name in names:
            watch = _Watch(line.running(name, total))
            trace = run(source.scenario, name, watch, fewer)
            figures = result(name, trace, len(source.scenario.all_requests(name)))
            results.append(figures | watch.failed_operations)


class _Watch:
    """Passes on how far a run is, and remembers the operations of a story that is told by them."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._run: Engine | OpsRun | None = None

    def __call__(self, running: Engine | OpsRun) -> None:
        self._run = running
        self._progress(running)

    @property
    def failed_operations(self) -> dict[str, Any]:
        run = self._run
        return {"operations": len(run.ops), "failed_operations": run.failed} if isinstance(run, OpsRun) else {}


def _report(source: Source, results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"scenario": source.name, "run_format": RUN_FORMAT, "input": source.input, "runs": results}


def _print(report: dict[str, Any], as_json: bool) -> None:
    print(json.dumps(report, indent=1, allow_nan=False) if as_json else _text(report), flush=True)


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
    figures = table(HEADS, [_row(each) for each in report["runs"]], numbers_from=1)
    remarks = [remark for each in report["runs"] for remark in _remarks(each)]
    return "\n".join(filter(None, [text_of(lines) + "\n", figures, text_of(remarks)]))


def _remarks(each: dict[str, Any]) -> list[str]:
    """What became of the requests that did not finish, and of the operations that failed."""
    name, unfinished, why = each["name"], each["unfinished"], each["unfinished_reason"]
    remarks = [f"{name}: {count:,} requests refused, {reason}" for reason, count in each["rejected_reasons"].items()]
    if each["stopped"]:
        remarks.append(f"{name}: stopped after {each['steps']:,} steps (max_steps), {unfinished:,} unfinished")
    elif unfinished and why is not None:
        remarks.append(
            f"{name}: {unfinished:,} unfinished, because {shown(why['id'])} waits for ever ({why['reason']}): "
            f"it needs {why['needed']:,} {why['resource']} and gets {why['available']:,}"
        )
    elif unfinished:
        remarks.append(f"{name}: {unfinished:,} unfinished")
    failed = each.get("failed_operations", ())
    if failed:
        listed = [f"{one['number']:,} {one['operation']} ({one['error']})" for one in failed[:LISTED]]
        more = [f"{len(failed) - LISTED:,} more"] if len(failed) > LISTED else []
        remarks.append(
            f"{name}: {len(failed):,} of {each['operations']:,} operations failed: {', '.join(listed + more)}"
        )
    return remarks


def _row(each: dict[str, Any]) -> list[str]:
    return [
        each["name"],
        *(number(each[key]) for key in ("requests", "finished", "rejected", "steps")),
        seconds(each["duration_s"]),
        number(each["throughput_tok_s"], 1),
        *(seconds(each[key][share]) for key in ("ttft_s", "itl_s") for share in ("p50", "p99")),
        seconds(each["normalized_latency_s"]),
        *(number(each[key]) for key in ("preemptions", "cow_copies")),
        percent(each["hit_rate"]),
        percent(_used(each["kv"])),
    ]


def _used(kv: dict[str, float | None]) -> float | None:
    return None if kv["free"] is None else 1 - kv["free"] - (kv["external"] or 0.0)
