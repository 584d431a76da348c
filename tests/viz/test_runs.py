"""Runs for the pages: what they tell while they are computed, and where they can be stopped."""

from collections.abc import Iterator

import pytest

from scenarios import catalogue
from scenarios.run import run
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
