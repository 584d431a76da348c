"""The gallery of the Start page: the pictures of all scenarios, and which of them a search finds.

Pictures are read once for all visitors; a card whose picture cannot be had shows the outlines of one. `/` puts the cursor
into the search box.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from scenarios.scenario import Scenario
from viz import covers

LOG = logging.getLogger(__name__)
LANGUAGE = "en"

_CSS = f"<style>{Path(__file__).with_name('gallery.css').read_text(encoding='utf-8')}</style>"

_COVER_JS = """
export default function (component) {
  const {parentElement, data} = component;
  const box = parentElement.querySelector(".cover");
  const svg = new DOMParser().parseFromString(data, "image/svg+xml").documentElement;
  box.replaceChildren(document.importNode(svg, true));
}
"""

# Called again for a new theme or after a rerun: the listener of a place is registered once and its clean-up stays the same.
_SEARCH_KEY_JS = """
const cleanUps = new WeakMap();
const isTyping = element => element?.closest?.("input, textarea, select, [contenteditable=true], [role=dialog]");
export default function (component) {
  const {parentElement} = component;
  if (cleanUps.has(parentElement)) return cleanUps.get(parentElement);
  const onKey = event => {
    if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.composedPath()[0])) return;
    const input = document.querySelector(".st-key-search input");
    if (!input) return;
    event.preventDefault();
    input.focus();
    input.select();
  };
  document.addEventListener("keydown", onKey);
  // the place is a shadow root, which has no attributes: its host has
  (parentElement.host ?? parentElement).dataset.listens = "/";
  const cleanUp = () => {
    document.removeEventListener("keydown", onKey);
    cleanUps.delete(parentElement);
  };
  cleanUps.set(parentElement, cleanUp);
  return cleanUp;
}
"""


def begin() -> None:
    """The style of the gallery, and the key of its search box."""
    st.html(_CSS)
    with st.container(key="search-key"):
        _search_key()(key="search-key-listener", height="content")


def found(scenarios: Iterable[Scenario], chip: str | None, search: str) -> list[Scenario]:
    """The scenarios with this chip (None: any) in which every word of the search occurs."""
    words = search.casefold().split()
    return [
        scenario
        for scenario in scenarios
        if chip in (None, *scenario.chips) and all(word in _text(scenario) for word in words)
    ]


def _text(scenario: Scenario) -> str:
    texts = (scenario.title, scenario.question, scenario.story)
    words = (scenario.name, scenario.section, *scenario.chips, *(text.get(LANGUAGE, "") for text in texts))
    return " ".join(words).casefold()


@st.cache_resource(show_spinner=False)
def pictures(_scenarios: Mapping[str, Scenario]) -> Mapping[str, str]:
    """The pictures of this server by name of their scenario, each one `<svg>` element."""
    return {name: drawn(scenario) for name, scenario in _scenarios.items()}


def drawn(scenario: Scenario) -> str:
    """Its picture, or an empty one where it cannot be drawn."""
    try:
        return covers.picture(scenario)
    except Exception:
        LOG.exception("the cover of %s could not be drawn", scenario.name)
        return covers.blank()


def picture(name: str, svg: str) -> None:
    """Put a picture here; it takes the width that there is."""
    _cover()(key=f"cover-{name}", data=svg, width="stretch", height="content")


@cache
def _cover() -> Callable[..., Any]:
    html = '<div class="cover"></div>'
    return st.components.v2.component("kvscope.cover", html=html, css=covers.stylesheet(), js=_COVER_JS)


@cache
def _search_key() -> Callable[..., Any]:
    return st.components.v2.component("kvscope.search_key", js=_SEARCH_KEY_JS)
