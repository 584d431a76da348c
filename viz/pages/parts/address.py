"""The address of a page: it names what is on the screen, and the way back stays one step.

Python owns all query parameters but those of the player (LINK_KEYS). A page that was opened without any gets its own in
place, by the browser, because Streamlit would add an entry to the history for them; any other change is a new entry.
"""

import json
import re
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from viz.player import LINK_KEYS

Params = Mapping[str, str | list[str]]
START, STAGE, COMPARE, LIVE, CHECK, OWN = PAGES = ("", "stage", "compare", "live", "check", "bring-your-own")
"""Paths of the pages."""

# The page may have been left before this runs; the address is then that of another one.
_SCRIPT = """<script>
{
  const url = new URL(location.href), wanted = new URLSearchParams(WANTED), moment = MOMENT;
  const own = [...url.searchParams].filter(([name]) => !moment.includes(name)), last = url.pathname.split("/").pop();
  if ((PAGES.includes(last) ? last : "") === PAGE && String(new URLSearchParams(own)) !== String(wanted)) {
    if (!own.length) for (const name of moment) for (const value of url.searchParams.getAll(name)) wanted.append(name, value);
    url.search = wanted;
    history.replaceState(history.state, "", url);
  }
}
</script>"""


def own() -> dict[str, list[str]]:
    """The parameters that Python owns, as it knows them: none where the browser alone has put them into the address."""
    return {key: st.query_params.get_all(key) for key in st.query_params if key not in LINK_KEYS}


def moment() -> dict[str, list[str]]:
    """The parameters of the player, as they were when the page was opened."""
    return {key: st.query_params.get_all(key) for key in st.query_params if key in LINK_KEYS}


def show(page: str, wanted: Params, kept: Params | None = None) -> None:
    """Make the address of that page name `wanted`, and `kept` of the player where that has to be written by Python."""
    present = own()
    lists = {key: value if isinstance(value, list) else [value] for key, value in wanted.items()}
    if present == lists and kept in (None, moment()):
        return
    if present:
        st.query_params.from_dict({**lists, **(kept or {})})
    elif lists:
        show_in_place(page, wanted)


def show_in_place(page: str, wanted: Params) -> None:
    """Make the address of that page name `wanted` without an entry in the history; Python goes on to see the address as it was.

    Said more than once in one run of the page, the last one stays.
    """
    st.html(script(page, wanted), unsafe_allow_javascript=True)


def script(page: str, wanted: Params) -> str:
    """What puts the parameters into an address that has none; every sign that could end a text is encoded."""
    values = {"WANTED": urlencode(wanted, doseq=True), "MOMENT": LINK_KEYS, "PAGES": PAGES, "PAGE": page}
    texts = {name: json.dumps(value).replace("<", "\\u003c") for name, value in values.items()}
    return re.sub("|".join(texts), lambda match: texts[match[0]], _SCRIPT)
