"""Which runs stand side by side, and the link that says so: `?scenario=...&run=static&run=continuous&p2.block_size=8`.

One to three runs of one scenario, or of one uploaded file (`?file=...&first=500&run=...`), each with its own changed
settings: `p2.` are those of the second run, `p.` those of all. The moment and the clock in the link belong to the player.
A link that names what is not there is answered with one sentence and the nearest thing that exists.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from engine.settings import SettingsError
from engine.trace.difference import CLOCKS
from scenarios.fields import ScenarioError, shortened
from scenarios.run import of_requests
from scenarios.scenario import Scenario
from scenarios.source import Cut
from viz.pages.parts import address, links, runs, upload_link, uploads
from viz.pages.parts.links import PREFIX, Choice, quoted
from viz.pages.parts.settings_form import told
from viz.pages.parts.upload_link import Visit
from viz.pages.parts.uploads import Upload
from viz.player import MAX_RUNS

FIRST_SHOWN = "step-by-step"
NUM_AT_FIRST = 2
FILE_SETTINGS = of_requests("file", ())
"""Stands for any trace file where only its runs and their settings matter."""
MAX_NAMED_CHANGES = 2
_GONE = f"It compares runs of an uploaded file. {uploads.GONE}"
MAX_WAIT = 20.0
"""Seconds for a scenario file to be read."""


@dataclass(frozen=True)
class Pane:
    """One run with its changed settings."""

    run: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """ "static", "static (Tokens in a block: 8)", "static (Tokens in a block: 8, Kept free: 0.1 and 2 more)"."""
        changes = [told(name, value) for name, value in self.changes.items()]
        more = len(changes) - MAX_NAMED_CHANGES
        named = ", ".join(changes[:MAX_NAMED_CHANGES]) + (f" and {more} more" if more > 0 else "")
        return f"{self.run} ({named})" if named else self.run


@dataclass(frozen=True)
class Comparison:
    """The panes in order, all of one scenario of the catalogue or of one part of an uploaded file (its digest)."""

    scenario: str
    panes: tuple[Pane, ...]
    file: str = ""
    cut: Cut = field(default_factory=Cut)

    @property
    def labels(self) -> list[str]:
        """One name a pane; a second run that is the same as the first gets a number."""
        labels: list[str] = []
        for pane in self.panes:
            number = sum(other.label == pane.label for other in self.panes[: len(labels)]) + 1
            labels.append(pane.label if number == 1 else f"{pane.label} ({number})")
        return labels

    def is_of(self, other: "Comparison") -> bool:
        """Whether both are about the same requests."""
        return (self.scenario, self.file, self.cut) == (other.scenario, other.file, other.cut)

    def with_pane(self, number: int, pane: Pane) -> "Comparison":
        """With another run at that place; the number of panes adds one."""
        return replace(self, panes=(*self.panes[:number], pane, *self.panes[number + 1 :]))

    def without_pane(self, number: int) -> "Comparison":
        return replace(self, panes=self.panes[:number] + self.panes[number + 1 :])

    def only(self, numbers: Sequence[int]) -> "Comparison":
        return replace(self, panes=tuple(self.panes[number] for number in numbers))

    def params(self) -> dict[str, str | list[str]]:
        """The query parameters of a link to this comparison."""
        params: dict[str, str | list[str]] = {"scenario": self.scenario}
        if self.file:
            params = dict(Visit(self.file, "", self.cut).params())
        params["run"] = [pane.run for pane in self.panes]
        for number, pane in enumerate(self.panes, start=1):
            written = Choice("", "", pane.changes).params()
            params |= {f"p{number}.{k.removeprefix(PREFIX)}": v for k, v in written.items() if k.startswith(PREFIX)}
        return params


def first_of(scenario: Scenario) -> Comparison:
    """The first runs of a scenario."""
    return Comparison(scenario.name, tuple(Pane(run.name) for run in scenario.runs[:NUM_AT_FIRST]))


def of_file(upload: Upload, cut: Cut) -> Comparison:
    """The first runs of an uploaded file. Raises ScenarioError for a file without runs to compute."""
    runs_of_file = scenario_of(upload).runs[:NUM_AT_FIRST]
    return Comparison("", tuple(Pane(run.name) for run in runs_of_file), upload.digest, cut)


def scenario_of(upload: Upload) -> Scenario:
    """What knows the runs of an uploaded file and their settings. Raises ScenarioError for a file that has none."""
    if upload.kind == uploads.TRACE:
        return FILE_SETTINGS
    job = uploads.reading(upload, Cut())
    job.wait(MAX_WAIT)
    if job.result is None or job.result.scenario is None:
        raise ScenarioError(
            job.problem or "A saved run keeps its settings, so that there is nothing to compare it with."
        )
    return job.result.scenario


def told_by(scenario: Scenario, pane: Pane) -> Scenario:
    """The scenario with this run alone, its settings changed. Raises ScenarioError for settings it cannot use."""
    return runs.of_one(scenario, pane.run, pane.changes)


def beside(scenario: Scenario, run: str, changes: Mapping[str, Any]) -> tuple[Pane, ...]:
    """A run and what to hold against it: another run under the same changes, else the same one without them."""
    panes = []
    for name in dict.fromkeys((run, *(each.name for each in scenario.runs))):
        try:
            panes.append(Pane(name, changed(scenario, name, changes)))
        except (SettingsError, ScenarioError):
            continue
    if len(panes) == 1 and panes[0].changes:
        panes.append(Pane(run))
    return tuple(panes[:NUM_AT_FIRST])


def changed(scenario: Scenario, run: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the wanted settings that the run does not have anyway, as `Settings` reads them.

    Raises ScenarioError with one sentence for a value it refuses.
    """
    own = scenario.settings_of(run).as_dict()
    settings = told_by(scenario, Pane(run, wanted)).settings_of(run).as_dict()
    return {name: value for name, value in settings.items() if value != own[name]}


def read(
    params: Mapping[str, Sequence[str]], catalogue: Mapping[str, Scenario], otherwise: Comparison
) -> tuple[Comparison, str | None]:
    """The comparison that a link asks for, and a sentence when something in it does not exist: the first such thing."""
    if "file" in params:
        try:
            visit = upload_link.read({key: params[key][-1] for key in params if not key.startswith((PREFIX, "run"))})
            upload = uploads.store().find(visit.digest) if visit is not None else None
            if visit is None or upload is None:
                return otherwise, _GONE
            scenario = scenario_of(upload)
        except (ValueError, ScenarioError) as error:
            return otherwise, str(error)
        return _read_panes(params, of_file(upload, visit.cut), scenario)
    if "scenario" not in params:
        return otherwise, next(iter(links.without_scenario(params, _named(otherwise))), None)
    name = params["scenario"][-1]
    if name not in catalogue:
        return otherwise, f"There is no scenario {quoted(name)}; this is {_named(otherwise)} instead."
    return _read_panes(params, first_of(catalogue[name]), catalogue[name])


def _read_panes(
    params: Mapping[str, Sequence[str]], comparison: Comparison, scenario: Scenario
) -> tuple[Comparison, str | None]:
    """`comparison` with the runs and settings of the link."""
    problems: list[str] = []
    asked = params.get("run", ())
    known = [run.name for run in scenario.runs]
    unknown = [name for name in asked[:MAX_RUNS] if name not in known]
    if len(asked) > MAX_RUNS:
        problems.append(f"The link names {len(asked):,} runs; at most {MAX_RUNS} stand side by side.")
    if unknown:
        problems.append(f"There is no run {quoted(unknown[0])} here, only {', '.join(known)}.")
    runs = [name for name in asked[:MAX_RUNS] if name in known] or [pane.run for pane in comparison.panes]
    changes: list[dict[str, Any]] = [{} for _ in runs]
    for key in sorted(params):
        match = re.fullmatch(r"p([0-9]*)\.(.+)", key, re.DOTALL)
        if match is None:
            continue
        numbers = [number for number in range(len(runs)) if match[1] in ("", str(number + 1))]
        if not numbers:
            problems.append(f"The link changes a setting of run {shortened(match[1])}; there are {len(runs)}.")
            continue
        for number in numbers:
            changes[number][match[2]] = params[key][-1]
    panes = []
    for run, wanted in zip(runs, changes, strict=True):
        try:
            links.known(wanted)
            panes.append(Pane(run, changed(scenario, run, wanted)))
        except (SettingsError, ScenarioError) as error:
            problems.append(f"A setting in the link cannot be used: {error}")
            panes.append(Pane(run))
    clock = params.get("clock", CLOCKS)[-1]
    if clock not in CLOCKS:
        problems.append(f"There is no clock {quoted(clock)}, only {' and '.join(CLOCKS)}.")
    return replace(comparison, panes=tuple(panes)), next(iter(problems), None)


def _named(comparison: Comparison) -> str:
    return "an uploaded file" if comparison.file else quoted(comparison.scenario)


def current(catalogue: Mapping[str, Scenario]) -> tuple[Comparison, str | None]:
    """The comparison of this page: that of its address, else the last one of this session, else a first one."""
    state = st.session_state
    otherwise = state.get("comparison")
    is_gone = otherwise is not None and otherwise.file and uploads.store().find(otherwise.file) is None
    if otherwise is None or is_gone:
        otherwise = first_of(catalogue.get(FIRST_SHOWN) or next(iter(catalogue.values())))
    own, moment = address.own(), address.moment()
    comparison, problem = read({**own, **moment}, catalogue, otherwise)
    if is_gone and not own:
        problem = _GONE
    state["comparison"] = comparison
    if moment.get("clock", CLOCKS)[-1] not in CLOCKS:
        del moment["clock"]
    address.show(address.COMPARE, comparison.params(), kept=moment)
    return comparison, problem


def write(comparison: Comparison) -> None:
    """Put the comparison into the address; the place in the runs begins anew."""
    st.query_params.from_dict(comparison.params())
