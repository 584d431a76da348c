"""Stage: one run of one scenario, step by step, and its figures. Scenario, run and settings stand in the link."""

from collections.abc import Mapping

import streamlit as st

from engine.settings import SettingsError
from scenarios.scenario import Scenario
from viz.pages.parts import charts, download, figures, links, page, runs
from viz.pages.parts.links import Choice
from viz.pages.parts.settings_form import changed, settings_form
from viz.player import player

LANGUAGE = "en"


def main() -> None:
    page.begin()
    catalogue = runs.catalogue()
    choice, problems = links.current(catalogue)
    scenario = catalogue[choice.scenario]
    with page.bar():
        _scenario_box(catalogue, choice)
        _run_box(scenario, choice)
        with st.popover("Settings, changed" if choice.changes else "Settings", width="content"):
            _settings(scenario, choice)
    for sentence in problems:
        page.problem(sentence)
    told = scenario.with_settings(choice.changes)
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
    player([finished.blob], key=f"player-{choice.params()}")
    download.of_run(told, choice.run, finished)
    charts.below(
        choice.run,
        finished,
        [run.name for run in told.runs],
        lambda name, after: runs.job(told, name, after=after),
        lambda: _figures(scenario, choice, finished),
    )


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
    """The form; a value it cannot use gives a sentence under it, and the run that was there stays."""
    own = scenario.settings_of(choice.run)
    present = scenario.with_settings(choice.changes).settings_of(choice.run)
    entered = settings_form(present, key=repr(choice.params()))
    if entered is None:
        return
    try:
        changes = changed(entered, own)
    except SettingsError as error:
        with st.container(key="refused-settings"):
            st.text(str(error))
        return
    if changes != dict(choice.changes):
        links.write(Choice(choice.scenario, choice.run, changes))
        st.rerun()


def _figures(scenario: Scenario, choice: Choice, finished: runs.Finished) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.heading("Figures of this run")
        st.dataframe(figures.table({choice.run: finished.figures}), hide_index=True, height="content")
    with right:
        page.heading("The story")
        st.text(scenario.story[LANGUAGE])


main()
