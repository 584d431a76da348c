"""Charts of runs below the player, in tabs: only the open tab is drawn, and opening one leaves the player alone.

The first tab holds what the page gives; no chart is loaded with the page. Charts that compare runs start the other runs of
the scenario in the background when their tab is opened for the first time, and grow run by run.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from engine.request import Request
from viz.charts import gallery
from viz.charts.drawing import Drawing
from viz.charts.theme import BOTH
from viz.pages.parts import doctor, doctor_words, page, request_table
from viz.pages.parts.jobs import FOR_USERS, Job, State
from viz.pages.parts.runs import Finished

MAX_RUNS = 8
"""Runs side by side at most."""
MAX_KEPT = 16
KEY = "charts"

FIGURES, MEMORY, BATCH, SPEED, SPREAD, REQUESTS, CACHE = TABS = (
    "Figures",
    "KV memory",
    "Batch and queue",
    "Speed",
    "Spread of times",
    "Requests",
    doctor_words.words()["tab"],
)
OF_ONE_RUN = {MEMORY: ("kv_composition",), BATCH: ("batch_and_queue",)}
OF_RUNS = {
    MEMORY: ("waste",),
    SPEED: ("throughput", "first_token", "between_tokens", "per_token"),
    SPREAD: ("first_token_spread", "latency_spread"),
}
"""Names of charts by tab; no tab has more than six."""
COLUMNS = 2

Jobs = Mapping[str, Job[Finished]]
Ask = Callable[[str, Job[Finished] | None], Job[Finished]]
"""`ask(run, after)`: the job of a run, which begins when `after` has ended unless it was asked for before."""

_CSS = """<style>
[class*="st-key-chart-of-"] { gap: 0.375rem; }
[class*="st-key-caption-of-"] [data-testid="stText"] { font-size: 0.8125rem; }
[class*="st-key-caption-of-"] [data-testid="stText"] span { color: var(--ink-2); }
/* its picture would lose the colours, which only the browser resolves; the numbers stand below */
[data-testid="stElementContainer"]:has([data-testid="stVegaLiteChart"]) [data-testid="stElementToolbar"] { display: none; }
/* the chart is laid out for two thirds of the room and enlarged to all of it */
@media (min-width: 1800px) and (min-height: 1000px) {
  [data-testid="stElementContainer"]:has([data-testid="stVegaLiteChart"]) { width: calc(100% / 1.5) !important; }
  [data-testid="stVegaLiteChart"] { zoom: 1.5; overflow: visible; }
}
</style>"""


def below(
    shown: str,
    finished: Finished,
    runs: Sequence[str],
    ask: Ask,
    figures: Callable[[], None],
    together: bool = False,
) -> None:
    """The tabs under the player.

    shown, finished   name and result of the run in the player
    runs, ask         all runs that can stand beside it, and how to get the job of one
    figures           draws the first tab
    together          the first tab needs all runs too
    """
    st.html(_CSS)

    def all_jobs() -> tuple[Jobs, list[str]]:
        return _ask_all(runs, ask) if together or st.session_state.get(KEY) in OF_RUNS else ({}, [])

    ticks = _pending(all_jobs()[0])

    def section() -> None:
        tabs = dict(zip(TABS, st.tabs(TABS, key=KEY, on_change="rerun"), strict=True))
        jobs, problems = all_jobs()
        if _pending(jobs) != ticks:
            st.rerun()
        for title, tab in tabs.items():
            if tab.open:
                with tab:
                    _of_one_run(title, shown, finished, figures)
                    _of_runs(title, jobs, problems)

    st.fragment(section, run_every=1.0 if ticks else None)()


def of_workload(content: str, requests: Sequence[Request]) -> None:
    """Lengths and arrivals of the requests that `content` names."""
    beside(_of_workload(content, requests))


def beside(drawings: Sequence[Drawing]) -> None:
    """Charts beside each other, for a page that has no tabs."""
    st.html(_CSS)
    _grid(drawings)


def show(drawing: Drawing) -> None:
    """One chart, what to look at under it, and its numbers as a table to open."""
    with st.container(key=f"chart-of-{drawing.name}"):
        if drawing.chart is None:
            page.heading(drawing.title)
        else:
            st.altair_chart(drawing.chart, theme=None, width="stretch", key=f"chart-{drawing.name}", alt=drawing.alt)
        with st.container(key=f"caption-of-{drawing.name}"):
            st.text(drawing.caption)
        if drawing.table:
            with st.expander("The numbers of this chart", key=f"numbers-of-{drawing.name}"):
                st.dataframe(drawing.table, hide_index=True, key=f"table-{drawing.name}")


def _of_one_run(title: str, shown: str, finished: Finished, figures: Callable[[], None]) -> None:
    """What a tab holds of the run in the player alone."""
    if title == FIGURES:
        figures()
    elif title == REQUESTS:
        request_table.show(shown, finished)
    elif title == CACHE:
        doctor.show(finished.trace)
    for name in OF_ONE_RUN.get(title, ()):
        show(gallery.OF_ONE_RUN[name](finished, BOTH))


def _of_runs(title: str, jobs: Jobs, problems: Sequence[str]) -> None:
    """The charts of the runs that have ended, and a line for each that has not."""
    if title not in OF_RUNS:
        return
    done = {name: job.result for name, job in jobs.items() if job.result is not None}
    _grid([gallery.OF_RUNS[name](done, BOTH) for name in OF_RUNS[title]])
    for name, job in jobs.items():
        if job.state is not State.DONE:
            st.text(f"{name}: {job.problem or job.note or job.state.value}")
    for sentence in problems:
        st.text(sentence)


def _pending(jobs: Jobs) -> bool:
    return not all(job.ended for job in jobs.values())


def _ask_all(runs: Sequence[str], ask: Ask) -> tuple[Jobs, list[str]]:
    """The jobs of all runs, one after another, and a sentence for each run that cannot be asked for."""
    jobs: dict[str, Job[Finished]] = {}
    problems = []
    for name in runs[:MAX_RUNS]:
        try:
            jobs[name] = ask(name, next(reversed(jobs.values()), None))
        except FOR_USERS as error:
            problems.append(f"{name}: {error}")
    if len(runs) > MAX_RUNS:
        problems.append(f"Of {len(runs)} runs the first {MAX_RUNS} are shown.")
    return jobs, problems


def _grid(drawings: Sequence[Drawing]) -> None:
    """Charts beside each other, two in a row; one alone takes the whole width."""
    for first in range(0, len(drawings), COLUMNS):
        row = drawings[first : first + COLUMNS]
        for column, drawing in zip(st.columns(len(row), gap="large"), row, strict=True):
            with column:
                show(drawing)


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False)
def _of_workload(content: str, _requests: Sequence[Request]) -> list[Drawing]:
    return [draw(_requests, BOTH) for draw in gallery.OF_WORKLOAD.values()]
