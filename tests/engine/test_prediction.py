"""A live run at other step times: the same answers, requests that come and go at the same moments, and an end for everybody."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch import Batch, StepOutput
from engine.live import LiveEngine
from engine.prediction import predict
from engine.request import SamplingParams
from engine.settings import Settings
from engine.trace.chunk import Word
from engine.trace.endings import finish_reasons
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from tests.engine.live_runs import live_run, live_settings

SETTINGS = Settings(policy="chunked", block_size=4, num_blocks=40, max_num_seqs=4)


class Every:
    """Steps that all take the same time, with tokens 7, 8, 9, ... for everybody; a cost model as well."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def step_time(self, num_tokens: int, num_kv_read: int, num_attention_pairs: int) -> float:
        return self.seconds

    def execute(self, batch: Batch) -> StepOutput:
        rows = [[7 + len(row.sequence.output_token_ids)] * row.num_samples for row in batch.rows]
        return StepOutput(self.seconds, rows)


class Clock:
    """Stands where the engine stands, or later where somebody waits."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def engine(clock: Clock, seconds: float = 1.0) -> LiveEngine:
    return LiveEngine(SETTINGS, Every(seconds), clock=clock)


def step(live: LiveEngine, clock: Clock, times: int) -> None:
    for _ in range(times):
        live.step()
        clock.time = max(clock.time, live.engine.clock)


def ends(trace: Trace) -> list[float]:
    return measure(trace).requests.finish.tolist()


def test_the_same_step_times_are_the_same_run() -> None:
    clock = Clock()
    live = engine(clock)
    for length in (3, 9, 5):
        live.submit(range(length), SamplingParams(max_tokens=4))
    step(live, clock, 6)
    live.submit([1, 2], SamplingParams(max_tokens=3))
    step(live, clock, 5)
    assert predict(live.script(), Every(1.0)).run_id == live.trace().run_id


def test_steps_that_take_half_the_time_end_in_half_the_time() -> None:
    clock = Clock()
    live = engine(clock)
    live.submit([1, 2, 3], SamplingParams(max_tokens=6))
    step(live, clock, 6)
    assert ends(live.trace()) == [6.0]
    assert ends(predict(live.script(), Every(0.5))) == [3.0]


def test_requests_come_at_their_moment_and_those_of_one_moment_share_a_step() -> None:
    """A takes two steps of 1 s; B and C are taken in 3 s later, 0.1 s apart, and serve together from 5.1 s on."""
    clock = Clock()
    live = engine(clock)
    live.submit([1], SamplingParams(max_tokens=2), request_id="A")
    step(live, clock, 2)
    for clock.time, name in ((5.0, "B"), (5.1, "C")):
        live.submit([1], SamplingParams(max_tokens=2), request_id=name)
    step(live, clock, 2)
    trace = predict(live.script(), Every(0.25))
    assert trace.times[:, 0].tolist() == pytest.approx([0.0, 0.25, 5.1, 5.35])
    assert ends(trace) == pytest.approx([0.5, 5.6, 5.6])
    assert [request["arrival_s"] for request in trace.requests] == [0.0, 5.0, 5.1]


@pytest.mark.parametrize(("seconds", "num_tokens", "end"), [(2.0, 2, 4.0), (1.0, 4, 4.0), (0.5, 4, 2.0)])
def test_a_stopped_request_stops_at_its_moment_or_where_its_tokens_end(
    seconds: float, num_tokens: int, end: float
) -> None:
    """Stopped after 4 steps of 1 s: slow steps have said less by then, fast ones have nothing more to say."""
    clock = Clock()
    live = engine(clock)
    live.submit([1, 2, 3], SamplingParams(max_tokens=20))
    step(live, clock, 4)
    live.abort("r0")
    trace = predict(live.script(), Every(seconds))
    figures = measure(trace).requests
    assert finish_reasons(trace) == ["abort"]
    assert figures.num_output_tokens.tolist() == [num_tokens]
    assert trace.times[-1, 1] == end


def test_a_stop_holds_although_the_next_request_comes_much_later() -> None:
    """A is stopped at 4 s and B comes at 60 s; at steps of 3 s A is stopped after the second one."""
    clock = Clock()
    live = engine(clock)
    live.submit([1, 2, 3], SamplingParams(max_tokens=20), request_id="A")
    step(live, clock, 4)
    live.abort("A")
    clock.time = 60.0
    live.submit([1], SamplingParams(max_tokens=1), request_id="B")
    step(live, clock, 1)
    trace = predict(live.script(), Every(3.0))
    assert trace.times[:, 0].tolist() == [0.0, 3.0, 60.0]
    assert finish_reasons(trace) == ["abort", "length"]


def test_what_was_stopped_before_its_first_token_ends_with_it_at_the_latest() -> None:
    clock = Clock()
    live = LiveEngine(SETTINGS.with_(max_num_batched_tokens=4), Every(1.0), clock=clock)
    live.submit(range(9), SamplingParams(max_tokens=20, stop_token_ids=(0, 1)))
    step(live, clock, 2)
    live.abort("r0")
    assert measure(live.trace()).requests.num_output_tokens.tolist() == [0]
    trace = predict(live.script(), Every(0.1))
    assert measure(trace).requests.num_output_tokens.tolist() == [1]
    assert finish_reasons(trace) == ["abort"]


def test_a_stop_that_came_too_late_stops_nobody() -> None:
    """B has ended when it is stopped; at slower steps it would be going on, and must."""
    clock = Clock()
    live = engine(clock)
    live.submit([1], SamplingParams(max_tokens=3), request_id="B")
    step(live, clock, 3)
    assert not live.abort("B")
    assert finish_reasons(predict(live.script(), Every(9.0))) == ["length"]


def test_words_stay_with_the_tokens_that_come_out() -> None:
    clock = Clock()
    live = engine(clock)
    live.submit([1, 2], SamplingParams(max_tokens=20))
    step(live, clock, 4)
    live.abort("r0")
    words = [Word(0, position, f"w{position}") for position in range(6)]
    assert predict(live.script(), Every(2.0), words).words == words[:4]
    assert predict(live.script(), Every(1.0), words).words == words


@given(live_settings(), st.integers(0, 2**32), st.sampled_from([0.0, 0.001, 0.03, 1.0]))
@settings(max_examples=100)
def test_every_run_comes_to_an_end_with_no_token_too_many(chosen: Settings, seed: int, seconds: float) -> None:
    live = live_run(chosen, seed)
    trace = predict(live.script(), Every(seconds))
    assert [request["id"] for request in trace.requests] == [group.request.request_id for group in live.engine.groups]
    counts = measure(trace).requests.num_output_tokens
    for group, count in zip(live.engine.groups, counts, strict=True):
        assert count <= sum(max(1, len(seq.output_token_ids)) for seq in group.sequences)
