"""What a user names on the command line or uploads: a scenario, a scenario file, a saved run, or a trace file.

A name of the catalogue comes first. A file is recognised by its content: a saved run by its magic, a scenario by its
key, and anything else goes to the trace readers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.fields import ScenarioError, shortened, shown_path
from scenarios.readers import TraceFile, convert_summary, read
from scenarios.readers.source import refuse_what_is_no_file
from scenarios.run import of_requests
from scenarios.scenario import Scenario, parse

MAGIC = b"KVSCOPE"
SCENARIO_KEY = b'"kvscope_scenario"'
MAX_SCENARIO_BYTES = 256 * 2**20
MAX_RUN_BYTES = 2 * 2**30
HEAD_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Cut:
    """Which part of a trace file to read, and how fast it arrives."""

    first: int | None = None
    window: tuple[float, float] | None = None
    rate: float = 1.0
    qps: float | None = None

    @property
    def is_whole(self) -> bool:
        return self == Cut()


@dataclass(frozen=True, slots=True)
class Source:
    """One of: a scenario to run (also made from a trace file), or the trace of a saved run.

    `file` is the account of a trace file; `run_name` is that of a saved run.
    """

    name: str
    format: str
    scenario: Scenario | None = None
    trace: Trace | None = None
    file: TraceFile | None = None
    run_name: str = ""

    @property
    def title(self) -> str:
        """The title that a saved run brings along, else the name."""
        told: str = self.trace.header.get("title", "") if self.trace is not None else ""
        return told or self.name

    @property
    def input(self) -> dict[str, Any]:
        """The `input` object of the JSON reports."""
        if self.file is not None:
            summary = convert_summary(self.file)
            return {key: value for key, value in summary.items() if key not in ("first", "last")}
        return {"format": self.format, "accepted": self.num_entries, "rejected": []}

    @property
    def num_entries(self) -> int:
        """Requests, or operations where a scenario is told by them."""
        if self.trace is not None:
            return len(self.trace.requests)
        assert self.scenario is not None
        return len(self.scenario.ops if self.scenario.ops is not None else self.scenario.all_requests())

    @property
    def total(self) -> str:
        """What there is to run, such as "12 requests"."""
        is_ops = self.scenario is not None and self.scenario.ops is not None
        return f"{self.num_entries:,} {'operations' if is_ops else 'requests'}"


def find(name_or_file: str, cut: Cut = Cut(), progress: Callable[..., None] | None = None) -> Source:
    """What that name or path stands for. Raises ScenarioError, ReadError or TraceFileError: one sentence."""
    if not name_or_file:
        raise ScenarioError("the input has no name; give a file name or the name of a scenario.")
    scenarios = catalogue.load()
    if name_or_file in scenarios:
        _refuse_cut(cut, name_or_file)
        return Source(name_or_file, "scenario", scenario=scenarios[name_or_file])
    path = Path(name_or_file)
    refuse_what_is_no_file(path, shown_path(path))
    head = _head(path, scenarios)
    if head.startswith(MAGIC):
        _refuse_cut(cut, path.name)
        return _saved_run(path)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and SCENARIO_KEY in head:
        _refuse_cut(cut, path.name)
        scenario = Scenario.load(parse(_content(path, MAX_SCENARIO_BYTES).removeprefix(b"\xef\xbb\xbf")))
        return Source(scenario.name, "scenario", scenario=scenario)
    return trace_file(path, path.name, cut, progress)


def trace_file(
    source: Path | bytes, name: str, cut: Cut = Cut(), progress: Callable[..., None] | None = None
) -> Source:
    """A trace file as a scenario of three runs. Raises ScenarioError when no row can be used."""
    file = read(source, name=name, first=cut.first, window=cut.window, rate=cut.rate, qps=cut.qps, progress=progress)
    title = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in Path(name).name)[:100]
    stem = title.split(".")[0].strip() or "trace"
    if not file.requests:
        raise ScenarioError(f"{title} has no usable request in {file.num_rows:,} rows{_why(file)}")
    scenario = of_requests(stem, tuple(file.requests), title=title)
    return Source(stem, file.format, scenario=scenario, file=file)


def _why(file: TraceFile) -> str:
    if file.num_left_out:
        return f"; {file.num_left_out:,} of them are left out by --window or --first."
    return f"; the first: line {file.rejected[0].line}, {file.rejected[0].text}" if file.rejected else "."


def _refuse_cut(cut: Cut, name: str) -> None:
    if not cut.is_whole:
        raise ScenarioError(
            f"{shortened(name)} is no trace file; --first, --window, --rate and --qps choose from trace files only."
        )


def _head(path: Path, scenarios: dict[str, Scenario]) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(HEAD_BYTES)
    except IsADirectoryError:
        raise ScenarioError(f"{shown_path(path)} is a folder; give a file or the name of a scenario.") from None
    except FileNotFoundError:
        near = get_close_matches(str(path), scenarios, n=1)
        hint = f"did you mean {near[0]}?" if near else "`python -m scenarios list` shows the scenarios."
        raise ScenarioError(f"there is no scenario and no file named {shown_path(path)}; {hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no usable path"
        raise ScenarioError(f"{shown_path(path)} cannot be read: {reason}.") from None


def _content(path: Path, limit: int) -> bytes:
    size = path.stat().st_size
    if size > limit:
        raise ScenarioError(
            f"{shortened(path.name)} has {size / 1e6:,.0f} MB; at most {limit / 1e6:,.0f} MB can be opened."
        )
    return path.read_bytes()


def _saved_run(path: Path) -> Source:
    trace = Trace.load(_content(path, MAX_RUN_BYTES))
    name, _, run_name = str(trace.header["name"]).partition("/")
    return Source(name or path.stem, "saved_run", trace=trace, run_name=run_name or "run")
