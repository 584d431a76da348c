"""The live engine against itself: what it did is what its trace says, and a replay of its script says the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch import Batch, StepOutput
from engine.executor.cost_model import CostModel
from engine.live import LiveEngine
from engine.prediction import predict
from engine.request import FinishReason, SamplingParams, SequenceStatus
from engine.script import replay
from engine.settings import Settings, SettingsError
from engine.trace.endings import finish_reasons
from engine.trace.trace import Trace
from tests.engine.live_runs import STOP, live_run, live_settings
from tests.engine.live_state import StateRecorder, assert_equal

SEEDS = st.integers(0, 2**32)


def assert_same(first: Trace, second: Trace) -> None:
    """Both traces, column by column."""
    assert first.header == second.header
    assert first.requests == second.requests
    assert first.num_events == second.num_events
    assert first.tracks.keys() == second.tracks.keys()
    for name, track in first.tracks.items():
        for column, values in track.columns.items():
            assert np.array_equal(values, second.tracks[name].columns[column]), (name, column)
    for table in ("steps", "happenings", "decisions"):
        for column, values in getattr(first, table).items():
            assert np.array_equal(values, getattr(second, table)[column]), (table, column)
    assert np.array_equal(first.times, second.times)
    assert np.array_equal(first.tokens, second.tokens)
    assert first.run_id == second.run_id


@given(live_settings(), SEEDS)
@settings(max_examples=200)
def test_a_live_run_given_back_as_a_script_yields_the_same_trace(chosen: Settings, seed: int) -> None:
    live = live_run(chosen, seed)
    assert_same(replay(live.script()), live.trace())


@given(live_settings(), SEEDS)
@settings(max_examples=100)
def test_every_frame_of_a_live_run_is_the_state_of_the_engine(chosen: Settings, seed: int) -> None:
    live = live_run(chosen, seed, StateRecorder)
    trace = live.trace()
    for event, state in live._recorder.states.items():
        assert_equal(trace.cut(event=event), state)


@given(live_settings(), SEEDS)
@settings(max_examples=100)
def test_answers_end_where_they_say(chosen: Settings, seed: int) -> None:
    live = live_run(chosen, seed)
    for seq in _sequences(live):
        tokens, sampling = seq.output_token_ids, seq.group.request.sampling
        assert len(tokens) == seq.num_output_tokens
        is_stop = bool(sampling.stop_token_ids) and tokens[-1:] == [STOP]
        assert is_stop == (seq.finish_reason is FinishReason.STOP)
        assert not sampling.stop_token_ids or STOP not in tokens[:-1]
        assert len(tokens) <= seq.group.max_tokens
    assert live.engine.kv.num_used == 0


def _sequences(live: LiveEngine):
    return [
        seq for group in live.engine.groups for seq in group.sequences if group.status is not SequenceStatus.REJECTED
    ]


@given(live_settings(), SEEDS)
@settings(max_examples=100)
def test_a_simulator_gives_the_answers_of_a_live_run_at_its_own_times(chosen: Settings, seed: int) -> None:
    """With memory for all, whatever the steps take, every answer that ended by itself has its length and its reason."""
    live = live_run(chosen, seed)
    roomy = chosen.with_(num_blocks=10_000, max_num_batched_tokens=None, step_time=0.01)
    trace = predict(replace(live.script(), settings=roomy), CostModel.of(roomy))
    lengths, reasons = trace.cut(event=trace.num_events).tracks["sequences"]["num_tokens"], finish_reasons(trace)
    for group in live.engine.groups:
        was_whole = [
            seq.finish_reason is FinishReason.STOP or len(seq.output_token_ids) == group.max_tokens > 0
            for seq in group.sequences
        ]
        for seq in group.sequences if all(was_whole) else ():
            assert lengths[seq.index] == group.prompt_len + len(seq.output_token_ids)
            assert (reasons[seq.index] == "stop") == (seq.finish_reason is FinishReason.STOP)


@given(live_settings(), SEEDS)
@settings(max_examples=50)
def test_chunks_that_are_drained_while_it_runs_are_the_trace(chosen: Settings, seed: int) -> None:
    live = live_run(chosen, seed, drains=True)
    trace = live.trace()
    assert replay(live.script()).run_id == trace.run_id


def test_the_clock_is_stamped_once_a_step_and_never_runs_back() -> None:
    """Steps of 1 s by their executor; the wall clock says 0.25 s more at every look."""
    times = iter(number / 4 for number in range(1_000))
    live = LiveEngine(Settings(block_size=4, num_blocks=8), OneSecond(), clock=lambda: next(times))
    live.submit([1, 2, 3], SamplingParams(max_tokens=3))
    while live.step() is not None:
        pass
    trace = live.trace()
    assert trace.requests[0]["arrival_s"] == 0.25
    assert trace.times.tolist() == [[0.5, 1.5], [1.5, 2.5], [2.5, 3.5]]


def test_a_request_keeps_the_time_at_which_it_was_asked() -> None:
    live = LiveEngine(Settings(block_size=4, num_blocks=8), OneSecond(), clock=iter([0.0, 5.0, 6.0]).__next__)
    asked = live.submit([1], SamplingParams(max_tokens=1), arrived=2.0)
    later = live.submit([1], SamplingParams(max_tokens=1), arrived=9.0)
    assert (asked.request.arrival_time, later.request.arrival_time) == (2.0, 6.0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"keep_unwritten": True}, "keep_unwritten is true, which keeps blocks known that no model has written"),
        ({"kv_manager": "oracle"}, "kv_manager is 'oracle', which knows how long an answer gets"),
        ({"max_steps": 2}, "max_steps is 2, which means something in simulated runs only; leave it out of a live one."),
        ({"step_time": 1.0}, "step_time is 1.0, which means"),
        ({"hardware": "H100-80GB"}, "hardware is 'H100-80GB', which means"),
        ({"num_blocks": 8, "num_host_blocks": 4}, "num_host_blocks is 4, which means"),
    ],
)
def test_what_no_live_run_can_have_is_refused_in_a_sentence(values: dict, words: str) -> None:
    with pytest.raises(SettingsError) as problem:
        LiveEngine(Settings.of(values), OneSecond())
    assert words in str(problem.value)


def test_a_script_may_keep_what_no_model_has_written() -> None:
    """The settings of a live run with those of vLLM V1: its script runs, because its tokens are known."""
    live = LiveEngine(Settings(block_size=4, num_blocks=8, prefix_caching=True), OneSecond())
    live.submit([1, 2, 3, 4, 5], SamplingParams(max_tokens=3))
    while live.step() is not None:
        pass
    again = replace(live.script(), settings=live.settings.with_(keep_unwritten=True))
    assert replay(again).num_steps == live.trace().num_steps == 3


def test_an_engine_whose_model_failed_has_no_more_work() -> None:
    live = LiveEngine(Settings(block_size=4, num_blocks=8), OneSecond())
    live.submit([1], SamplingParams(max_tokens=4))
    live.step()
    live._measured._executor = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        live.step()
    assert not live.has_work
    assert live.step() is None
    assert live.trace().num_steps == 1


class OneSecond:
    """Every step takes a second; every token is 7."""

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(1.0, [[7] * row.num_samples for row in batch.rows])
