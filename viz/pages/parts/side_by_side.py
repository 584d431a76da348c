"""Runs beside each other in one player on one clock, and below it in words where each parts from the first, and by how much."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine.trace.trace import Trace
from viz.pages.parts import download, figure_differences, figures, page
from viz.pages.parts.runs import LANGUAGE, Finished
from viz.player import player
from viz.player.difference import FIRST_CLOCK, pane_differences
from viz.player.wire import in_comparison

MAX_KEPT = 16


def show(
    labels: Sequence[str], finished: Sequence[Finished], *, key: str, name: str, link: bool = True, remark: str = ""
) -> None:
    """The player with one pane for each run, and below it the button for its offline page and where the runs part.

    labels  what the panes are called
    key     of the player; another one is another player, which begins anew
    name    begins that of the offline page
    link    whether the moment stands in the address
    remark  what the panes are, right below the player
    """
    differences = _differences([one.trace for one in finished], labels)
    blobs = [
        in_comparison(one.blob, run_name=label, clock=FIRST_CLOCK, difference=difference)
        for one, label, difference in zip(finished, labels, differences, strict=True)
    ]
    player(blobs, key=key, link=link)
    if remark:
        st.text(remark)
    download.offline(blobs, " / ".join(labels), "-".join((name, *labels)))
    page.heading("First difference")
    for label, difference in zip(labels[1:], differences[1:], strict=True):
        for sentence in _sentences(difference):
            st.text(f"{label} against {labels[0]}: {sentence}")


def all_figures(labels: Sequence[str], finished: Sequence[Finished]) -> None:
    """The figures of all runs, and how far each is from the first."""
    page.heading("Figures of the runs")
    columns = {label: one.figures for label, one in zip(labels, finished, strict=True)}
    st.dataframe(figure_differences.table(columns), hide_index=True, height="content")


def _differences(traces: Sequence[Trace], labels: Sequence[str]) -> list[dict[str, Any]]:
    return _kept_differences(tuple(trace.run_id for trace in traces), tuple(labels), traces)


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False)
def _kept_differences(
    run_ids: tuple[str, ...], labels: tuple[str, ...], _traces: Sequence[Trace]
) -> list[dict[str, Any]]:
    return pane_differences(_traces, labels, LANGUAGE)


def _sentences(difference: Mapping[str, Any]) -> list[str]:
    """Where two runs part on either clock."""
    steps, time = difference["steps"], difference["time"]
    sentences = []
    if steps is not None:
        sentences.append(f"by iterations in iteration {steps['step'] + 1:,}, where {steps['text']}.")
    if time is not None:
        moment = figures.seconds(time["time"]) if time["time"] else "0 ms"
        sentences.append(f"by time at {moment}, where {time['text']}.")
    return sentences or ["none; both schedule the same tokens and admit, preempt and finish the same requests."]
