"""Where runs part: by hand for the two lecture examples, and against a count step by step for random runs."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.difference import CLOCKS, Part, first_difference
from engine.trace.owners import owners
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS
from engine.workload import ListWorkload
from tests.engine.trace import synthetic

OUTPUTS = {"A": 3, "B": 8, "C": 5, "D": 4, "G": 5, "E": 3, "F": 2}
KIND_OF = {"admitted": "admitted", "resumed": "admitted", "preempted": "preempted", "finished": "finished"}


def _run(requests: dict[str, tuple[float, int, int]], num_samples: int = 1, **changes: Any) -> Trace:
    """Requests by id: arrival, prompt tokens, output tokens."""
    workload = [
        Request(id_, arrival, Prompt.of_length(prompt, content=i), SamplingParams(num_samples, output))
        for i, (id_, (arrival, prompt, output)) in enumerate(requests.items(), start=1)
    ]
    return simulate(Settings.of({"block_size": 4, "num_blocks": 64, **changes}), ListWorkload(workload))


def _ten_iterations(**changes: Any) -> Trace:
    requests = {id_: (0.0, 4, output) for id_, output in OUTPUTS.items()}
    return _run(requests, **{"max_num_seqs": 3, "step_time": 1.0, **changes})


def _five_requests(**changes: Any) -> Trace:
    arrivals = {"R1": (0.0, 5), "R2": (0.0, 2), "R3": (0.010, 4), "R4": (0.030, 3), "R5": (0.060, 3)}
    return _run({id_: (arrival, 8, output) for id_, (arrival, output) in arrivals.items()}, max_num_seqs=3, **changes)


@pytest.mark.parametrize("clock", CLOCKS)
def test_d_is_admitted_when_a_has_left_and_static_still_waits(clock: str) -> None:
    difference = first_difference([_ten_iterations(policy="static"), _ten_iterations(policy="continuous")], clock)
    assert difference is not None
    assert (difference.step, difference.time) == (3, 3.0)
    assert difference.parts == (Part("admitted", "D", (0, 1)), Part("scheduled", "D", (0, 4)))


def test_a_static_batch_that_waits_for_a_third_differs_at_once() -> None:
    runs = [_five_requests(policy="static", static_start="full"), _five_requests(policy="continuous")]
    by_step, by_time = (first_difference(runs, clock) for clock in CLOCKS)
    assert by_step is not None and by_time is not None
    assert (by_step.step, by_step.parts[0]) == (0, Part("admitted", "R3", (1, 0)))
    assert (by_time.step, by_time.time) == (0, 0.0)
    assert by_time.parts[:2] == (Part("admitted", "R1", (0, 1)), Part("admitted", "R2", (0, 1)))
    static, continuous = by_time.places
    assert (static.step, static.event) == (-1, 0)
    assert (continuous.step, continuous.event) == (0, runs[1].steps["scheduled"][0])


def test_block_ids_never_count() -> None:
    first, second = _ten_iterations(free_list="fifo"), _ten_iterations(free_list="stack")
    tables = [run.cut(step=9, at="scheduled").table(5) for run in (first, second)]
    assert tables[0] != tables[1]
    assert [first_difference([first, second], clock) for clock in CLOCKS] == [None, None]


def test_slower_steps_differ_by_time_only() -> None:
    runs = [_run({"A": (0.0, 4, 3)}, step_time=seconds) for seconds in (1.0, 2.0)]
    assert first_difference(runs, "steps") is None
    by_time = first_difference(runs, "time")
    assert by_time is not None
    assert (by_time.time, by_time.parts) == (1.0, (Part("scheduled", "A", (1, 4)),))


def test_a_run_that_has_ended_stands_behind_its_last_step() -> None:
    runs = [_run({"A": (0.0, 4, output)}, step_time=1.0) for output in (2, 5)]
    by_step, by_time = (first_difference(runs, clock) for clock in CLOCKS)
    assert by_step is not None and by_time is not None
    # the first answer is over in step 1 and the second is not; on the time clock this shows at the end of that step
    assert (by_step.step, by_step.parts) == (1, (Part("finished", "A", (1, 0)),))
    assert [place.event for place in by_step.places] == [run.steps["updated"][1] for run in runs]
    assert (by_time.time, by_time.places[0].step, by_time.places[1].step) == (2.0, 2, 2)
    assert by_time.parts == (Part("finished", "A", (1, 0)), Part("scheduled", "A", (0, 1)))


def test_a_preemption_parts_two_runs() -> None:
    requests = {"A": (0.0, 8, 9), "B": (0.0, 8, 9)}
    difference = first_difference([_run(requests, num_blocks=blocks, step_time=1.0) for blocks in (16, 5)])
    assert difference is not None
    # with five blocks A takes the last one for its ninth token, and B has none for its own
    assert (difference.step, difference.parts[0]) == (1, Part("preempted", "B", (0, 1)))


def test_the_first_of_three_runs_that_differs_decides() -> None:
    continuous, static = _ten_iterations(policy="continuous"), _ten_iterations(policy="static")
    two_places = _ten_iterations(policy="continuous", max_num_seqs=2)
    difference = first_difference([continuous, static, two_places])
    assert difference is not None
    assert (difference.step, difference.parts[0]) == (0, Part("admitted", "C", (1, 1, 0)))
    assert len(difference.places) == 3


def test_requests_are_known_by_id_and_not_by_order() -> None:
    first = _run({"A": (0.0, 4, 3), "B": (0.0, 4, 3)}, step_time=1.0)
    second = _run({"B": (0.0, 4, 3), "A": (0.0, 4, 3)}, step_time=1.0)
    assert first_difference([first, second]) is None
    third = _run({"A": (0.0, 4, 3), "X": (0.0, 4, 3)}, step_time=1.0)
    difference = first_difference([first, third])
    assert difference is not None
    assert [part.request for part in difference.parts if part.kind == "admitted"] == ["B", "X"]


def _timed(run: Trace, times: list[tuple[float, float]]) -> Trace:
    return replace(run, times=np.array(times, np.float64))


def test_nothing_is_scheduled_in_a_gap_between_two_steps() -> None:
    run = _run({"A": (0.0, 4, 4)}, step_time=1.0)
    paused = _timed(run, [(0, 1), (1, 2), (2.5, 3), (3, 4)])
    difference = first_difference([run, paused], "time")
    assert difference is not None
    assert (difference.time, difference.parts) == (2.0, (Part("scheduled", "A", (1, 0)),))
    assert [(place.step, place.event) for place in difference.places] == [
        (2, run.steps["scheduled"][2]),
        (1, run.steps["updated"][1]),
    ]


def test_of_two_steps_at_once_the_later_one_counts() -> None:
    run = _run({"A": (0.0, 4, 4)}, step_time=1.0)
    overlapped = _timed(run, [(0, 1.5), (1, 2.5), (2, 3.5), (3, 4.5)])
    difference = first_difference([run, overlapped], "time")
    assert difference is not None
    assert (difference.time, difference.parts[-1]) == (4.0, Part("scheduled", "A", (0, 1)))


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_run_is_like_itself(clock: str) -> None:
    assert first_difference([synthetic.small(), synthetic.small()], clock) is None
    assert first_difference([synthetic.small(), synthetic.small(seed=2)], clock) is not None


def test_an_unknown_clock_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no clock 'hours'; choose steps or time"):
        first_difference([synthetic.small()], "hours")


# against a count step by step


SETTINGS = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(["static", "continuous", "chunked"]),
        "max_num_seqs": st.integers(2, 4),
        "num_blocks": st.integers(12, 24),
        "max_num_batched_tokens": st.sampled_from([12, 20]),
        "over_budget": st.just("wait"),
        "hardware": st.sampled_from(["A100-40GB", "H100-80GB"]),
        "step_time": st.sampled_from([None, 1.0]),
    }
)
REQUESTS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.01, 0.5, 3.0]), st.integers(1, 11), st.integers(1, 12)), min_size=1, max_size=6
)


@settings(max_examples=60)
@given(requests=REQUESTS, num_samples=st.integers(1, 2), changes=st.lists(SETTINGS, min_size=2, max_size=3))
def test_random_runs_part_where_a_count_step_by_step_says(
    requests: list[tuple[float, int, int]], num_samples: int, changes: list[dict[str, Any]]
) -> None:
    named = {f"R{i}": request for i, request in enumerate(requests)}
    runs = [_run(named, num_samples, **each) for each in changes]
    for clock in CLOCKS:
        found = first_difference(runs, clock)
        expected = _by_counting(runs, clock)
        assert (found and (found.step if clock == "steps" else found.time)) == (expected and expected[0])
        if found and expected:
            assert {(p.kind, p.request): p.amounts for p in found.parts} == expected[1]


def _by_counting(runs: list[Trace], clock: str) -> tuple[float, dict[tuple[str, str], tuple[int, ...]]] | None:
    states = [[_state(run, step) for step in range(run.num_steps)] for run in runs]
    if clock == "steps":
        moments: list[float] = list(range(max(run.num_steps for run in runs) + 1))
    else:
        moments = sorted({float(time) for run in runs for time in run.times.ravel()})
    for moment in moments:
        seen = [
            _at_step(own, int(moment)) if clock == "steps" else _at_time(run, own, moment)
            for run, own in zip(runs, states, strict=True)
        ]
        things = {thing for each in seen for thing in each}
        amounts = {thing: tuple(each[thing] for each in seen) for thing in things}
        differing = {thing: values for thing, values in amounts.items() if len(set(values)) > 1}
        if differing:
            return moment, differing
    return None


def _state(run: Trace, step: int) -> tuple[Counter, Counter, Counter]:
    """Scheduled tokens, what happens when the step begins, and what happens when it ends."""
    cut = int(run.steps["scheduled"][step])
    after, before = (run.cut(event=event).tracks["sequences"]["num_computed_tokens"] for event in (cut, cut - 1))
    scheduled: Counter = Counter()
    for sequence in np.flatnonzero(after > before):
        id_ = run.requests[owners(run)[sequence]]["id"]
        scheduled["scheduled", id_] += int(after[sequence] - before[sequence])
    happened = Counter(), Counter()
    for event, kind, request in zip(*(run.happenings[name] for name in ("event", "kind", "request")), strict=True):
        if run.step_of(int(event)) == step and HAPPENINGS[kind] in KIND_OF:
            happened[int(event > cut)][KIND_OF[HAPPENINGS[kind]], run.requests[request]["id"]] += 1
    return scheduled, *happened


def _at_step(states: list[tuple[Counter, Counter, Counter]], step: int) -> Counter:
    return sum(states[step], Counter()) if step < len(states) else Counter()


def _at_time(run: Trace, states: list[tuple[Counter, Counter, Counter]], time: float) -> Counter:
    seen: Counter = Counter()
    for (start, end), (scheduled, at_start, at_end) in zip(run.times.tolist(), states, strict=True):
        seen += scheduled if start <= time < end else Counter()
        seen += at_start if start == time else Counter()
        seen += at_end if end == time else Counter()
    return seen
