"""Bring your own: upload a trace file, see what was read and refused, choose a part of it, run it under three policies."""

from collections.abc import Mapping

import streamlit as st

from engine.request import Request
from scenarios.readers import MAX_ROWS
from scenarios.run import TRACE_FILE_RUNS
from scenarios.source import Cut, Source
from viz.pages.parts import charts, download, figures, page, runs, trace_tables, upload_link, uploads
from viz.pages.parts.jobs import Job, State
from viz.pages.parts.runs import Finished
from viz.pages.parts.upload_link import LIMITS, MAX_SECONDS, Visit
from viz.pages.parts.uploads import MAX_MEGABYTES, Upload
from viz.player import player

FILE = "File"
RUNS = tuple(run.name for run in TRACE_FILE_RUNS)
FIRST_SHOWN = "continuous"


def main() -> None:
    page.begin()
    problem = _follow_link()
    upload = uploads.store().find(st.session_state.get("upload"))
    with page.bar():
        view = _view_box() if upload is not None and st.session_state.get("asked") else FILE
    if upload is None or view == FILE:
        _file_view(upload, problem)
    else:
        _run_view(upload, view)


def _follow_link() -> str | None:
    """Take up the file, its part and its run from the address when this session has none; a sentence if that fails."""
    state, params = st.session_state, st.query_params.to_dict()
    if uploads.store().find(state.get("upload")) is not None:
        return None
    try:
        visit = upload_link.read(params, RUNS)
    except ValueError as error:
        return str(error)
    if visit is None:
        return None
    if uploads.store().find(visit.digest) is None:
        return "This link leads into a run of an uploaded file and works only where that file is; upload it here."
    state.update(upload=visit.digest, cut=visit.cut, asked=True, show=visit.run)
    return None


def _view_box() -> str:
    """The file or one of its runs; `show` asks for one of them, and the last one comes back with the page."""
    state = st.session_state
    if "show" in state or "view" not in state:
        state["view"] = state.pop("show", None) or state.get("last_view", FILE)
    view = st.segmented_control("View", [FILE, *RUNS], key="view", required=True, label_visibility="collapsed") or FILE
    state["last_view"] = view
    return view


# the file


def _file_view(upload: Upload | None, problem: str | None) -> None:
    page.headline(
        "Bring your own trace",
        f"Times and lengths of requests, one row each, as CSV or JSON lines, also gzipped: at most {MAX_MEGABYTES} MB and "
        f"{MAX_ROWS:,} rows. The file stays on this server.",
    )
    if problem:
        page.problem(problem)
    left, right = st.columns([3, 2], gap="large")
    with left:
        upload = _uploader() or upload
    with right:
        cut = _cut_form(_cut_of(upload), upload)
    if upload is None:
        return
    with left:
        source = _read(upload, cut)
        if source is None or source.file is None:
            return
        trace_tables.what_was_read(upload.name, source.file)
    trace_tables.rejected_rows(source.file)
    charts.of_workload(uploads.content_of(upload, cut), source.file.requests)
    trace_tables.requests_of_file(source.file)


def _uploader() -> Upload | None:
    """The file in the widget, stored once; None when the widget is empty (a file from before may still be there)."""
    source = st.file_uploader("Trace file", label_visibility="collapsed", max_upload_size=MAX_MEGABYTES)
    if source is None:
        return None
    if st.session_state.get("source") != source.file_id:
        upload = uploads.store().keep(source, source.name)
        st.session_state.update(source=source.file_id, upload=upload.digest, asked=False, cut=None)
    return uploads.store().find(st.session_state["upload"])


def _cut_form(cut: Cut, upload: Upload | None) -> Cut:
    """The part of the file to run. When it was sent, the runs are asked for and the page begins anew."""
    with st.form("cut-form", border=False):
        a, b = st.columns(2)
        first = a.number_input("At most this many requests", 1, MAX_ROWS, cut.first, placeholder="all")
        rate = b.number_input("Arrival rate, times", *LIMITS["rate"], cut.rate)
        start, end = cut.window or (None, None)
        start = a.number_input("From second", *LIMITS["from"], start, placeholder="the first arrival")
        end = b.number_input("To second", *LIMITS["to"], end, placeholder="the last arrival")
        qps = a.number_input(
            "Requests per second",
            *LIMITS["qps"],
            cut.qps,
            placeholder="as in the file",
            help="for a file without arrivals",
        )
        sent = st.form_submit_button("Run static, continuous and chunked", type="primary", disabled=upload is None)
    if not sent:
        return cut
    window = None if start is None and end is None else (start or 0.0, MAX_SECONDS if end is None else end)
    st.query_params.clear()
    st.session_state.update(cut=Cut(first, window, rate, qps), asked=True, show=FIRST_SHOWN)
    st.rerun()


def _cut_of(upload: Upload | None) -> Cut:
    return st.session_state.get("cut") or uploads.first_cut(upload)


def _read(upload: Upload, cut: Cut) -> Source | None:
    return page.result_of(
        uploads.reading(upload, cut),
        "The file is being read",
        again=lambda: uploads.forget_reading(upload, cut),
        back="Back to the whole file",
        go_back=lambda: st.session_state.update(cut=None, asked=False),
    )


# its runs


def _run_view(upload: Upload, view: str) -> None:
    cut = _cut_of(upload)
    source = _read(upload, cut)
    if source is None or source.scenario is None or source.file is None:
        return
    visit = Visit(upload.digest, view, cut)
    upload_link.write(visit)
    scenario, content = source.scenario, uploads.content_of(upload, cut)
    # the run on the screen first, then the others one by one
    jobs: dict[str, Job[Finished]] = {}
    for name in dict.fromkeys((view, *RUNS)):
        jobs[name] = runs.job(scenario, name, content, after=next(reversed(jobs.values()), None))

    def stop_all() -> None:
        for job in jobs.values():
            job.stop()

    def run_again() -> None:
        for name, job in jobs.items():
            if job.state is State.STOPPED:
                runs.forget(scenario, name, content)

    finished = page.result_of(
        jobs[view],
        f"The run {view} is being computed",
        again=run_again,
        back="Back to the file",
        go_back=lambda: st.session_state.update(show=FILE),
        stop=stop_all,
    )
    if finished is None:
        return
    player([finished.blob], key=f"player-{visit.params()}")
    download.of_run(scenario, view, finished)
    requests = source.file.requests
    charts.below(view, finished, RUNS, lambda name, _: jobs[name], lambda: _figures(jobs, requests), together=True)
    st.text("A link to this page works only on this server, as long as it keeps the file.")


def _figures(jobs: Mapping[str, Job[Finished]], requests: list[Request]) -> None:
    """The table, filled run by run."""
    page.heading("Figures of the runs")
    results = {name: jobs[name].result for name in RUNS}
    columns = {name: result.figures for name, result in results.items() if result is not None}
    measured = figures.measured(requests)
    if measured is not None:
        columns["measured in the file"] = measured
    st.dataframe(figures.table(columns), hide_index=True, height="content")
    for name in RUNS:
        if jobs[name].state is not State.DONE:
            st.text(f"{name}: {jobs[name].problem or jobs[name].note or jobs[name].state.value}")


main()
