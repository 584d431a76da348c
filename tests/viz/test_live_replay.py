"""A live run beside the simulator: the same trace, the same run by a fitted cost model, and what is said of both."""

import re

import pytest

from engine.executor.calibration import CalibrationError, MeasuredStep
from engine.request import SamplingParams
from engine.settings import Settings
from tests.viz.live_pages import ROOMY
from tests.viz.parrot import Parrot
from viz.charts import step_times
from viz.charts.theme import LIGHT
from viz.pages.parts.live_model import ModelServing, Ready
from viz.pages.parts.live_replay import Replayed, differences, exactness, fit, replayed, sameness
from viz.pages.parts.live_serving import Ask
from viz.player.arriving import ArrivingRun


def served(
    *prompts: str, settings: Settings = ROOMY, num_tokens: int = 12, num_samples: int = 1, stop_after: int | None = None
) -> tuple[ModelServing, ArrivingRun]:
    """A run to its end; `stop_after` so many steps everybody is stopped."""
    parrot = Parrot()
    serving = ModelServing(Ready(parrot, parrot.words), settings)
    arriving = ArrivingRun(serving.header, title="Live", has_words=True)
    for number, prompt in enumerate(prompts):
        serving.submit(f"r{number}", Ask(prompt, SamplingParams(max_tokens=num_tokens, n=num_samples)))
    steps = 0
    while steps != stop_after and serving.step():
        steps += 1
        arriving.add(serving.drain())
    for number in range(len(prompts)):
        serving.abort(f"r{number}")
    arriving.add(serving.drain())
    return serving, arriving


def beside(*args: str, others: tuple[MeasuredStep, ...] = (), **kwargs: object) -> Replayed:
    serving, arriving = served(*args, **kwargs)  # type: ignore[arg-type]
    return replayed(arriving.trace(), serving.record(), others, "Live")


def others(seconds: float) -> tuple[MeasuredStep, ...]:
    """Steps of other runs that all took the same time."""
    return tuple(MeasuredStep(1 + number, 10, 20, seconds) for number in range(20))


@pytest.mark.parametrize("manager", ["paged", "radix"])
def test_the_simulator_comes_to_the_same_trace(manager: str) -> None:
    settings = ROOMY.with_(kv_manager=manager, num_blocks=12, block_size=4)
    serving, arriving = served("Why is it?", "Why is that?", "How?", settings=settings)
    trace = arriving.trace()
    assert differences(trace, trace) == []
    assert sameness(trace, serving.record()) == (
        f"With the measured times the simulator comes to the same trace, column by column ({trace.num_events:,} events); "
        "only the times of a cost model can move anything."
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


def test_a_step_that_took_no_time_has_no_error() -> None:
    errors = step_times.errors([0.1, 0.0, 0.4], [0.1, 0.1, 0.3], LIGHT)
    assert errors.table["step"] == [1, 3] and errors.table["error, %"] == pytest.approx([0, -25])
    assert "1 step took no time and has no error." in errors.caption
    assert "2 steps took no time" in step_times.errors([0.0, 0.0, 0.4], [0.1, 0.1, 0.3], LIGHT).caption
    assert step_times.errors([0.0], [0.1], LIGHT).chart is None
    assert step_times.draw([0.0], [0.1], LIGHT).table["measured, ms"] == [0]


def test_many_steps_are_drawn_as_medians_and_none_as_a_sentence() -> None:
    drawing = step_times.draw([0.1] * 5_000, [0.2] * 5_000, LIGHT)
    assert len(drawing.table["step"]) == step_times.MAX_POINTS
    assert "5,000 steps are drawn as 800 medians" in drawing.caption
    assert step_times.draw([], [], LIGHT).chart is None


def test_a_cost_model_is_fitted_on_another_run_where_there_is_one() -> None:
    """Every step of the other run took 2 ms and of this one 6 ms; one step alone is no fit."""
    another, own = ([MeasuredStep(8, 0, 36, time)] * 40 for time in (0.002, 0.006))
    model, fitted = fit(another, own)
    assert fitted == "fitted on 40 steps of other runs"
    assert model.step_time(8, 0, 36) == pytest.approx(0.002)
    model, fitted = fit(another[:1], own)
    assert fitted == "fitted on this run itself"
    assert model.step_time(8, 0, 36) == pytest.approx(0.006)
    with pytest.raises(CalibrationError, match="needs"):
        fit((), own[:1])


def test_the_simulator_serves_the_same_requests_at_its_own_times() -> None:
    """12 tokens each, all at once: 12 iterations of 10 ms as measured, and of 20 ms by a cost model from elsewhere."""
    result = beside("Why is it?", "How?", others=others(0.02))
    assert result.simulated is not None and result.problem == ""
    measured, simulated = result.measured.trace, result.simulated.trace
    assert [request["id"] for request in simulated.requests] == ["r0", "r1"]
    assert measured.num_steps == simulated.num_steps == 12
    assert (simulated.times[:, 1] - simulated.times[:, 0]).tolist() == pytest.approx([0.02] * 12)
    assert result.durations == [0.01] * 12 and result.predicted == pytest.approx([0.02] * 12)
    assert simulated.words == measured.words and len(simulated.words) > 24
    said = " ".join(result.sentences)
    assert "the same trace, column by column" in said
    assert "fitted on 20 steps of other runs is off by 100.0% in the median one of these 12 steps" in said
    assert re.search(r"in the simulator after 2\d(\.\d+)? ms\.", said), "and the moment between the two"
    assert "The last step ends at" in said and "Outside of steps pass" in said
    assert "stopped" not in said


def test_by_their_own_cost_model_both_runs_have_the_same_steps() -> None:
    result = beside("Why is it?", "How?")
    assert result.simulated is not None and result.card is not None
    assert "fitted on this run itself is off by 0.0% in the median one" in result.sentences[1]
    assert result.simulated.metrics.requests.num_output_tokens.tolist() == [12, 12]


def test_who_was_stopped_is_stopped_in_the_simulator_too() -> None:
    result = beside("Why?", "How?", num_tokens=25, stop_after=10)
    assert result.simulated is not None
    assert result.sentences[-1].startswith("r0, r1 were stopped: the simulator stops at the same moment")
    assert max(result.simulated.metrics.requests.num_output_tokens) <= 10
    result = beside(*["Why?"] * 4, num_tokens=25, stop_after=10)
    assert result.sentences[-1].startswith("4 requests were stopped")


SMALL = {"num_blocks": 8, "block_size": 4, "prefix_caching": False}


@pytest.mark.parametrize(
    ("prompts", "how", "num_steps"),
    [
        ((), {}, 0),
        (("Why?",), {"num_tokens": 1}, 1),
        (("Why?", "How?"), {"stop_after": 0}, 0),
        (("Why?", "How?"), {"stop_after": 3}, 3),
        (("Why?",), {"num_samples": 8, "settings": ROOMY.with_(max_num_seqs=8)}, 12),
        (("Why is it?", "Why is that?"), {"settings": ROOMY.with_(kv_manager="radix", prefix_caching=False)}, 12),
        (("Why?", "How is it?"), {"settings": ROOMY.with_(**SMALL), "num_tokens": 20}, None),
    ],
    ids=["nobody", "one step", "stopped at once", "stopped", "8 samples", "radix", "preemption"],
)
@pytest.mark.parametrize("elsewhere", [True, False], ids=["fitted elsewhere", "own"])
def test_every_run_is_set_beside_the_simulator_or_told_why_not(
    prompts: tuple[str, ...], how: dict[str, object], num_steps: int | None, elsewhere: bool
) -> None:
    result = beside(*prompts, others=others(0.02) if elsewhere else (), **how)  # type: ignore[arg-type]
    trace = result.measured.trace
    if num_steps is None:
        assert result.measured.figures["preemptions"] > 0
    else:
        assert trace.num_steps == num_steps
    assert "the same trace, column by column" in result.sentences[0]
    if trace.num_steps >= (1 if elsewhere else 8):
        assert result.simulated is not None and result.problem == ""
        assert len(result.simulated.trace.requests) == len(prompts)
    else:
        assert result.simulated is None
        why = f"There are {trace.num_steps} measured steps" if trace.num_steps else "Nothing was computed"
        assert result.problem.startswith(f"There is no simulated run to set beside it. {why}")


def test_how_near_the_cost_model_is_counts_steps_that_took_time() -> None:
    assert exactness([0.1, 0.0, 0.1], [0.11, 0.5, 0.13], "fitted") == (  # 10 % and 30 %
        "A cost model fitted is off by 20.0% in the median one of these 3 steps, and by 270.0% in the sum of all."
    )
    assert "no step of this run took any time" in exactness([0.0], [0.1], "fitted")
    assert "in the one step, and by 10.0%" in exactness([0.1], [0.11], "fitted")


@pytest.mark.parametrize(("predicted", "is_useless"), [(0.124, False), (0.126, True), (0.074, True), (0.076, False)])
def test_a_fit_that_is_off_by_more_than_a_quarter_says_that_the_machine_was_busy(
    predicted: float, is_useless: bool
) -> None:
    said = exactness([0.1] * 3, [predicted] * 3, "fitted")
    assert ("The machine was busy with something else meanwhile, and such steps tell little." in said) is is_useless


def test_steps_are_named_at_whole_numbers_alone() -> None:
    for drawing in (step_times.draw([0.1, 0.2], [0.1, 0.2], LIGHT), step_times.errors([0.1, 0.2], [0.1, 0.2], LIGHT)):
        assert drawing.chart is not None
        axes = [layer["encoding"]["x"]["axis"] for layer in drawing.chart.to_dict()["layer"]]
        assert all(axis["tickMinStep"] == 1 and axis["format"] == ",d" for axis in axes)


def test_steps_whose_products_take_no_time_make_no_card_and_say_so() -> None:
    """The time of every step is that of the KV it reads, 1 ms a token: nothing is left for the products."""
    steps = tuple(MeasuredStep(1, 10 + number, 1, 1e-3 * (10 + number)) for number in range(20))
    result = beside("Why is it?", "How?", others=steps)
    assert result.simulated is not None and result.card is None
    assert result.no_card == "By these steps the matrix products take no time, which no card can do."
