"""Compare: two or three runs of one scenario, or of an uploaded file, on one clock; where they part, and by how much.

Scenario, runs and their settings stand in the link. All runs are in one player, so they cannot drift apart.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from scenarios.scenario import Scenario
from viz.pages.parts import (
    compare_controls,
    compare_runs,
    kept_runs,
    links,
    page,
    runs,
    side_by_side,
    uploads,
)
from viz.pages.parts.compare_runs import Comparison, Pane
from viz.pages.parts.jobs import Job, State
from viz.pages.parts.runs import Finished

OWN_SETTINGS = "Back to its own settings"


def main() -> None:
    page.begin()
    catalogue = runs.catalogue()
    comparison, problem = compare_runs.current(catalogue)
    bar = page.bar()
    with bar:
        compare_controls.scenario_box(catalogue, comparison)
    page.remember_mistake([problem] if problem else [], comparison.params())
    page.link_mistake(comparison.params())
    told = _requests_of(catalogue, comparison)
    if told is None:
        return
    scenario, content = told
    with bar:
        with page.popover(f"Runs: {len(comparison.panes)}", compare_controls.RUNS):
            compare_controls.runs_form(scenario, comparison)
        with page.popover("Earlier", compare_controls.EARLIER):
            compare_controls.earlier_runs(catalogue, comparison)
    shown = _shown(scenario, content, comparison)
    if shown is None:
        return
    comparison, finished = shown
    kept_runs.keep(comparison)
    _side_by_side(comparison, finished)
    _below(comparison, finished)


# the runs


def _requests_of(catalogue: Mapping[str, Scenario], comparison: Comparison) -> tuple[Scenario, str | None] | None:
    """The scenario and, for a file, what names its content; None while the file is being read, or if that fails."""
    if not comparison.file:
        return catalogue[comparison.scenario], None
    upload = uploads.store().find(comparison.file)
    if upload is None:
        page.problem(uploads.GONE)
        return None
    source = page.result_of(
        uploads.reading(upload, comparison.cut),
        "The file is being read",
        again=lambda: uploads.forget_reading(upload, comparison.cut),
        back="Back to the scenarios",
        go_back=lambda: compare_runs.write(compare_runs.first_of(next(iter(catalogue.values())))),
    )
    if source is None or source.scenario is None:
        return None
    return source.scenario, uploads.content_of(upload, comparison.cut)


def _shown(scenario: Scenario, content: str | None, comparison: Comparison) -> tuple[Comparison, list[Finished]] | None:
    """The runs that can be shown, computed one after the other, and their results; None while one of them is not there.

    A run that cannot be computed is named in a sentence and leaves the others alone.
    """
    told = [compare_runs.told_by(scenario, pane) for pane in comparison.panes]
    jobs: list[Job[Finished]] = []
    for one, pane in zip(told, comparison.panes, strict=True):
        jobs.append(runs.job(one, pane.run, content, after=jobs[-1] if jobs else None))

    def stop_all() -> None:
        for job in jobs:
            job.stop()

    def run_again() -> None:
        for job, one, pane in zip(jobs, told, comparison.panes, strict=True):
            if job.state is State.STOPPED:
                runs.forget(one, pane.run, content)

    finished: dict[int, Finished] = {}
    failed: dict[int, str] = {}
    for number, (job, label) in enumerate(zip(jobs, comparison.labels, strict=True)):
        result = page.result_of(
            job,
            f"The run {label} is being computed",
            again=run_again,
            back=OWN_SETTINGS,
            go_back=partial(_reset, comparison, number),
            stop=stop_all,
            failed=partial(failed.__setitem__, number),
        )
        if result is not None:
            finished[number] = result
        elif number not in failed:
            return None
    if failed:
        number, sentence = next(iter(failed.items()))
        reset = partial(_reset, comparison, number)
        if not finished:
            page.problem(sentence, OWN_SETTINGS, reset)
            return None
        page.notice("run", f"Without {comparison.labels[number]}", sentence, OWN_SETTINGS, reset)
    return comparison.only(list(finished)), list(finished.values())


def _reset(comparison: Comparison, number: int) -> None:
    compare_runs.write(comparison.with_pane(number, Pane(comparison.panes[number].run)))


def _side_by_side(comparison: Comparison, finished: Sequence[Finished]) -> None:
    # other runs are another player: it begins at the moment of the address
    key = f"compare-{comparison.params()}"
    side_by_side.show(comparison.labels, finished, key=key, name=comparison.scenario or "file")
    if len(finished) < 2:
        st.text("This is one run; add another one, of other settings, under Runs.")


def _below(comparison: Comparison, finished: Sequence[Finished]) -> None:
    side_by_side.all_figures(comparison.labels, finished)
    if comparison.file:
        st.text("A link to this page works only on this server, as long as it keeps the file.")
        return
    with st.container(horizontal=True):
        for pane, label in zip(comparison.panes, comparison.labels, strict=True):
            choice = links.Choice(comparison.scenario, pane.run, pane.changes)
            st.page_link("viz/pages/stage.py", label=page.plain(f"{label} on the Stage"), query_params=choice.params())


main()
