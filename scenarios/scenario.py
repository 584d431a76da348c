"""A scenario: a story, the settings of its runs, and what arrives. One object, one JSON file.

What arrives is one of three: `requests` (a list), `workload` (a generator and its numbers) or `ops` (operations on the
block pool, told one a step). Python scenarios of the catalogue build the same object. `section`, `chips`,
`question` and `cover` are for the gallery and no part of the JSON file. Running it is `run.py`'s business.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.presets import with_preset
from engine.request import Request
from engine.settings import Settings, SettingsError
from engine.workload import ListWorkload
from scenarios.fields import Fields, ScenarioError, shown
from scenarios.request_fields import MAX_REQUESTS, dump_requests, read_requests
from scenarios.workloads import generate

FORMAT = 1
KEYS = (
    "kvscope_scenario",
    "name",
    "title",
    "story",
    "seed",
    "settings",
    "runs",
    "requests",
    "workload",
    "ops",
    "bookmarks",
)
MAX_RUNS = 16
MAX_BOOKMARKS = 1_000
MAX_OPS = 100_000
CHIPS = ("Batching", "Paging", "Sharing", "Radix", "Scheduling")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a scenario: its name and the settings in which it differs from the others."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place worth looking at: step `step` of a run, or after the `event`-th event of that step (from 1)."""

    run: str
    step: int
    text: Mapping[str, str]
    event: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """See the module. `title`, `story` and `question` are texts by language; English ("en") is always there.

    question  what the scenario lets one see, in a few words
    cover     index of the bookmark whose frame is its picture; None compares the memory of its runs
    vocabulary  the words of its texts by token id
    """

    name: str
    title: Mapping[str, str]
    story: Mapping[str, str]
    settings: Settings = field(default_factory=Settings)
    runs: tuple[Run, ...] = (Run("run", {}),)
    requests: tuple[Request, ...] | None = None
    workload: Mapping[str, Any] | None = None
    ops: tuple[tuple[Any, ...], ...] | None = None
    bookmarks: tuple[Bookmark, ...] = ()
    seed: int = 0
    section: str = ""
    chips: tuple[str, ...] = ()
    question: Mapping[str, str] = field(default_factory=dict)
    cover: int | None = 0
    vocabulary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = [key for key in ("requests", "workload", "ops") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ScenarioError(f"a scenario has one of requests, workload and ops; this one has {given or 'none'}.")
        names = [run.name for run in self.runs]
        if not names or len(set(names)) != len(names):
            raise ScenarioError(f"runs are named {names}; there has to be at least one, each with its own name.")
        for name in names:
            self.settings_of(name)
        for bookmark in self.bookmarks:
            if bookmark.run not in names:
                raise ScenarioError(f"a bookmark names the run {shown(bookmark.run)}; runs are {', '.join(names)}.")

    def run_of(self, name: str | None = None) -> Run:
        """The run of that name, the first one without a name. Raises ScenarioError for an unknown name."""
        for run in self.runs:
            if name in (None, run.name):
                return run
        known = ", ".join(run.name for run in self.runs)
        raise ScenarioError(f"{self.name} has no run {shown(name)}; its runs are {known}.")

    def settings_of(self, name: str | None = None) -> Settings:
        """What the run uses: the scenario's settings, its seed, the preset that the run names, the run's own changes."""
        run = self.run_of(name)
        try:
            return Settings.of(with_preset({"seed": self.seed, **run.settings}), base=self.settings)
        except SettingsError as error:
            raise ScenarioError(f"run {run.name}: {error}") from None

    def with_settings(self, changes: Mapping[str, Any]) -> "Scenario":
        """The same scenario with these settings in every run, whatever the run said itself; a preset comes first."""
        try:
            changes = with_preset(changes)
        except SettingsError as error:
            raise ScenarioError(str(error)) from None
        runs = tuple(Run(run.name, {**run.settings, **changes}) for run in self.runs)
        return replace(self, runs=runs)

    def all_requests(self, name: str | None = None) -> tuple[Request, ...]:
        """The requests in file order; a generator draws them from the seed of the run."""
        if self.workload is not None:
            return tuple(generate(self.workload, self.settings_of(name).seed))
        return self.requests or ()

    def workload_for(self, name: str | None = None) -> ListWorkload:
        """A fresh workload for one run; requests whose arrival the run decides are copied: runs share nothing."""
        if self.ops is not None:
            raise ScenarioError(f"{self.name} is told by operations on the block pool; it has no requests.")
        requests = self.all_requests(name)
        return ListWorkload(request if request.after is None else replace(request) for request in requests)

    @classmethod
    def load(cls, data: Any) -> "Scenario":
        """A scenario from a JSON object. Raises ScenarioError with one sentence for whatever is wrong first."""
        fields = Fields(data, "scenario", KEYS)
        fields.whole("kvscope_scenario", FORMAT, FORMAT)
        try:
            settings = Settings.of(with_preset(_object(fields, "settings")))
        except SettingsError as error:
            raise ScenarioError(f"settings: {error}") from None
        entries = fields.items("requests", MAX_REQUESTS) if "requests" in fields else None
        vocabulary: dict[str, int] = {}
        workload = dict(_object(fields, "workload")) if "workload" in fields else None
        ops = tuple(_op(op, i) for i, op in enumerate(fields.items("ops", MAX_OPS))) if "ops" in fields else None
        bookmarks = fields.items("bookmarks", MAX_BOOKMARKS) if "bookmarks" in fields else []
        return cls(
            name=fields.name("name"),
            title=fields.message("title", limit=200) if "title" in fields else {"en": fields.name("name")},
            story=fields.message("story"),
            seed=fields.whole("seed", 0, 2**63 - 1, default=0),
            settings=settings,
            runs=_runs(fields),
            requests=None if entries is None else read_requests(entries, vocabulary),
            workload=workload,
            ops=ops,
            bookmarks=tuple(_bookmark(entry, index) for index, entry in enumerate(bookmarks)),
            vocabulary=tuple(vocabulary),
        )

    def dump(self) -> dict[str, Any]:
        """The JSON object of the file; `Scenario.load(dump())` is the same scenario."""
        defaults = Settings().as_dict()
        data: dict[str, Any] = {
            "kvscope_scenario": FORMAT,
            "name": self.name,
            "title": dict(self.title),
            "story": dict(self.story),
            "seed": self.seed,
            "settings": {key: value for key, value in self.settings.as_dict().items() if value != defaults[key]},
            "runs": [{"name": run.name, "settings": dict(run.settings)} for run in self.runs],
        }
        if self.requests is not None:
            data["requests"] = dump_requests(self.requests, self.vocabulary)
        elif self.workload is not None:
            data["workload"] = dict(self.workload)
        else:
            data["ops"] = [list(op) for op in self.ops or ()]
        data["bookmarks"] = [_dump_bookmark(bookmark) for bookmark in self.bookmarks]
        return data


def prose(docstring: str | None) -> str:
    """The story that a module tells in its docstring: paragraphs without their line breaks."""
    return "\n\n".join(" ".join(part.split()) for part in (docstring or "").strip().split("\n\n"))


def parse(text: str | bytes) -> Any:
    """The JSON value of a scenario file. Raises ScenarioError naming the line; NaN and repeated keys are refused."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise ScenarioError("the scenario file is nested too deeply to be read.") from None
    except json.JSONDecodeError as error:
        raise ScenarioError(f"the scenario file is not valid JSON: line {error.lineno}, {error.msg}.") from None
    except UnicodeDecodeError:
        raise ScenarioError("the scenario file is not UTF-8 text.") from None
    except ScenarioError:
        raise
    except ValueError:
        raise ScenarioError("the scenario file has a number with too many digits.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ScenarioError(f"the scenario file gives the key {shown(twice)} twice in one object.")
    return values


def _no_constant(name: str) -> None:
    raise ScenarioError(f"the scenario file contains {name}; give a finite number.")


def _object(fields: Fields, key: str) -> Mapping[str, Any]:
    value = fields.required(key) if key in fields else {}
    if not isinstance(value, Mapping):
        raise fields.problem(key, "it has to be an object with named values")
    return value


def _runs(fields: Fields) -> tuple[Run, ...]:
    if "runs" not in fields:
        return (Run("run", {}),)
    entries = [
        Fields(entry, f"runs[{i}]", ("name", "settings")) for i, entry in enumerate(fields.items("runs", MAX_RUNS))
    ]
    return tuple(Run(entry.name("name"), dict(_object(entry, "settings"))) for entry in entries)


def _bookmark(entry: Any, index: int) -> Bookmark:
    fields = Fields(entry, f"bookmarks[{index}]", ("run", "step", "event", "text"))
    return Bookmark(
        run=fields.name("run"),
        step=fields.whole("step", 0, 2**31 - 1),
        text=fields.message("text", limit=500),
        event=fields.whole("event", 1, 2**31 - 1) if "event" in fields else None,
    )


def _dump_bookmark(bookmark: Bookmark) -> dict[str, Any]:
    event = {} if bookmark.event is None else {"event": bookmark.event}
    return {"run": bookmark.run, "step": bookmark.step, **event, "text": dict(bookmark.text)}


def _op(op: Any, index: int) -> tuple[Any, ...]:
    if not isinstance(op, (list, tuple)) or not op or not isinstance(op[0], str):
        raise ScenarioError(f"ops[{index}] is {shown(op)}; an operation is a list that begins with its name.")
    return tuple(op)
