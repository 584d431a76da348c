"""KVScope in the browser: the pages and their order."""

import streamlit as st

from viz.pages.parts.address import CHECK, COMPARE, LIVE, OWN, STAGE

st.set_page_config(page_title="KVScope", layout="wide", initial_sidebar_state="collapsed")
st.navigation(
    [
        st.Page("viz/pages/start.py", title="Start", default=True),
        st.Page("viz/pages/stage.py", title="Stage", url_path=STAGE),
        st.Page("viz/pages/compare.py", title="Compare", url_path=COMPARE),
        st.Page("viz/pages/live.py", title="Live", url_path=LIVE),
        st.Page("viz/pages/check.py", title="Check", url_path=CHECK),
        st.Page("viz/pages/bring_your_own.py", title="Bring your own", url_path=OWN),
    ],
    position="top",
).run()
