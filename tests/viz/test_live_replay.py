"""A live run beside the simulator: the same trace, step times of a fitted cost model, this machine as a card."""

import pytest
from streamlit.testing.v1 import AppTest

from engine.executor.calibration import THIS_MACHINE, CalibrationError, MeasuredStep
from engine.executor.cost_model import HARDWARE
from engine.request import SamplingParams
from engine.settings import Settings
from tests.viz.live_pages import ROOMY
from tests.viz.parrot import Parrot
from viz.charts import step_times
from viz.charts.theme import LIGHT
from viz.pages.parts.live_model import ModelServing, Ready
from viz.pages.parts.live_replay import differences, fit, sameness
from viz.pages.parts.live_serving import Ask
from viz.player.arriving import ArrivingRun


def served(*prompts: str, settings: Settings = ROOMY) -> tuple[ModelServing, ArrivingRun]:
    parrot = Parrot()
    serving = ModelServing(Ready(parrot, parrot.words), settings)
    arriving = ArrivingRun(serving.header, title="Live")
    for number, prompt in enumerate(prompts):
        serving.submit(f"r{number}", Ask(prompt, SamplingParams(max_tokens=12)))
    while serving.step():
        arriving.add(serving.drain())
    arriving.add(serving.drain())
    return serving, arriving


@pytest.mark.parametrize("manager", ["paged", "radix"])
def test_the_simulator_comes_to_the_same_trace(manager: str) -> None:
    settings = ROOMY.with_(kv_manager=manager, num_blocks=12, block_size=4)
    serving, arriving = served("Why is it?", "Why is that?", "How?", settings=settings)
    trace = arriving.trace()
    assert differences(trace, trace) == []
    assert sameness(trace, serving.record()) == (
        f"Replayed by the simulator: the same trace, column by column ({trace.num_events:,} events)."
    )


def test_a_trace_of_another_run_differs_by_name() -> None:
    serving, _ = served("Why?")
    _, other = served("Why?", "How?")
    assert "blocks" in sameness(other.trace(), serving.record())
    assert "tables differ" in sameness(other.trace(), serving.record())


def test_step_times_are_points_and_a_line_and_errors_are_shares() -> None:
    measured, predicted = [0.1, 0.2, 0.4], [0.1, 0.22, 0.3]
    drawing = step_times.draw(measured, predicted, LIGHT)
    assert drawing.table == {
        "step": [1, 2, 3],
        "measured, ms": [100, 200, 400],
        "predicted, ms": [100, 220, 300],
    }
    assert "200.0 ms in the median, predicted 220.0" in drawing.alt
    errors = step_times.errors(measured, predicted, LIGHT)
    assert errors.table["error, %"] == pytest.approx([0, 10, -25])
    assert "half of the steps lie within 10.0 %" in errors.caption


def test_many_steps_are_drawn_as_medians_and_none_as_a_sentence() -> None:
    drawing = step_times.draw([0.1] * 5_000, [0.2] * 5_000, LIGHT)
    assert len(drawing.table["step"]) == step_times.MAX_POINTS
    assert "5,000 steps are drawn as 800 medians" in drawing.caption
    assert step_times.draw([], [], LIGHT).chart is None


def test_a_cost_model_is_fitted_on_another_run_where_there_is_one() -> None:
    """Every step of the other run took 2 ms and of this one 6 ms; one step alone is no fit."""
    another, own = ([MeasuredStep(8, 0, 36, time)] * 40 for time in (0.002, 0.006))
    model, fitted = fit(another, own)
    assert fitted == "fitted on the 40 steps of another run"
    assert model.step_time(8, 0, 36) == pytest.approx(0.002)
    model, fitted = fit(another[:1], own)
    assert fitted == "fitted on this run itself"
    assert model.step_time(8, 0, 36) == pytest.approx(0.006)
    with pytest.raises(CalibrationError, match="needs"):
        fit((), own[:1])


def dialog() -> None:
    import streamlit as st

    from viz.pages.parts import live_replay

    live_replay.window.__wrapped__(st.session_state["runs"], None)


class Kept:
    def __init__(self, *kept: object) -> None:
        self._kept = kept

    def kept(self, run: object) -> object:
        return self._kept or None

    def measured_elsewhere(self, run: object) -> tuple[MeasuredStep, ...]:
        return ()


def test_the_window_says_how_near_the_cost_model_is_and_makes_this_machine_a_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(HARDWARE, THIS_MACHINE, raising=False)
    serving, arriving = served(*["Why is the sky blue?", "How?"] * 3)
    app = AppTest.from_function(dialog)
    app.session_state["runs"] = Kept(arriving.trace(), serving.record())
    app.run()
    assert not app.exception
    said = "\n".join(text.value for text in app.text)
    assert "the same trace, column by column" in said
    assert "A cost model fitted on this run itself is off by 0.0% in the median one" in said
    app.button(key="live-calibrate").click().run()
    assert HARDWARE[THIS_MACHINE].name == THIS_MACHINE
    assert "choose it as hardware" in "\n".join(text.value for text in app.text)
    HARDWARE.pop(THIS_MACHINE)


def test_a_run_that_goes_on_is_not_replayed() -> None:
    app = AppTest.from_function(dialog)
    app.session_state["runs"] = Kept()
    app.run()
    assert [text.value for text in app.text] == ["The run goes on; look again when all is answered."]
