"""The app of the bench, `streamlit run tests/bench/player_app.py -- FOLDER`, over the files of `player_runs`. The player
has the room that it has on the Stage.

/            an empty page with a button for each run; a click shows the player with it
?show=L      the player with this run at once
?rerun=L     the same run without the player: each step is a rerun that draws the block grid of its frame with Altair
"""

import sys
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import streamlit as st

from engine.trace.trace import Trace
from viz.pages.parts import page
from viz.player import player

FOLDER = Path(sys.argv[1])
STATES = ("free", "private", "shared")
COLOURS = ("#E9ECF0", "#96A8E4", "#262C36")


@st.cache_resource
def blobs(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(FOLDER.glob(f"{name}-*.wire"))]


@st.cache_resource
def trace_of(name: str) -> Trace:
    return Trace.load(FOLDER / f"{name}.trace")


def player_page(first: str | None) -> None:
    names = sorted({path.name.split("-")[0] for path in FOLDER.glob("*.wire")})
    page.begin()
    with page.bar():
        for name in names:
            if st.button(f"Show {name}"):
                st.session_state["shown"] = name
        st.button("Rerun")
    shown = st.session_state.get("shown", first)
    if shown in names:
        player(blobs(shown), key=f"player-{shown}")


def rerun_page(name: str) -> None:
    trace = trace_of(name)
    st.session_state.setdefault("step", trace.num_steps // 3)

    def forward() -> None:
        st.session_state["step"] = min(st.session_state["step"] + 1, trace.num_steps - 1)

    with st.container(horizontal=True):
        st.button("Next step", shortcut="right", on_click=forward)
        step = st.number_input("Step", 0, trace.num_steps - 1, key="step", label_visibility="collapsed")
    st.altair_chart(block_grid(trace, int(step)), key="grid")


def block_grid(trace: Trace, step: int) -> alt.Chart:
    """One square for each block of the frame, coloured by how many read it; the title names the step."""
    num_readers = trace.cut(step=step, at="scheduled").tracks["blocks"]["ref_count"]
    block = np.arange(len(num_readers))
    num_columns = int(np.ceil(np.sqrt(1.6 * len(block))))
    data = pd.DataFrame(
        {
            "column": block % num_columns,
            "row": block // num_columns,
            "state": np.array(STATES)[np.minimum(num_readers, len(STATES) - 1)],
        }
    )
    return (
        alt.Chart(data, title=f"step {step}")
        .mark_rect()
        .encode(
            x=alt.X("column:O", axis=None),
            y=alt.Y("row:O", axis=None),
            color=alt.Color("state:N", scale=alt.Scale(domain=list(STATES), range=list(COLOURS))),
        )
        .properties(height=480)
    )


def main() -> None:
    st.set_page_config(page_title="Bench", layout="wide")
    name = st.query_params.get("rerun")
    if name:
        rerun_page(name)
    else:
        player_page(st.query_params.get("show"))


main()
