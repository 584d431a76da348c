"""Live: a real model answers, step by step, and the player follows. Every session has a run of its own in one queue."""

from collections import deque
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.settings import SettingsError
from scenarios.fields import ScenarioError
from scenarios.live_report import of_model
from viz.pages.parts import live_answers, live_controls, live_model, live_prompts, live_replay, page
from viz.pages.parts.live_model import ModelServing, Ready
from viz.pages.parts.live_runs import LiveRun, LiveRunError, LiveRuns, LiveState
from viz.pages.parts.live_serving import Ask
from viz.player import follow

RUN, SENT, PROBLEM, NUMBER, TOLD, HAS_FAILED, REPLAY = (
    f"live {name}" for name in ("run", "sent", "problem", "number", "told", "has failed", "replay")
)
# deliveries that are sent again with each new one, because the browser may leave some of them out
NUM_SENT = 5
# seconds between two looks at a run
EVERY = {LiveState.WAITING: 1.0, LiveState.RUNNING: 0.4, LiveState.IDLE: 2.0}
# seconds that a session may be away before its run ends
ABSENCE = 20.0
# seconds that the server gets to send the page: a part of it that runs by itself takes back what it had drawn and what is not
# on its way by then, and the browser would take the player down and put it up again
ON_ITS_WAY = 0.1


@st.cache_resource(show_spinner=False)
def live_runs() -> LiveRuns:
    return LiveRuns()


def main() -> None:
    page.begin()
    ready = _model()
    if ready is None:
        return
    run: LiveRun | None = st.session_state.get(RUN)
    state = None if run is None else run.state
    if run is not None:
        _hear(run)
    every = None if state is None else EVERY.get(state)
    replay = st.session_state.get(REPLAY) if state in (LiveState.IDLE, LiveState.ENDED) else None
    with page.bar():
        if replay is not None:
            st.button(live_replay.BACK, key="live-back", on_click=_leave_replay)
        elif run is not None and state is not None:
            st.fragment(_beside, run_every=every)(run, state)
        if run is not None and not run.is_over:
            live_controls.more_box(lambda asks: _told(_add, run, asks))
        if state in (LiveState.WAITING, LiveState.RUNNING):
            st.button("Stop run", key="live-end", on_click=live_runs().end, args=(run,))
        else:
            if run is not None:
                live_prompts.prompts_box()
            live_controls.live_settings_box(lambda: _told(_begin, ready))
            st.button("Start", type="primary", key="live-start", on_click=_told, args=(_begin, ready))
    # always there, so that what stands below keeps its place on the page, and with it its player
    with st.container(key="live-notices"):
        if problem := st.session_state.get(PROBLEM):
            tag, sentence = problem
            page.notice("live", tag, sentence, "Close", lambda: st.session_state.pop(PROBLEM, None))
    if run is None:
        page.headline(
            "A real model, step by step",
            f"{of_model(ready.model)}. All prompts are asked at the same moment; the words of questions and "
            "answers appear in the blocks that hold them.",
        )
        live_prompts.prompts_page()
        live_controls.memory_page()
        return
    if replay is not None:
        live_replay.view(replay, _leave_replay)
        return
    st.fragment(_followed, run_every=every)(run)
    if every is not None:
        sleep(ON_ITS_WAY)


def _model() -> Ready | None:
    """The model, or None while the page says what is to be done for it."""
    model = live_model.the_model()
    job = model.job()
    if job is None:
        _way_to(model)
        return None
    return page.result_of(job, "The model is being loaded", model.begin, "Try again", model.begin, is_player=False)


def _way_to(model: live_model.TheModel) -> None:
    """What the page will do, and the button that leads there."""
    page.headline("A real model, step by step")
    try:
        way = model.way()
    except ScenarioError as error:
        page.problem(str(error))
        return
    with st.container(key="live-way"):
        st.text("This page runs SmolLM2-135M-Instruct on this machine; it is fetched once and then needs no network.")
        st.button(way, type="primary", key="live-fetch", on_click=model.begin)


def _told(act: Callable[..., Any], *args: Any) -> None:
    """Do it; what cannot be done is one sentence on the page."""
    st.session_state.pop(PROBLEM, None)
    try:
        act(*args)
    except (SettingsError, ScenarioError, LiveRunError) as error:
        st.session_state[PROBLEM] = ("Not possible", str(error))


def _begin(ready: Ready) -> None:
    asks, settings = live_prompts.asks(), live_controls.settings()
    if (old := st.session_state.get(RUN)) is not None:
        live_runs().end(old)
    serving = ModelServing(ready, settings)
    run = live_runs().begin(live_prompts.title(), serving, asks, _presence())
    st.session_state[RUN], st.session_state[TOLD], st.session_state[HAS_FAILED] = run, 0, False
    st.session_state[NUMBER] = st.session_state.get(NUMBER, 0) + 1
    _leave_replay()


def _leave_replay() -> None:
    """The run itself is on the page again; its player begins anew, so that all of it is sent."""
    st.session_state[REPLAY] = None
    st.session_state[SENT] = deque([0], maxlen=NUM_SENT)


def _add(run: LiveRun, asks: list[Ask]) -> None:
    live_runs().add(run, asks)
    if st.session_state.get(REPLAY) is not None:
        _leave_replay()
    page.close_popover("more")


def _presence() -> Callable[[], bool]:
    """Says whether this session is still there; a short loss of the connection does not count."""
    context = get_script_run_ctx()
    if context is None:
        return lambda: True
    session, seen = context.session_id, [monotonic()]

    def is_there() -> bool:
        if not exists() or get_instance().is_active_session(session):
            seen[0] = monotonic()
        return monotonic() - seen[0] < ABSENCE

    return is_there


def _hear(run: LiveRun) -> None:
    """Take up what the engine has refused, and why it has failed."""
    told = st.session_state[TOLD]
    new = run.refused[told:]
    st.session_state[TOLD] = told + len(new)
    if new:
        rest = len(new) - 1
        more = {0: "", 1: " (One more was not taken either.)"}.get(rest, f" ({rest:,} more were not taken either.)")
        st.session_state[PROBLEM] = ("Not taken", new[0] + more)
    if run.state is LiveState.FAILED and not st.session_state[HAS_FAILED]:
        st.session_state[PROBLEM], st.session_state[HAS_FAILED] = ("The run has ended", run.problem), True


def _beside(run: LiveRun, state: LiveState) -> None:
    """Where the run stands, and the answers; the whole page is drawn anew when that changes what can be done."""
    if run.state is not state or len(run.refused) != st.session_state[TOLD]:
        st.rerun()
    with st.container(key="live-beside", horizontal=True, vertical_alignment="center", wrap=False):
        with st.container(key="live-state"):
            st.text(_place(run, state))
        is_asked = live_answers.box(run, live_runs())
    if is_asked:
        st.session_state[REPLAY] = live_replay.begin(live_runs(), run)
        page.close_popover("answers")
        st.rerun()


def _place(run: LiveRun, state: LiveState) -> str:
    if state is LiveState.WAITING and (before := _before(run)):
        return before
    if what := live_answers.soon(run):
        return what
    return {
        LiveState.IDLE: "All is answered",
        LiveState.ENDED: "This run is over",
        LiveState.FAILED: "This run has failed",
    }.get(state, "The model answers")


def _before(run: LiveRun) -> str:
    """Its place in the queue; empty for a run that is next."""
    before = live_runs().place(run)
    return {0: "", 1: "1 run is before this one"}.get(before, f"{before} runs are before this one")


def _waiting(run: LiveRun) -> str:
    """What the player says before the first token; empty for what it says itself at the start of any run."""
    if run.state not in (LiveState.WAITING, LiveState.RUNNING) or any(answer.num_tokens for answer in run.answers):
        return ""
    before = _before(run)
    return f"**{before}**; it starts by itself." if before else "**The model reads the prompts.**"


def _followed(run: LiveRun) -> None:
    """The player; it gets what is new again and again while the run goes on."""
    sent: deque[int] = st.session_state[SENT]
    end = len(run.arriving)
    data = run.arriving.since(sent[0])[: end - sent[0]]
    missing = follow(data, sent[0], key=f"player-live-{st.session_state[NUMBER]}", waiting=_waiting(run))
    if missing is not None and missing <= end:
        sent.clear()
        sent.append(missing)
        return
    if end > sent[-1]:
        sent.append(end)


main()
