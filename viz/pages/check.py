"""Check: what the source texts say, beside what KVScope computes, item by item. The numbers come from the real engine."""

from urllib.parse import urlencode

import streamlit as st

from scenarios.commands.check import LEGEND
from viz.pages.parts import acceptance_table, page
from viz.pages.parts.acceptance_table import ALL, STATES

STAGE = "Stage: "


def main() -> None:
    page.begin()
    page.headline(
        "Every number of the texts, beside ours",
        f"Formula, simulated value, value of the text. {LEGEND}.",
    )
    every = page.result_of(
        acceptance_table.job(),
        "The list is being computed",
        again=acceptance_table.forget,
        back="Compute again",
        go_back=acceptance_table.forget,
        is_player=False,
    )
    if every is None:
        return
    counts = acceptance_table.counts(every)
    with st.container(horizontal=True, vertical_alignment="center", key="check-filters"):
        sections = {ALL: "All sections", **acceptance_table.sections()}
        section = st.selectbox(
            "Section", list(sections), format_func=sections.__getitem__, label_visibility="collapsed", width=400
        )
        state = st.segmented_control(
            "State",
            [ALL, *STATES],
            default=ALL,
            required=True,
            format_func=lambda name: f"{name} {counts.get(name, len(every)):,}",
            label_visibility="collapsed",
        )
        st.button("Compute again", on_click=acceptance_table.forget)
    shown = acceptance_table.chosen(every, section, state or ALL)
    if not shown:
        st.text("No item of this section is in this state.")
        return
    columns = acceptance_table.table(shown)
    columns = {name: [page.plain(text) for text in texts] for name, texts in columns.items()}
    st.table({**columns, "where": [_linked(item.where) for item in shown]})


def _linked(where: str) -> str:
    """ "Stage: a, b" with a link to each scenario; any other place as it is."""
    before, colon, names = where.partition(STAGE)
    if before or not colon:
        return page.plain(where)
    links = [f"[{page.plain(name)}](stage?{urlencode({'scenario': name})})" for name in names.split(", ")]
    return page.plain(STAGE) + " " + ", ".join(links)


main()
