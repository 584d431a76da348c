"""Leading the player of a page to a frame from somewhere else on that page.

A player reads its moment from the address once, when it appears. So the address gets the frame, and the page a new player.
"""

import streamlit as st

_NUMBER = "jump"


def to(frame: str) -> None:
    """Go to a frame, `12` or `12.3`; runs the page anew."""
    st.session_state[_NUMBER] = st.session_state.get(_NUMBER, 0) + 1
    st.query_params["f"] = frame
    st.rerun()


def mark() -> str:
    """What the key of a player ends with, so that a jump makes a new one."""
    number = st.session_state.get(_NUMBER, 0)
    return f"-{number}" if number else ""
