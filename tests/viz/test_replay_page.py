"""The Live page with the run and its simulated twin side by side: how one comes there, what stands there, how one leaves."""

import re
from threading import Event

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.executor.calibration import THIS_MACHINE, Calibration, CalibrationError
from engine.executor.cost_model import HARDWARE
from scenarios.fields import ScenarioError
from tests.viz.app_pages import given, header_of, runs_of, texts
from tests.viz.live_pages import add, opened, run_of, soon
from tests.viz.parrot import Parrot
from viz.pages.parts import live_replay
from viz.pages.parts.jobs import Job, Report
from viz.pages.parts.live_runs import LiveState

OVER = (LiveState.IDLE, LiveState.ENDED)


@pytest.fixture(autouse=True)
def nobody_before() -> None:
    """No other run of this process has measured steps."""
    st.cache_resource.clear()


def asked() -> AppTest:
    app = opened()
    app.button(key="live-start").click().run()
    return app


def beside(app: AppTest) -> AppTest:
    """After the run has come to rest and the button was pressed."""
    soon(lambda: run_of(app).state in OVER)
    app.run()
    app.button(key="live-replay").click().run()
    assert not app.exception
    return app


def labels(app: AppTest) -> list[str]:
    return [header_of(blob)["run_name"] for blob in given(app)[1]]


def is_followed(app: AppTest) -> bool:
    return bool(given(app)[0].get("isFeed"))


def test_the_run_and_its_simulated_twin_stand_side_by_side(parrot: Parrot) -> None:
    app = beside(asked())
    assert labels(app) == ["measured", "simulated"]
    assert given(app)[0]["link"] == ""
    measured, simulated = runs_of(app)
    assert [one["id"] for one in simulated.requests] == [one["id"] for one in measured.requests] == ["A", "B", "C"]
    assert simulated.words == measured.words != []
    said = texts(app)
    assert "simulated against measured: " in said
    assert "the same trace, column by column" in said
    assert said.startswith(live_replay.PANES), "right below the player"
    assert "A cost model fitted on this run itself is off by" in said
    assert len(app.get("vega_lite_chart")) == 2
    assert list(app.dataframe[-1].value.columns) == ["Figure", "measured", "simulated", "simulated, against measured"]
    assert "live-replay" not in [button.key for button in app.button]


def test_one_comes_back_to_the_whole_run(parrot: Parrot) -> None:
    app = beside(asked())
    app.button(key="live-back").click().run()
    assert not app.exception
    assert is_followed(app) and given(app)[0]["first"] == 0
    assert app.button(key="live-replay")


def test_another_request_and_another_run_leave_the_view(parrot: Parrot) -> None:
    app = beside(asked())
    add(app, "And the sea?")
    assert not app.exception and is_followed(app)
    soon(lambda: len(run_of(app).answers) == 4 and run_of(app).state is LiveState.IDLE)
    beside(app)
    assert [len(trace.requests) for trace in runs_of(app)] == [4, 4]
    app.button(key="live-start").click().run()
    assert not app.exception and is_followed(app)
    # the other run has its steps from the one before
    beside(app)
    assert "fitted on " in texts(app) and "steps of other runs" in texts(app)


def test_a_run_that_is_over_is_replayed_with_what_was_stopped(parrot: Parrot) -> None:
    app = opened()
    parrot.gate.clear()
    app.button(key="live-start").click().run()
    parrot.allow(10)
    soon(lambda: any(answer.num_tokens >= 8 for answer in run_of(app).answers))
    app.run()
    app.button(key="live-end").click().run()
    parrot.gate.set()
    beside(app)
    assert labels(app) == ["measured", "simulated"]
    assert "A, B, C were stopped: the simulator stops at the same moment" in texts(app)


def test_without_a_cost_model_the_run_stands_alone_and_it_is_said_why(parrot: Parrot) -> None:
    app = opened()
    parrot.gate.clear()
    app.button(key="live-start").click().run()
    app.button(key="live-end").click().run()
    parrot.gate.set()
    beside(app)
    assert labels(app) == ["measured"]
    assert "There is no simulated run to set beside it." in texts(app)
    assert live_replay.PANES not in texts(app)
    assert "live-calibrate" not in [button.key for button in app.button]


def test_this_machine_becomes_a_card(parrot: Parrot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(HARDWARE, THIS_MACHINE, raising=False)
    app = beside(asked())
    assert THIS_MACHINE not in HARDWARE
    app.button(key="live-calibrate").click().run()
    assert HARDWARE.pop(THIS_MACHINE).name == THIS_MACHINE
    said = texts(app)
    assert re.search(
        "The card “this machine” reads [^ ]+ GB/s and computes [^ ]+ GFLOP/s. The other pages have it under Settings, "
        "Clock: Card “this machine”, Model SmolLM2-135M.",
        said,
    )
    assert said.index("The card “this machine”") < said.index("Points are measured"), "above the charts"


def test_why_there_is_no_card_is_said(parrot: Parrot, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise CalibrationError("By these steps the matrix products take no time, which no card can do.")

    monkeypatch.delitem(HARDWARE, THIS_MACHINE, raising=False)
    monkeypatch.setattr(Calibration, "hardware", refuse)
    app = beside(asked())
    assert "live-calibrate" not in [button.key for button in app.button]
    assert "These steps make no card “this machine”. By these steps the matrix products take no time" in texts(app)


def page_of_job() -> None:
    import streamlit as st

    from viz.pages.parts import live_replay

    live_replay.view(st.session_state["job"], lambda: None)


def test_a_replay_that_was_stopped_or_has_failed_leads_back() -> None:
    def fail(report: Report) -> None:
        raise ScenarioError("It cannot be.")

    gate = Event()
    stopped, failed = Job(lambda report: gate.wait(20)), Job(fail)
    stopped.stop()
    gate.set()
    for job, said in ((stopped, "The replay was stopped."), (failed, "It cannot be.")):
        app = AppTest.from_function(page_of_job)
        app.session_state["job"] = job
        app.run()
        assert not app.exception
        assert said in texts(app) and [button.label for button in app.button] == ["Back to the run"]
