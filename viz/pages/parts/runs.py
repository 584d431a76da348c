"""Runs of scenarios for the pages: computed once, in the background, and shared by everybody who asks for the same.

What a page needs of a run is its trace, the bytes for the player and its figures. The last sixteen are kept, found by
content: the scenario as its file would be, the run's name, and all its settings.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from engine.loop import Engine
from engine.trace.metrics import Metrics, measure
from engine.trace.trace import Trace
from scenarios import catalogue as scenario_catalogue
from scenarios.run import run as run_scenario
from scenarios.scenario import Scenario
from viz.pages.parts.jobs import Job, Report
from viz.player.wire import wire

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
    return _job(_key(scenario, run, content), scenario, run, after)


def forget(scenario: Scenario, run: str, content: str | None = None) -> None:
    """Drop the job, so that the next question computes the run anew."""
    _job.clear(_key(scenario, run, content), scenario, run, None)


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False, on_release=Job.stop)
def _job(key: str, _scenario: Scenario, _run: str, _after: Job[Finished] | None) -> Job[Finished]:
    return Job(lambda report: _compute(_scenario, _run, report), _after)


def _compute(scenario: Scenario, run: str, report: Report) -> Finished:
    num_requests = max(len(scenario.all_requests(run)), 1) if scenario.ops is None else 1

    def progress(engine: Engine) -> None:
        report(
            0.9 * engine.num_done / num_requests,
            f"{engine.num_done:,} of {num_requests:,} requests, iteration {engine.num_steps:,}",
        )

    trace = run_scenario(scenario, run, progress)
    report(0.9, "reading the figures")
    metrics = measure(trace)
    report(0.95, "packing the run")
    return Finished(trace, _packed(scenario, run, trace), metrics, metrics.as_dict())


def _packed(scenario: Scenario, run: str, trace: Trace) -> bytes:
    bookmarks = [mark for mark in scenario.bookmarks if mark.run == run]
    texts = {"title": scenario.title[LANGUAGE], "story": scenario.story[LANGUAGE], "run_name": run}
    return wire(trace, bookmarks=bookmarks, lang=LANGUAGE, **texts)


def _key(scenario: Scenario, run: str, content: str | None) -> str:
    settings = json.dumps(scenario.settings_of(run).as_dict(), sort_keys=True)
    return "\n".join((content or _content(scenario.name), run, settings))


@lru_cache(maxsize=256)
def _content(name: str) -> str:
    return hashlib.sha256(json.dumps(catalogue()[name].dump(), sort_keys=True).encode()).hexdigest()
