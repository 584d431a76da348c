"""What a link to the Stage says: `?scenario=...&run=...&p.block_size=8&f=12`.

Python owns scenario, run and settings; the player owns the moment, `f` and the other LINK_KEYS, and writes it without a
rerun. Python sees it only when the page is loaded, so it drops it whenever another run is chosen. A link that names what
is not there is answered with one sentence and the nearest thing that exists.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import streamlit as st

from engine.settings import Settings, SettingsError
from scenarios.fields import ScenarioError
from scenarios.scenario import Scenario
from viz.pages.parts import address

PREFIX = "p."
SETTINGS = frozenset(each.name for each in fields(Settings))
MAX_SHOWN = 60


@dataclass(frozen=True)
class Choice:
    """One run of one scenario, with changed settings."""

    scenario: str
    run: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def params(self) -> dict[str, str]:
        """The query parameters of a link to this choice."""
        changes = {f"{PREFIX}{name}": written(value) for name, value in self.changes.items()}
        return {"scenario": self.scenario, "run": self.run, **changes}


def read(params: Mapping[str, str], catalogue: Mapping[str, Scenario], otherwise: Choice) -> tuple[Choice, list[str]]:
    """The choice that a link makes, and a sentence for each thing in it that does not exist."""
    if "scenario" not in params:
        return otherwise, without_scenario(params, quoted(otherwise.scenario))
    name = params["scenario"]
    if name not in catalogue:
        return otherwise, [f"There is no scenario {quoted(name)}; this is {quoted(otherwise.scenario)} instead."]
    scenario, problems = catalogue[name], []
    runs = [run.name for run in scenario.runs]
    run = params.get("run", runs[0])
    if run not in runs:
        problems.append(f"Scenario {quoted(name)} has no run {quoted(run)}, only {', '.join(runs)}; this is {runs[0]}.")
        run = runs[0]
    changes = changes_of(params)
    try:
        known(changes)
        scenario.with_settings(changes)
    except (SettingsError, ScenarioError) as error:
        problems.append(f"A setting in the link cannot be used, so none is changed: {error}")
        changes = {}
    return Choice(name, run, changes), problems


def without_scenario(params: Iterable[str], shown: str) -> list[str]:
    """A sentence when a link names a run or settings but no scenario; `shown` is what is there instead."""
    if any(re.match(r"run$|p[0-9]*\.", key) for key in params):
        return [f"The link names no scenario; this is {shown}."]
    return []


def changes_of(params: Mapping[str, str]) -> dict[str, str]:
    """The settings in a link that are those of all runs, as they are written there."""
    return {key.removeprefix(PREFIX): value for key, value in params.items() if key.startswith(PREFIX)}


def known(changes: Iterable[str]) -> None:
    """Raises SettingsError with a short sentence when a setting of that name does not exist."""
    for name in changes:
        if name not in SETTINGS:
            raise SettingsError(f"there is no setting {quoted(name)}.")


def write(choice: Choice) -> None:
    """Put another choice into the address; the place in the run begins anew."""
    present = st.session_state.get("choice")
    if present is None or choice.params() != present.params():
        st.query_params.from_dict(choice.params())


def current(catalogue: Mapping[str, Scenario]) -> tuple[Choice, list[str]]:
    """The choice of this page: that of its address, else the last one of this session, else the first scenario."""
    first = next(iter(catalogue.values()))
    otherwise = st.session_state.get("choice") or Choice(first.name, first.runs[0].name)
    choice, problems = read(st.query_params.to_dict(), catalogue, otherwise)
    st.session_state["choice"] = choice
    address.show(address.STAGE, choice.params(), kept=address.moment())
    return choice, problems


def quoted(text: str) -> str:
    """A text from outside as a sentence may quote it: one line, not too long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= MAX_SHOWN else line[: MAX_SHOWN - 1] + '…'}”"


def written(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
