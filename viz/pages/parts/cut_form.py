"""The form that chooses which part of a trace file runs, how fast it arrives, and how much memory there is for it."""

import streamlit as st

from scenarios.readers import MAX_ROWS
from scenarios.source import Cut
from viz.pages.parts.upload_link import LIMITS, MAX_SECONDS

RUN = "Run static, continuous and chunked"


def cut_form(cut: Cut, is_fitted: bool = False, is_ready: bool = True) -> tuple[Cut, bool] | None:
    """Draw the form with `cut` and `is_fitted` filled in; when it was sent, the part of the file and whether memory is to fit it."""
    with st.form("cut-form", border=False):
        a, b = st.columns(2)
        first = a.number_input("At most this many requests", 1, MAX_ROWS, cut.first, placeholder="all")
        rate = b.number_input(
            "Play arrivals n times as fast",
            *LIMITS["rate"],
            cut.rate,
            help="2 halves the time between two arrivals, 0.5 doubles it",
        )
        start, end = cut.window or (None, None)
        start = a.number_input("From second", *LIMITS["from"], start, placeholder="the first arrival")
        end = b.number_input("To second", *LIMITS["to"], end, placeholder="the last arrival")
        qps = a.number_input(
            "Requests per second",
            *LIMITS["qps"],
            cut.qps,
            placeholder="as in the file",
            help="the mean of random arrivals, for a file that has lengths but no arrival times",
        )
        fit = st.checkbox(
            "Fit memory to this trace",
            is_fitted,
            help="a pool of about half the blocks that these requests would hold at their busiest moment, so that they wait "
            "and are preempted",
        )
        sent = st.form_submit_button(RUN, type="primary", disabled=not is_ready)
    if not sent:
        return None
    window = None if start is None and end is None else (start or 0.0, MAX_SECONDS if end is None else end)
    return Cut(first, window, rate, qps), fit
