"""The runs of this session that one may come back to: the last five that are not on the screen.

Only what names a run is remembered here, in the order of last use; the runs themselves lie in the cache of `runs`, which
has its own bound, and one that has fallen out of it is computed again.
"""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from viz.pages.parts.compare_runs import Comparison
from viz.player import MAX_RUNS

MAX_OFFERED = 5


def keep(shown: Comparison) -> None:
    """Remember the runs on the screen as the ones used last."""
    st.session_state["kept_runs"] = used_last(singles(shown), st.session_state.get("kept_runs", ()))


def offered(shown: Comparison) -> list[Comparison]:
    """The runs to come back to, the one used last first, each as a comparison of one."""
    present = singles(shown)
    return [run for run in st.session_state.get("kept_runs", ()) if run not in present][:MAX_OFFERED]


def singles(comparison: Comparison) -> list[Comparison]:
    """Each run by itself."""
    return [replace(comparison, panes=(pane,)) for pane in comparison.panes]


def used_last(runs: Iterable[Comparison], before: Iterable[Comparison]) -> list[Comparison]:
    """`runs` in front of those before them, each once, as many as are offered beside a full screen."""
    order: list[Comparison] = []
    for run in (*runs, *before):
        if run not in order:
            order.append(run)
    return order[: MAX_OFFERED + MAX_RUNS]


def brought_back(shown: Comparison, kept: Comparison) -> Comparison:
    """A kept run beside the others of its scenario, in place of the last one where there is no room, else by itself."""
    if not shown.is_of(kept):
        return kept
    return shown.with_pane(min(len(shown.panes), MAX_RUNS - 1), kept.panes[0])
