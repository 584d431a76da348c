"""Start: the gallery of scenarios. Each card is one question; it opens the Stage."""

import streamlit as st

from scenarios.scenario import CHIPS, Scenario
from viz.pages.parts import page, runs

COLUMNS = 4
LANGUAGE = "en"


def main() -> None:
    page.begin()
    page.headline(
        "See an LLM serving engine think.",
        "One step at a time: who is in the batch, where each KV block lies, who shares it, and why.",
    )
    catalogue = runs.catalogue()
    present = [chip for chip in CHIPS if any(chip in scenario.chips for scenario in catalogue.values())]
    chosen = st.pills("Show", ["All", *present], default="All", required=True, label_visibility="collapsed", key="chip")
    shown = [s for s in catalogue.values() if chosen == "All" or chosen in s.chips]
    for first in range(0, len(shown), COLUMNS):
        row = st.columns(COLUMNS)
        for column, scenario in zip(row, shown[first : first + COLUMNS], strict=False):
            with column:
                _card(scenario)


def _card(scenario: Scenario) -> None:
    with st.container(border=True, key=f"card-{scenario.name}", height="stretch"):
        label = page.plain(scenario.title[LANGUAGE])
        st.page_link("viz/pages/stage.py", label=label, query_params={"scenario": scenario.name})
        st.text(question(scenario))
        with st.container(horizontal=True, vertical_alignment="center", key=f"foot-{scenario.name}"):
            for chip in scenario.chips:
                with st.container(key=f"chip-of-{scenario.name}-{chip}", width="content"):
                    st.text(chip)
            st.text(scenario.section, width="stretch", text_alignment="right")


def question(scenario: Scenario) -> str:
    """The first question of the story, else its first sentence."""
    story = " ".join(scenario.story[LANGUAGE].split())
    end = min((i for mark in "?." if (i := story.find(mark + " ")) >= 0), default=len(story) - 1)
    return story[: end + 1]


main()
