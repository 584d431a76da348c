"""Runs of scenarios for the pages: computed once, in the background, and shared by everybody who asks for the same.

What a page needs of a run is its trace, the bytes for the player and its figures. The last sixteen are kept, found by
content: the scenario as its file would be, the run's name, all its settings, and the card that their hardware names.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import streamlit as st

from engine.executor.cost_model import HARDWARE, Hardware
from engine.loop import Engine
from engine.trace.metrics import Metrics, measure
from engine.trace.trace import Trace
from scenarios import catalogue as scenario_catalogue
from scenarios.fields import ScenarioError
from scenarios.ops_run import OpsRun
from scenarios.run import run as run_scenario
from scenarios.scenario import Scenario
from viz.export import run_parts
from viz.pages.parts.jobs import Job, Report
from viz.pages.parts.visitor import shared
from viz.player.wire import wire_parts

MAX_KEPT = 16
LANGUAGE = "en"


@dataclass(frozen=True)
class Finished:
    """One finished run: its trace, its bytes for the player, its figures."""

    trace: Trace
    blob: bytes
    metrics: Metrics
    figures: Mapping[str, Any]


@st.cache_resource(show_spinner=False)
def catalogue() -> Mapping[str, Scenario]:
    """The scenarios of the catalogue by name."""
    return scenario_catalogue.load()


def job(scenario: Scenario, run: str, content: str | None = None, after: Job[Finished] | None = None) -> Job[Finished]:
    """The job that computes this run, started if nobody has asked for it yet.

    content    names what arrives where that is cheaper to tell than by the whole scenario (an uploaded file)
    after      a job that has to end before a new one begins
    """
    card = _card(scenario, run)
    return shared(_job, _key(scenario, run, content, card), scenario, run, card, after)


def forget(scenario: Scenario, run: str, content: str | None = None) -> None:
    """Forget that this session has stopped the run, so that it waits for it again."""
    job(scenario, run, content).ask_again()


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False, on_release=Job.stop)
def _job(
    key: str, _scenario: Scenario, _run: str, _card: Hardware | None, _after: Job[Finished] | None
) -> Job[Finished]:
    return Job(lambda report: _on_card(_scenario, _run, _card, report), _after)


def saved(digest: str, title: str, run: str, trace: Trace) -> Job[Finished]:
    """The job that makes a saved run, known by the digest of its file, ready for the player."""
    return shared(_saved, digest, title, run, trace)


def with_changes(scenario: Scenario, changes: Mapping[str, Any]) -> Scenario:
    """The scenario with these settings in every run; a run that they change loses its lecture steps, which tell of what
    happens without them. Raises ScenarioError or SettingsError for settings it cannot use."""
    if not changes:
        return scenario
    told = scenario.with_settings(changes)
    same = [run.name for run in told.runs if told.settings_of(run.name) == scenario.settings_of(run.name)]
    return replace(told, bookmarks=tuple(mark for mark in scenario.bookmarks if mark.run in same))


def of_one(scenario: Scenario, name: str, changes: Mapping[str, Any]) -> Scenario:
    """The scenario with this run alone, changed like that: a setting that only another run refuses is no obstacle."""
    own = scenario.run_of(name)
    bookmarks = tuple(mark for mark in scenario.bookmarks if mark.run == name)
    return with_changes(replace(scenario, runs=(own,), bookmarks=bookmarks), changes)


def _on_card(scenario: Scenario, run: str, card: Hardware | None, report: Report) -> Finished:
    """The run on the card that it was asked for on; a card that is measured can become another one in the meantime."""
    finished = _compute(scenario, run, report)
    if _card(scenario, run) != card:
        name = scenario.settings_of(run).hardware
        raise ScenarioError(f"The card {name} was measured anew while this run was computed; ask for the run again.")
    return finished


def _card(scenario: Scenario, run: str) -> Hardware | None:
    return HARDWARE.get(scenario.settings_of(run).hardware)


def _compute(scenario: Scenario, run: str, report: Report) -> Finished:
    entries, name = (
        (scenario.ops, "operations") if scenario.ops is not None else (scenario.all_requests(run), "requests")
    )
    pool = scenario.settings_of(run).pool_blocks
    report(0.0, f"{len(entries):,} {name}" + (f", {pool:,} blocks" if pool is not None else ""))

    def progress(engine: Engine | OpsRun) -> None:
        report(
            0.8 * engine.num_done / max(len(entries), 1),
            f"{engine.num_done:,} of {len(entries):,} {name}, iteration {engine.num_steps:,}",
        )

    trace = run_scenario(scenario, run, progress)
    return _finished(trace, run_parts(scenario, run, trace, LANGUAGE), report)


def _finished(trace: Trace, parts: Iterable[bytes], report: Report) -> Finished:
    """`parts` are the bytes for the player, made one by one so that the work can end between them."""
    frames = f"{trace.num_steps:,} iterations"
    report(0.8, f"{frames} are done, the figures are added up")
    metrics = measure(trace)
    pieces: list[bytes] = []
    report(0.9, f"{frames} are done, the pictures are prepared")
    for piece in parts:
        pieces.append(piece)
        report(0.9, f"{frames} are done, the pictures are prepared")
    return Finished(trace, b"".join(pieces), metrics, metrics.as_dict())


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False, on_release=Job.stop)
def _saved(digest: str, title: str, run: str, _trace: Trace) -> Job[Finished]:
    parts = wire_parts(_trace, title=title, run_name=run, lang=LANGUAGE)
    return Job(lambda report: _finished(_trace, parts, report))


def _key(scenario: Scenario, run: str, content: str | None, card: Hardware | None) -> str:
    settings = json.dumps(scenario.settings_of(run).as_dict(), sort_keys=True)
    return "\n".join((content or _content(scenario.name), run, settings, repr(card)))


@lru_cache(maxsize=256)
def _content(name: str) -> str:
    return hashlib.sha256(json.dumps(catalogue()[name].dump(), sort_keys=True).encode()).hexdigest()
