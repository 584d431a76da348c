"""Bring your own: upload a trace file, a scenario file or a saved run, see what was read of it, and step through its runs.

Which file, part, run and settings are on the screen stands in the address; what a link says is `upload_link`'s business.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import streamlit as st

from scenarios.readers import MAX_ROWS
from scenarios.source import Source
from viz.pages.parts import (
    charts,
    cut_form,
    download,
    example_file,
    figures,
    file_bar,
    file_runs,
    formats,
    jump,
    page,
    trace_tables,
    upload_link,
    uploads,
)
from viz.pages.parts.file_runs import FileRuns
from viz.pages.parts.jobs import State
from viz.pages.parts.links import quoted
from viz.pages.parts.upload_link import Visit
from viz.pages.parts.uploads import MAX_MEGABYTES, TRACE, Upload
from viz.player import player


def main() -> None:
    page.begin()
    visit, problem = upload_link.current()
    bar = page.bar()
    shown = None if visit is None else visit.params()
    page.remember_mistake([problem] if problem else [], shown)
    page.link_mistake(shown)
    upload = uploads.store().find(visit.digest) if visit is not None else None
    if visit is None or upload is None or not visit.run:
        _file_view(bar, visit, upload)
    else:
        _run_view(bar, visit, upload)


def _read(visit: Visit, upload: Upload) -> Source | None:
    return page.result_of(
        uploads.reading(upload, visit.cut),
        f"{upload.name} is being read",
        again=lambda: uploads.forget_reading(upload, visit.cut),
        back="Back to the whole file",
        go_back=lambda: upload_link.write(Visit(upload.digest, "", uploads.first_cut(upload))),
    )


# the file


def _file_view(bar: Any, visit: Visit | None, upload: Upload | None) -> None:
    page.headline(
        "Bring your own trace",
        "Times and lengths of requests, one row each, as CSV or JSON lines, also gzipped; or a scenario file, or a saved run: "
        f"at most {MAX_MEGABYTES} MB and {MAX_ROWS:,} rows. The file stays on this server.",
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        if visit is not None and upload is None:
            page.problem(uploads.GONE)
        _uploader()
    if visit is None or upload is None:
        with right:
            cut_form.cut_form(uploads.first_cut(None), is_ready=False)
        with left:
            _what_can_be_read()
        return
    upload_link.write(visit)
    if upload.kind == TRACE:
        with right:
            sent = cut_form.cut_form(visit.cut, file_bar.FITTED in visit.changes)
        if sent is not None:
            cut, st.session_state["fit asked"] = sent
            changes = {name: value for name, value in visit.changes.items() if name != file_bar.FITTED}
            upload_link.write(replace(visit, run=file_bar.FIRST_SHOWN, cut=cut, changes=changes))
            st.rerun()
    with left:
        source = _read(visit, upload)
        if source is None:
            return
        trace_tables.what_was_read(upload, source)
    file_bar.fill(bar, visit, upload, source)
    if source.file is None:
        with right:
            name = file_runs.names_of(source)[0]
            label = "Open the run" if source.trace is not None else "Run it"
            st.button(label, type="primary", on_click=upload_link.write, args=(replace(visit, run=name),))
        return
    trace_tables.rejected_rows(source.file)
    charts.of_workload(uploads.content_of(upload, visit.cut), source.file.requests)
    trace_tables.requests_of_file(source.file)


def _uploader() -> None:
    """A file in the widget is stored once, and shown from then on."""
    given = st.file_uploader("Trace file", label_visibility="collapsed", max_upload_size=MAX_MEGABYTES)
    if given is None or st.session_state.get("uploaded") == given.file_id:
        return
    st.session_state["uploaded"] = given.file_id
    _open(given, given.name)


def _open(content: Any, name: str) -> None:
    upload = uploads.store().keep(content, name)
    upload_link.write(Visit(upload.digest, "", uploads.first_cut(upload)))
    st.rerun()


def _what_can_be_read() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Try the example"):
            _open(BytesIO(example_file.text().encode()), example_file.NAME)
        st.download_button("Download it", example_file.text, example_file.NAME, "text/csv", on_click="ignore")
        st.text(f"{example_file.NUM_REQUESTS} made-up requests: chats in bursts, a few long documents.")
    page.heading("Formats that are recognised by their content")
    with st.container(key="formats"):
        st.table({name: [page.plain(text) for text in texts] for name, texts in formats.table().items()})


# its runs


def _run_view(bar: Any, visit: Visit, upload: Upload) -> None:
    source = _read(visit, upload)
    if source is None:
        return
    names = file_runs.names_of(source)
    if visit.run not in names:
        sentence = f"The file {upload.name} has no run {quoted(visit.run)}, only {', '.join(names)}; this is the file."
        visit = replace(visit, run="")
        page.remember_mistake([sentence], visit.params())
        upload_link.write(visit)
        st.rerun()
    if st.session_state.pop("fit asked", False):
        visit = replace(visit, changes={**visit.changes, **file_bar.fitting(source, visit.run)})
    upload_link.write(visit)
    file_bar.fill(bar, visit, upload, source)
    of_file = file_runs.of(upload, source, visit)
    back = "Back to its own settings"
    if visit.run in of_file.refused:
        page.problem(of_file.refused[visit.run], back, lambda: upload_link.write(replace(visit, changes={})))
        return
    of_file.begin_all()
    finished = page.result_of(
        of_file.job(visit.run),
        f"The run {visit.run} is being computed",
        again=of_file.ask_again,
        back=back if visit.changes else "Back to the file",
        go_back=lambda: upload_link.write(replace(visit, changes={}) if visit.changes else replace(visit, run="")),
        stop=of_file.stop_all,
    )
    if finished is None:
        return
    player([finished.blob], key=f"player-{visit.params()}{jump.mark()}")
    if source.scenario is not None:
        download.of_run(of_file.scenario, visit.run, finished)
    else:
        download.offline([finished.blob], source.title, f"{source.name}-{visit.run}")
    charts.below(visit.run, finished, names, of_file.job, _figures(of_file, source), together=True)
    st.text("A link to this page works only on this server, as long as it keeps the file.")


def _figures(of_file: FileRuns, source: Source) -> Callable[[], None]:
    """Draws the table, filled run by run."""

    def draw() -> None:
        page.heading("Figures of the runs")
        columns: dict[str, Mapping[str, Any]] = {
            name: job.result.figures for name, job in of_file.jobs.items() if job.result is not None
        }
        columns = {name: columns[name] for name in file_runs.names_of(source) if name in columns}
        measured = figures.measured(source.file.requests) if source.file is not None else None
        if measured is not None:
            columns["measured in the file"] = measured
        st.dataframe(figures.table(columns), hide_index=True, height="content")
        for name, job in of_file.jobs.items():
            if job.state is not State.DONE:
                st.text(f"{name}: {job.problem or job.note or job.state.value}")
        for name, sentence in of_file.refused.items():
            st.text(f"{name}: {sentence}")

    return draw


main()
