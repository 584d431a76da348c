"""`export`: write a run for another program. The suffix chooses: `.html` is a replay that needs no server, `.json` a
Chrome trace for Perfetto, `.kvscope` a saved run that `run`, `export` and the app open again."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from engine.trace.trace import Trace
from scenarios import chrome_trace
from scenarios.commands.inputs import add_cut, add_set, fewer_requests, open_source
from scenarios.commands.output import check_place, whole_file
from scenarios.commands.progress import ProgressLine
from scenarios.fields import ScenarioError, shown
from scenarios.run import run
from scenarios.scenario import MAX_RUNS
from scenarios.source import Source
from scenarios.terminal import printable, say

MOST_RUNS = {".html": 3, ".json": MAX_RUNS, ".kvscope": 1}
"""How many runs a file of each kind can hold."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="NAME_OR_RUN", help="a scenario, a scenario file, a saved run or a trace file"
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=".html (offline replay), .json (Chrome trace) or .kvscope (saved run)",
    )
    target.add_argument("--html", type=Path, metavar="FILE", help="an offline replay: one file, opened in any browser")
    parser.add_argument(
        "--run",
        action="append",
        metavar="NAME",
        help="one run, repeatable (a replay holds up to three); without it all go into a Chrome trace, else the first",
    )
    parser.add_argument("--json", action="store_true", help="say what was written as JSON")
    add_set(parser)
    add_cut(parser)


def execute(arguments: Namespace) -> int:
    path: Path = arguments.output or arguments.html
    check_place(path, (".html",) if arguments.html else tuple(MOST_RUNS), arguments.source)
    with ProgressLine() as line:
        source = open_source(arguments, line)
        traces = _traces(source, arguments.run, path.suffix, line)
    with whole_file(path) as draft:
        _write(source, traces, path.suffix, draft)
    size = path.stat().st_size
    if arguments.json:
        print(json.dumps({"scenario": source.name, "runs": list(traces), "file": str(path), "bytes": size}, indent=1))
    else:
        print(printable(f"written: {path} ({size:,} bytes), {', '.join(traces)} of {source.name}"))
    return 0


def _write(source: Source, traces: dict[str, Trace], suffix: str, draft: Path) -> None:
    if suffix == ".json":
        with draft.open("w", encoding="utf-8") as file:
            chrome_trace.write(traces, file)
    elif suffix == ".html":
        draft.write_text(_replay(source, traces), encoding="utf-8")
    else:
        next(iter(traces.values())).save(draft)


def _replay(source: Source, traces: dict[str, Trace]) -> str:
    from viz.export import offline_page, run_bytes, side_by_side
    from viz.player.wire import wire

    scenario = source.scenario
    if scenario is None:
        blobs = [wire(trace, title=source.title, run_name=name) for name, trace in traces.items()]
    else:
        blobs = [run_bytes(scenario, name, trace) for name, trace in traces.items()]
    title = source.title if scenario is None else scenario.title["en"]
    return offline_page(side_by_side(blobs, list(traces.values()), list(traces)), title=title)


def _traces(source: Source, wanted: list[str] | None, suffix: str, line: ProgressLine) -> dict[str, Trace]:
    """The runs to write by name: those wanted; else all for a Chrome trace, the first for any other file."""
    scenario = source.scenario
    if scenario is None:
        assert source.trace is not None
        for name in wanted or ():
            if name != source.run_name:
                raise ScenarioError(f"{source.name} is the saved run {source.run_name!r}; it has no run {shown(name)}.")
        return {source.run_name: source.trace}
    names = [run.name for run in scenario.runs]
    if wanted is None and suffix != ".json" and len(names) > 1:
        say(f"{names[0]} is written; --run chooses another of {', '.join(names)}.")
        names = names[:1]
    chosen = list(dict.fromkeys(scenario.run_of(name).name for name in wanted or names))
    if len(chosen) > MOST_RUNS[suffix]:
        raise ScenarioError(
            f"a {suffix} file holds at most {MOST_RUNS[suffix]} of {len(chosen)} runs; give fewer --run."
        )
    total = source.total
    return {name: run(scenario, name, line.running(name, total), fewer_requests(source)) for name in chosen}
