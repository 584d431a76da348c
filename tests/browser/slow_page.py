"""A page of ours that draws its second text late, so that what stood there before is old for a while."""

import time

import streamlit as st

from viz.pages.parts import page

PAUSE = 3.0

st.set_page_config(layout="wide")
page.begin()
with page.popover("Box", "box"):
    st.button("Again", key="again")
if st.session_state.get("again"):
    time.sleep(PAUSE)
st.text("It stands here.")
