"""The queue in front of the live engine: first come, first served, one sentence for what cannot be done."""

import os
import sys
from collections.abc import Callable
from threading import Event, Semaphore, get_native_id

import numpy as np
import pytest

from engine.executor.calibration import MeasuredStep
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams
from engine.script import Script
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from tests.viz.live_pages import soon
from viz.pages.parts import download, live_answers
from viz.pages.parts.live_runs import MAX_REQUESTS, LiveRun, LiveRunError, LiveRuns, LiveState
from viz.pages.parts.live_serving import Answer, Ask, Record
from viz.player.arriving import ArrivingRun
from viz.player.sentences import Sentences

SETTINGS = Settings(num_blocks=32, block_size=4, max_num_seqs=4, policy="continuous")


class Simulated:
    """The engine without a model: prompts are as long as their text, answers are counts. `gate` holds it up."""

    def __init__(self, gate: Event | None = None) -> None:
        self.header = trace_header(SETTINGS, "test")
        self.remark = "no model"
        self.engine = Engine(SETTINGS, Recorder(self.header))
        self.gate = gate or Event()
        if gate is None:
            self.gate.set()
        self.asked: list[str] = []

    def submit(self, request_id: str, ask: Ask) -> None:
        self.asked.append(request_id)
        self.engine.submit(Request(request_id, self.engine.clock, Prompt.of_length(len(ask.prompt)), ask.sampling))

    def abort(self, request_id: str) -> None:
        self.asked.append(f"stop {request_id}")

    def step(self) -> bool:
        self.gate.wait(10)
        return self.engine.step() is not None

    def drain(self):
        return self.engine.recorder.drain()

    def record(self) -> Record:
        steps = tuple(MeasuredStep(1, 0, 1, 0.1) for name in self.asked)
        return Record(Script("test", SETTINGS, (), {}, ()), steps)

    def answers(self) -> list[Answer]:
        return [Answer(g.request.request_id, "", ("",), 0, g.status.name, None, None) for g in self.engine.groups]


def ask(length: int = 6, tokens: int = 5) -> Ask:
    return Ask("x" * length, SamplingParams(max_tokens=tokens))


def begin(runs: LiveRuns, serving: Simulated, *asks: Ask, is_wanted: Callable[[], bool] = lambda: True) -> LiveRun:
    return runs.begin("Test", serving, list(asks), is_wanted)


def test_a_run_serves_its_requests_and_waits_for_more() -> None:
    runs = LiveRuns()
    run = begin(runs, Simulated(), ask(), ask())
    soon(lambda: run.state is LiveState.IDLE)
    assert [answer.status for answer in run.answers] == ["FINISHED", "FINISHED"]
    assert runs.add(run, [ask()]) == ["C"]
    soon(lambda: run.state is LiveState.IDLE and len(run.answers) == 3)
    runs.end(run)
    soon(lambda: run.state is LiveState.ENDED)
    assert run.trace is not None and len(run.trace.requests) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="a thread has a priority of its own on Linux only")
def test_the_engine_leaves_the_processor_to_the_pages_first() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, get_native_id())

    class Asked(Simulated):
        def step(self) -> bool:
            self.niceness = niceness()
            return super().step()

    serving = Asked()
    run = begin(LiveRuns(), serving, ask())
    soon(lambda: run.state is LiveState.IDLE)
    assert serving.niceness == min(19, niceness() + 5)


def test_the_second_run_waits_behind_the_first_one() -> None:
    runs, gate = LiveRuns(), Event()
    first = begin(runs, Simulated(gate), ask())
    second, third = begin(runs, Simulated(), ask()), begin(runs, Simulated(), ask())
    soon(lambda: first.state is LiveState.RUNNING)
    assert [runs.place(run) for run in (first, second, third)] == [0, 1, 2]
    assert second.state is LiveState.WAITING
    gate.set()
    soon(lambda: third.state is LiveState.IDLE)
    assert second.state is LiveState.IDLE


def test_a_closed_session_leaves_the_engine_to_the_next_one() -> None:
    runs = LiveRuns()
    gone = begin(runs, Simulated(), ask(tokens=100_000), is_wanted=lambda: False)
    after = begin(runs, Simulated(), ask())
    soon(lambda: after.state is LiveState.IDLE)
    assert gone.state is LiveState.ENDED


def test_a_stop_reaches_the_engine_between_two_steps() -> None:
    runs, gate = LiveRuns(), Event()
    serving = Simulated(gate)
    run = begin(runs, serving, ask(), ask())
    runs.stop(run, "A")
    gate.set()
    soon(lambda: run.state is LiveState.IDLE)
    assert serving.asked == ["A", "B", "stop A"]


def test_a_request_that_cannot_be_taken_is_told_and_the_others_go_on() -> None:
    class Picky(Simulated):
        def submit(self, request_id: str, ask: Ask) -> None:
            if not ask.prompt:
                from engine.settings import SettingsError

                raise SettingsError("The prompt is empty; write at least one word.")
            super().submit(request_id, ask)

    runs = LiveRuns()
    run = begin(runs, Picky(), ask(), Ask("", SamplingParams()), ask())
    soon(lambda: run.state is LiveState.IDLE)
    assert run.refused == ["B: The prompt is empty; write at least one word."]
    assert [answer.request_id for answer in run.answers] == ["A", "C"]


def test_what_steps_took_is_kept_for_the_next_runs() -> None:
    runs = LiveRuns()
    first = begin(runs, Simulated(), ask())
    soon(lambda: first.state is LiveState.IDLE)
    assert runs.measured_elsewhere(first) == ()
    second = begin(runs, Simulated(), ask(), ask())
    soon(lambda: second.state is LiveState.IDLE)
    assert [len(runs.measured_elsewhere(run)) for run in (first, second)] == [2, 1]
    third = begin(runs, Simulated(), ask())
    soon(lambda: third.state is LiveState.IDLE)
    assert [len(runs.measured_elsewhere(run)) for run in (first, second, third)] == [3, 2, 3]


def test_a_fault_ends_the_run_and_no_other_one() -> None:
    class Broken(Simulated):
        def step(self) -> bool:
            raise MemoryError

    runs = LiveRuns()
    broken, whole = begin(runs, Broken(), ask()), begin(runs, Simulated(), ask())
    soon(lambda: whole.state is LiveState.IDLE)
    assert broken.state is LiveState.FAILED and "memory" in broken.problem
    with pytest.raises(LiveRunError, match="over"):
        runs.add(broken, [ask()])


def test_too_many_requests_are_refused_in_a_sentence() -> None:
    runs = LiveRuns()
    run = begin(runs, Simulated(), ask())
    with pytest.raises(LiveRunError, match=f"takes {MAX_REQUESTS:,} requests, and this would make 501"):
        runs.add(run, [ask()] * MAX_REQUESTS)


def test_pieces_tell_the_same_as_the_whole_run() -> None:
    requests = [Request(str(i), i * 0.01, Prompt.of_length(3 + i), SamplingParams(2, 9)) for i in range(6)]
    header = trace_header(Settings(num_blocks=12, block_size=4), "pieces")
    recorder = Recorder(header)
    Engine(Settings(num_blocks=12, block_size=4), recorder).run(ListWorkload(requests))
    trace = recorder.trace()
    arriving = ArrivingRun(header, title="pieces")
    for chunk in trace.chunks(range(1, trace.num_events)):
        arriving.add(chunk)
    whole = arriving.end()
    loaded = Trace.load(arriving.since(0))
    assert whole.run_id == trace.run_id == loaded.run_id
    assert np.array_equal(Sentences.of(whole).lists, Sentences.of(trace).lists)
    assert len(Sentences.of(trace).lists), "some sentence names a list"


def test_what_is_asked_while_a_step_runs_is_known_at_once_and_told_before_the_next_one() -> None:
    class Stepwise(Simulated):
        """Every step waits for one of its own."""

        allowed = Semaphore(0)

        def step(self) -> bool:
            assert self.allowed.acquire(timeout=10)
            return self.engine.step() is not None

    runs, serving = LiveRuns(), Stepwise()
    run = begin(runs, serving, ask())
    soon(lambda: run.state is LiveState.RUNNING and len(run.answers) == 1)
    assert live_answers.soon(run) == "", "the first one is not waited for"
    runs.add(run, [ask()])
    assert live_answers.soon(run) == "B is taken in after this step"
    runs.add(run, [ask()])
    assert live_answers.soon(run) == "B, C are taken in after this step"
    assert [answer.request_id for answer in run.answers] == ["A"]
    serving.allowed.release()
    # the second step has not been allowed, and they are there
    soon(lambda: [answer.request_id for answer in run.answers] == ["A", "B", "C"])
    assert live_answers.soon(run) == ""
    runs.stop(run, "A")
    assert live_answers.soon(run) == "A stops after this step" and run.coming == {"A": None}
    serving.allowed.release()
    soon(lambda: run.coming == {})
    runs.end(run)
    assert live_answers.soon(run) == "The run ends after this step"
    serving.allowed.release()
    soon(lambda: run.state is LiveState.ENDED)
    assert live_answers.soon(run) == ""


def test_the_title_of_a_run_and_what_it_ran_on_are_saved_with_it() -> None:
    class Named(Simulated):
        def __init__(self) -> None:
            super().__init__()
            self.remark = "SmolLM2\n<b>" + "x" * 300

    runs = LiveRuns()
    run = begin(runs, Named(), ask())
    soon(lambda: run.state is LiveState.IDLE)
    trace = run.arriving.trace()
    saved = Trace.load(download.saved_run(trace))
    assert saved.header["title"] == "Test" and saved.header["remark"] == "SmolLM2 <b>" + "x" * 189
    # what it is called is no part of what it is
    header = {name: value for name, value in trace.header.items() if name not in ("title", "remark")}
    assert saved.run_id == trace.run_id == Trace.of(header, trace.chunks()).run_id
