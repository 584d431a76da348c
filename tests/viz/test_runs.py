"""Runs for the pages: what they tell while they are computed, and where they can be stopped."""

from collections.abc import Iterator

import pytest

from engine.executor.calibration import THIS_MACHINE
from engine.executor.cost_model import HARDWARE, Hardware
from scenarios import catalogue
from scenarios.fields import ScenarioError
from scenarios.run import run
from scenarios.scenario import Scenario
from viz.export import run_bytes, run_parts
from viz.pages.parts import runs
from viz.pages.parts.jobs import Stopped

SCENARIOS = catalogue.load()
OPS = [name for name, scenario in SCENARIOS.items() if scenario.ops is not None]


def _silent(fraction: float, note: str) -> None:
    pass


def test_the_pieces_for_the_player_are_its_bytes() -> None:
    scenario = SCENARIOS["four-samples"]
    trace = run(scenario)
    assert len(list(run_parts(scenario, "shared", trace))) > 3
    assert runs._compute(scenario, "shared", _silent).blob == run_bytes(scenario, "shared", trace)


def test_stop_takes_effect_between_two_pieces() -> None:
    made: list[bytes] = []

    def pieces() -> Iterator[bytes]:
        for piece in (b"a", b"b", b"c", b"d"):
            made.append(piece)
            yield piece

    def report(fraction: float, note: str) -> None:
        if len(made) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        runs._finished(run(SCENARIOS["four-samples"]), pieces(), report)
    assert made == [b"a", b"b"]


@pytest.mark.parametrize("name", OPS)
def test_a_story_of_operations_counts_operations(name: str) -> None:
    scenario = SCENARIOS[name]
    assert scenario.ops is not None
    number = len(scenario.ops)
    notes: list[str] = []
    runs._compute(scenario, scenario.runs[0].name, lambda fraction, note: notes.append(note))
    counted = [note for note in notes if " of " in note]
    assert [note.split(",")[0] for note in counted] == [f"{i} of {number} operations" for i in range(number)]


def measured_card(bandwidth: float) -> Hardware:
    """It reads the 269 MB of the small model in 269e6 / bandwidth seconds."""
    return Hardware(THIS_MACHINE, 8e9, bandwidth, 1e15, compute_efficiency=1.0)


def on_this_machine() -> Scenario:
    changes = {"hardware": THIS_MACHINE, "model": "SmolLM2-135M", "step_time": None}
    return runs.of_one(SCENARIOS["ten-iterations"], "static", changes)


def test_a_run_on_this_machine_is_computed_anew_when_it_was_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """One job for everybody as long as the card is the same; a step that reads all weights takes 26.9 or 269 ms, and
    1.5 ms more."""
    took = []
    for bandwidth in (10e9, 10e9, 1e9):
        monkeypatch.setitem(HARDWARE, THIS_MACHINE, measured_card(bandwidth))
        job = runs.job(on_this_machine(), "static")
        assert job.wait(20) and job.result is not None
        took.append((job.result, job.result.trace.times[0, 1]))
    assert [time for _, time in took] == pytest.approx([0.0284, 0.0284, 0.2705], rel=0.01)
    assert took[0][0] is took[1][0] is not took[2][0]


def test_a_card_that_changes_while_a_run_is_computed_ends_it_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another session measures anew when the run is half done: what came out belongs to neither card."""
    first = measured_card(10e9)
    monkeypatch.setitem(HARDWARE, THIS_MACHINE, first)

    def report(fraction: float, note: str) -> None:
        HARDWARE[THIS_MACHINE] = measured_card(1e9)

    with pytest.raises(ScenarioError, match="this machine was measured anew while this run was computed"):
        runs._on_card(on_this_machine(), "static", first, report)
