"""Which visitor of the jobs this session of the browser is, and what it shares with the others.

A session that is gone takes its visitor with it. Work that all had let go of is begun anew for the next who asks.
"""

from typing import Any

import streamlit as st

from viz.pages.parts.jobs import Job, State, Visitor


def visitor() -> Visitor:
    """The one of this session."""
    one: Visitor = st.session_state.setdefault("visitor", Visitor())
    return one


def shared(begin: Any, *args: Any) -> Job[Any]:
    """The job that the cached function `begin` has or makes for these arguments, as this session sees it."""
    job: Job[Any] = begin(*args).of(visitor())
    if job.state is State.STOPPED and not job.is_let_go:
        begin.clear(*args)
        job = begin(*args).of(visitor())
    return job
