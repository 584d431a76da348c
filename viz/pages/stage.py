"""Stage: one run of one scenario, step by step, and its figures. Scenario, run and settings stand in the link."""

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from scenarios.scenario import Scenario
from viz.pages.parts import charts, compare_runs, download, figures, jump, links, page, runs
from viz.pages.parts.compare_runs import Comparison
from viz.pages.parts.links import Choice
from viz.pages.parts.settings_box import settings_box
from viz.player import player

LANGUAGE = "en"


def main() -> None:
    page.begin()
    catalogue = runs.catalogue()
    choice, problems = links.current(catalogue)
    page.remember_mistake(problems, choice.params())
    scenario = catalogue[choice.scenario]
    told = runs.with_changes(scenario, choice.changes)
    is_changed = told.settings_of(choice.run) != scenario.settings_of(choice.run)
    story = "Story of the original settings" if is_changed else "The story"
    with page.bar():
        _scenario_box(catalogue, choice)
        _run_box(scenario, choice)
        with page.popover("Story", "story"), st.container(key="story-text"):
            st.text(story)
            st.text(scenario.story[LANGUAGE])
        _settings(scenario, choice)
        _compare_link(scenario, choice)
    page.link_mistake(choice.params())
    if not is_changed:
        with st.container(key="story-line"):
            st.text(_first_sentence(scenario.story[LANGUAGE]))
    finished = page.result_of(
        runs.job(told, choice.run),
        "The run is being computed",
        again=lambda: runs.forget(told, choice.run),
        back="Back to its own settings",
        go_back=lambda: links.write(Choice(choice.scenario, choice.run)),
    )
    if finished is None:
        return
    # another run is another player: it begins at the place of the address
    player([finished.blob], key=f"player-{choice.params()}{jump.mark()}")
    download.of_run(told, choice.run, finished)
    charts.below(
        choice.run,
        finished,
        [run.name for run in told.runs],
        lambda name, after: runs.job(told, name, after=after),
        lambda: _figures(choice, finished, story, scenario.story[LANGUAGE]),
    )


def _first_sentence(story: str) -> str:
    return re.split(r"(?<=[.?!])\s", story, maxsplit=1)[0]


def _scenario_box(catalogue: Mapping[str, Scenario], choice: Choice) -> None:
    def chosen() -> None:
        name = st.session_state["scenario"]
        links.write(Choice(name, catalogue[name].runs[0].name))

    st.session_state["scenario"] = choice.scenario
    st.selectbox(
        "Scenario",
        list(catalogue),
        format_func=lambda name: catalogue[name].title[LANGUAGE],
        key="scenario",
        on_change=chosen,
        label_visibility="collapsed",
    )


def _run_box(scenario: Scenario, choice: Choice) -> None:
    names = [run.name for run in scenario.runs]
    if len(names) == 1:
        return

    def chosen() -> None:
        links.write(Choice(choice.scenario, st.session_state["run"], choice.changes))

    st.session_state["run"] = choice.run
    st.selectbox("Run", names, key="run", on_change=chosen, label_visibility="collapsed")


def _settings(scenario: Scenario, choice: Choice) -> None:
    def write(changes: Mapping[str, Any]) -> None:
        runs.with_changes(scenario, changes)
        links.write(Choice(choice.scenario, choice.run, changes))

    present = scenario.with_settings(choice.changes).settings_of(choice.run)
    settings_box(scenario.settings_of(choice.run), present, key=repr(choice.params()), write=write)


def _compare_link(scenario: Scenario, choice: Choice) -> None:
    """To this run beside another one, or beside itself with its own settings."""
    panes = compare_runs.beside(scenario, choice.run, choice.changes)
    if len(panes) > 1:
        params = Comparison(choice.scenario, panes).params()
        st.page_link("viz/pages/compare.py", label="Compare", query_params=params)


def _figures(choice: Choice, finished: runs.Finished, title: str, story: str) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.heading("Figures of this run")
        st.dataframe(figures.table({choice.run: finished.figures}), hide_index=True, height="content")
    with right:
        page.heading(title)
        st.text(story)


main()
