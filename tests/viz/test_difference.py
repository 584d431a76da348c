"""The first difference in words, and how it travels to the player in the header of a run."""

from engine.trace import codec
from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run, run_all
from viz.player.difference import pane_differences
from viz.player.wire import in_comparison, wire

SCENARIOS = catalogue.load()


def test_the_sentence_says_who_does_what_and_why_the_other_does_not() -> None:
    runs = run_all(SCENARIOS["ten-iterations"])
    first, second = pane_differences(list(runs.values()), list(runs))
    assert first["steps"] == {
        "step": 3,
        "event": runs["static"].steps["scheduled"][3],
        "time": 3.0,
        "text": "continuous admits D in A's place; static waits for the end of its batch",
        "requests": [3],
    }
    assert second["time"]["event"] == runs["continuous"].steps["scheduled"][3]
    assert first["time"]["text"] == second["steps"]["text"] == first["steps"]["text"]


def test_a_run_that_waits_for_a_full_batch_says_so() -> None:
    runs = run_all(SCENARIOS["step-by-step"])
    continuous, static = pane_differences(list(runs.values()), list(runs))
    assert continuous["time"]["text"] == "continuous admits R1 and R2; static waits for a full batch"
    assert (static["time"]["step"], static["time"]["time"]) == (-1, 0.0)
    assert static["steps"]["text"] == "static admits R3; in continuous the arrival is still to come"
    assert static["steps"]["step"] == 0


def test_each_run_is_held_against_the_first_and_the_first_tells_of_the_earliest() -> None:
    runs = run_all(SCENARIOS["three-wastes"])
    names = ["max", "pow2", "paged"]
    panes = pane_differences([runs[name] for name in names], names)
    assert [pane["steps"]["step"] for pane in panes] == [0, 9, 0]
    assert panes[0]["steps"]["text"] == panes[2]["steps"]["text"] == "paged admits C and D; max has no room in memory"


def test_runs_that_never_part_have_no_difference() -> None:
    trace = run(SCENARIOS["ten-iterations"], "static")
    assert pane_differences([trace, trace], ["a", "b"]) == [{"steps": None, "time": None}] * 2


def test_the_header_of_a_pane_carries_name_clock_and_difference_and_the_run_stays_whole() -> None:
    trace = run(SCENARIOS["ten-iterations"], "static")
    blob = wire(trace, title="Ten", run_name="static")
    pane = in_comparison(blob, run_name="static, <b>", clock="time", difference={"steps": None, "time": None})
    before, after = (next(codec.unpack(each))[0]["player"] for each in (blob, pane))
    assert after == {
        **before,
        "run_name": "static, <b>",
        "clock": "time",
        "difference": {"steps": None, "time": None},
    }
    assert Trace.load(pane).run_id == trace.run_id
