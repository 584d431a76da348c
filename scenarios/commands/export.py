"""`export`: write a run for another program. The suffix chooses: `.json` is a Chrome trace for Perfetto, `.kvscope` a
saved run that `run`, `export` and the app open again."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from engine.trace.trace import Trace
from scenarios import chrome_trace
from scenarios.commands.inputs import add_cut, add_set, open_source
from scenarios.commands.output import check_place, whole_file
from scenarios.commands.progress import ProgressLine
from scenarios.fields import ScenarioError
from scenarios.run import run
from scenarios.source import Source

SUFFIXES = (".json", ".kvscope")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="NAME_OR_RUN", help="a scenario, a scenario file, a saved run or a trace file"
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help=".json (Chrome trace) or .kvscope (saved run)"
    )
    target.add_argument("--html", type=Path, metavar="FILE", help="an offline replay; comes with the next version")
    parser.add_argument(
        "--run", metavar="NAME", help="one run; without it all go into a Chrome trace, the first is saved"
    )
    parser.add_argument("--json", action="store_true", help="say what was written as JSON")
    add_set(parser)
    add_cut(parser)


def execute(arguments: Namespace) -> int:
    path: Path = arguments.output or arguments.html
    if arguments.html is not None or path.suffix == ".html":
        raise ScenarioError("the offline replay (.html) comes with the next version; write .kvscope or .json for now.")
    check_place(path, SUFFIXES)
    with ProgressLine() as line:
        source = open_source(arguments, line)
        traces = _traces(source, arguments.run, path.suffix, line)
    with whole_file(path) as draft:
        if path.suffix == ".json":
            with draft.open("w", encoding="utf-8") as file:
                chrome_trace.write(traces, file)
        else:
            next(iter(traces.values())).save(draft)
    size = path.stat().st_size
    if arguments.json:
        print(json.dumps({"scenario": source.name, "runs": list(traces), "file": str(path), "bytes": size}, indent=1))
    else:
        print(f"written: {path} ({size:,} bytes), {', '.join(traces)} of {source.name}")
    return 0


def _traces(source: Source, wanted: str | None, suffix: str, line: ProgressLine) -> dict[str, Trace]:
    """The runs to write by name: the wanted one; else all for a Chrome trace, the first for a saved run."""
    scenario = source.scenario
    if scenario is None:
        assert source.trace is not None
        if wanted not in (None, source.run_name):
            raise ScenarioError(f"{source.name} is the saved run {source.run_name!r}; it has no run {wanted!r}.")
        return {source.run_name: source.trace}
    names = [run.name for run in scenario.runs]
    chosen = names if wanted is None and suffix == ".json" else [scenario.run_of(wanted).name]
    if wanted is None and len(chosen) < len(names):
        print(f"{chosen[0]} is written; --run chooses another of {', '.join(names)}.", file=sys.stderr)
    num_requests = len(scenario.all_requests())
    return {name: run(scenario, name, line.running(name, num_requests)) for name in chosen}
