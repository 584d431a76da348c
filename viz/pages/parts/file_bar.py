"""The line of the navigation on Bring your own: the file and what it runs on, its views, its settings, the way to Compare."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from scenarios.fields import ScenarioError
from scenarios.source import Source
from viz.pages.parts import compare_runs, file_runs, page, runs, settings_box, upload_link
from viz.pages.parts.compare_runs import Comparison
from viz.pages.parts.tight_pool import tight_pool
from viz.pages.parts.upload_link import Visit
from viz.pages.parts.uploads import Upload

FILE = "File"
FIRST_SHOWN = "continuous"
FITTED = "num_blocks"
MAX_BUTTONS = 4


def fill(bar: Any, visit: Visit, upload: Upload, source: Source) -> None:
    """The name of the file and what it runs on, the file or one of its runs, settings, Compare."""
    names = file_runs.names_of(source)
    run = visit.run or (FIRST_SHOWN if FIRST_SHOWN in names else names[0])
    with bar:
        with st.container(key="loaded"):
            if visit.run:
                st.text(upload.name)
            st.text(_machine(source, run, visit))
        _view_box(visit, names)
        if source.scenario is not None:
            _settings(source, run, visit)
            panes = compare_runs.beside(source.scenario, run, visit.changes)
            if len(panes) > 1:
                params = Comparison("", panes, visit.digest, visit.cut).params()
                st.page_link("viz/pages/compare.py", label="Compare", query_params=params)


def _machine(source: Source, run: str, visit: Visit) -> str:
    if source.trace is not None:
        return file_runs.machine_of_saved(source.trace)
    assert source.scenario is not None
    try:
        return file_runs.machine_of(runs.of_one(source.scenario, run, visit.changes).settings_of(run))
    except ScenarioError:
        return "settings that it cannot use"


def _view_box(visit: Visit, names: list[str]) -> None:
    def chosen() -> None:
        view = st.session_state["view"]
        upload_link.write(replace(visit, run="" if view == FILE else view))

    views = [FILE, *names]
    st.session_state["view"] = visit.run or FILE
    if len(views) <= MAX_BUTTONS:
        st.segmented_control(
            "View",
            views,
            key="view",
            required=True,
            format_func=page.plain,
            on_change=chosen,
            label_visibility="collapsed",
        )
    else:
        st.selectbox("View", views, key="view", on_change=chosen, label_visibility="collapsed", width=160)


def _settings(source: Source, run: str, visit: Visit) -> None:
    scenario = source.scenario
    assert scenario is not None

    def write(changes: Mapping[str, Any]) -> None:
        runs.of_one(scenario, run, changes)
        upload_link.write(replace(visit, run=run, changes=dict(changes)))

    def fit() -> None:
        write({**visit.changes, **fitting(source, run)})
        page.close_popover(settings_box.KEY)

    own = scenario.settings_of(run)
    try:
        present = runs.of_one(scenario, run, visit.changes).settings_of(run)
        can_fit = present.kv_manager == "paged" and scenario.ops is None
    except ScenarioError:
        present, can_fit = own, False
    settings_box.settings_box(
        own,
        present,
        key=repr(visit.params()),
        write=write,
        back="Back to the settings of the file" if source.file is None else "Back to the usual settings",
        without=("policy",) if source.file is not None else (),
        more=(lambda: st.button("Fit memory to this trace", key="fit", on_click=fit)) if can_fit else None,
    )


def fitting(source: Source, run: str) -> dict[str, Any]:
    """The settings with which memory is tight for these requests."""
    assert source.scenario is not None
    own = source.scenario.settings_of(run)
    others = {} if own.kv_capacity_tokens is None else {"kv_capacity_tokens": None}
    return {FITTED: tight_pool(source.scenario.all_requests(run), own), **others}
