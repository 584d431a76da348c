"""Start: the gallery of scenarios. Each card is a small real picture and one question; it opens the Stage."""

from collections.abc import Mapping, Sequence

import streamlit as st

from scenarios.scenario import CHIPS, Scenario
from viz.pages.parts import address, gallery, page, runs
from viz.pages.parts.gallery import LANGUAGE
from viz.pages.parts.links import Choice, quoted

COLUMNS = 4
ALL = "All"
SHOW, SEARCH = "show", "search"
MAX_SEARCH = 100


def main() -> None:
    page.begin()
    gallery.begin()
    page.headline(
        "See an LLM serving engine think.",
        "One step at a time: who is in the batch, where each KV block lies, who shares it, and why.",
    )
    catalogue = runs.catalogue()
    chips = [chip for chip in CHIPS if any(chip in scenario.chips for scenario in catalogue.values())]
    _follow_link(chips)
    with st.container(key="choose", horizontal=True, vertical_alignment="center"):
        chip, search = _chips(chips), _search()
    chosen = {name: value for name, value in ((SHOW, chip), (SEARCH, search)) if value not in (ALL, "")}
    address.show_in_place(address.START, chosen)
    page.link_mistake(chip)
    shown = gallery.found(catalogue.values(), None if chip == ALL else chip, search)
    if not shown:
        _nothing(chip, search)
        return
    _cards(shown, gallery.pictures(catalogue))


def _follow_link(chips: Sequence[str]) -> None:
    """Take up chip and search from the address when the page is opened; later on it follows them."""
    state, params = st.session_state, address.own()
    if "chip" in state:
        return
    chip = params.get(SHOW, [ALL])[-1]
    state["chip"] = chip if chip in (ALL, *chips) else ALL
    if chip != state["chip"]:
        sentence = f"There is nothing called {quoted(chip)}, only {', '.join(chips)}; all scenarios are shown."
        page.remember_mistake([sentence], ALL)
    if SEARCH in params:
        state["search"] = params[SEARCH][-1][:MAX_SEARCH]


def _chips(chips: Sequence[str]) -> str:
    return st.pills("Show", [ALL, *chips], required=True, label_visibility="collapsed", key="chip") or ALL


def _search() -> str:
    return st.text_input(
        "Search scenarios",
        key="search",
        type="search",
        placeholder="Search scenarios   /",
        max_chars=MAX_SEARCH,
        live=True,
        label_visibility="collapsed",
    )


def _nothing(chip: str, search: str) -> None:
    def show_all() -> None:
        st.session_state.update(chip=ALL, search="")

    of_chip = "" if chip == ALL else f" of {chip}"
    page.problem(f"No scenario{of_chip} has {quoted(search)} in it.", "Show all", show_all, tag="Not found")


def _cards(shown: Sequence[Scenario], pictures: Mapping[str, str]) -> None:
    for first in range(0, len(shown), COLUMNS):
        row = st.columns(COLUMNS)
        for column, scenario in zip(row, shown[first : first + COLUMNS], strict=False):
            with column:
                _card(scenario, pictures[scenario.name])


def _card(scenario: Scenario, svg: str) -> None:
    with st.container(border=True, key=f"card-{scenario.name}", height="stretch"):
        gallery.picture(scenario.name, svg)
        label = page.plain(scenario.title[LANGUAGE])
        choice = Choice(scenario.name, scenario.runs[0].name)
        st.page_link("viz/pages/stage.py", label=label, query_params=choice.params())
        st.text(scenario.question.get(LANGUAGE, ""))
        with st.container(horizontal=True, vertical_alignment="center", key=f"foot-{scenario.name}"):
            for chip in scenario.chips:
                with st.container(key=f"chip-of-{scenario.name}-{chip}", width="content"):
                    st.text(chip)
            st.text(scenario.section, width="stretch", text_alignment="right")


main()
