"""The controls of the Compare page: which scenario or file, which runs with which settings, earlier runs.

Every control writes the link; what is on the screen follows from the link alone.
"""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from engine.settings import SettingsError
from scenarios.fields import ScenarioError
from scenarios.scenario import Scenario
from scenarios.source import Cut
from viz.pages.parts import compare_runs, kept_runs, page, uploads
from viz.pages.parts.compare_runs import Comparison, Pane
from viz.pages.parts.settings_form import changed, settings_form
from viz.player import MAX_RUNS

LANGUAGE = "en"
FILE = ""
RUNS, EARLIER = "runs", "earlier"


def scenario_box(catalogue: Mapping[str, Scenario], comparison: Comparison) -> None:
    """The scenarios, and the file of this session where there is one."""
    visit = st.session_state.get("visit")
    upload = uploads.store().find(comparison.file or (visit.digest if visit is not None else None))
    if upload is not None and upload.kind == uploads.SAVED_RUN:
        upload = None

    def chosen() -> None:
        name = st.session_state["compared"]
        if name != FILE:
            compare_runs.write(compare_runs.first_of(catalogue[name]))
        elif upload is not None:
            cut = visit.cut if visit is not None and visit.digest == upload.digest else uploads.first_cut(upload)
            _of_file(upload, cut)

    def title(name: str) -> str:
        return upload.name if name == FILE and upload is not None else catalogue[name].title[LANGUAGE]

    st.session_state["compared"] = comparison.scenario
    st.selectbox(
        "Scenario",
        [*([FILE] if upload is not None else []), *catalogue],
        format_func=title,
        key="compared",
        on_change=chosen,
        label_visibility="collapsed",
        width=280,
    )


def _of_file(upload: uploads.Upload, cut: Cut) -> None:
    try:
        compare_runs.write(compare_runs.of_file(upload, cut))
    except ScenarioError as error:
        page.remember_mistake([str(error)], st.session_state["comparison"].params())


def runs_form(scenario: Scenario, comparison: Comparison) -> None:
    """One of the runs to change or remove, or a further one to add."""
    num_panes, labels = len(comparison.panes), comparison.labels
    places = range(min(num_panes + 1, MAX_RUNS))
    number = st.segmented_control(
        "Run",
        places,
        default=0,
        format_func=lambda i: page.plain(labels[i]) if i < num_panes else "Add a run",
        key=f"pane-{num_panes}",
        required=True,
        label_visibility="collapsed",
    )
    names = [run.name for run in scenario.runs]
    present = comparison.panes[number] if number < num_panes else Pane(names[0])
    key = f"{number}-of-{comparison.params()}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = st.selectbox("Run of the scenario", names, index=names.index(present.run), key=f"run-{key}", width=280)
        if run != present.run:
            present = Pane(run)
        if number < num_panes and num_panes > 1:
            st.button("Remove this run", on_click=partial(compare_runs.write, comparison.without_pane(number)))
    settings = compare_runs.told_by(scenario, present).settings_of(run)
    entered = settings_form(settings, key=f"{key}-{run}")
    if entered is None:
        return
    try:
        pane = Pane(run, changed(entered, scenario.settings_of(run)))
        compare_runs.told_by(scenario, pane)
    except (SettingsError, ScenarioError) as error:
        with st.container(key="refused-settings"):
            st.text(str(error))
        return
    compare_runs.write(comparison.with_pane(number, pane))
    page.close_popover(RUNS)
    st.rerun()


def earlier_runs(catalogue: Mapping[str, Scenario], comparison: Comparison) -> None:
    """The runs to come back to, a button each."""
    kept = kept_runs.offered(comparison)
    if not kept:
        st.text("Runs that you leave are kept here, the last five of them.")
    for number, run in enumerate(kept):
        upload = uploads.store().find(run.file)
        if run.file and upload is None:
            continue
        title = upload.name if upload is not None else catalogue[run.scenario].title[LANGUAGE]
        st.button(
            page.plain(f"{title}: {run.labels[0]}"),
            key=f"earlier-{number}",
            on_click=_bring_back,
            args=(kept_runs.brought_back(comparison, run),),
            width="stretch",
        )


def _bring_back(comparison: Comparison) -> None:
    compare_runs.write(comparison)
    page.close_popover(EARLIER)
