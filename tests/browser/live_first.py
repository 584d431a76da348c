"""All pages of the app, of which Live comes up first: for scripts that give it another model or other settings."""

from pathlib import Path

import streamlit as st

PAGES = ("Start", "Stage", "Compare", "Live", "Check", "Bring your own")
_FOLDER = Path(__file__).resolve().parent.parent.parent / "viz" / "pages"


def show() -> None:
    st.set_page_config(page_title="KVScope", layout="wide", initial_sidebar_state="collapsed")
    pages = [
        st.Page(_FOLDER / f"{title.lower().replace(' ', '_')}.py", title=title, default=title == "Live")
        for title in PAGES
    ]
    st.navigation(pages, position="top").run()
