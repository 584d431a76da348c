"""Every chart on every scenario of the catalogue, and every number in it against the figures of the run."""

import re
from functools import cache

import pytest

from engine.loop import simulate
from engine.settings import Settings
from engine.trace.composition import KINDS
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.run import run
from tests.viz.charts.specs import channels, datasets, spec_of, views
from viz.charts import gallery, kv_kinds
from viz.charts.drawing import MAX_ROWS, Drawing, Measured
from viz.charts.theme import BOTH, DARK, LIGHT

LARGE = ("four-managers", "static-vs-continuous", "equal-lengths", "h100-capacity")
SCENARIOS = [
    pytest.param(name, marks=pytest.mark.slow) if name in LARGE else pytest.param(name) for name in catalogue.load()
]
NAMES = [*gallery.OF_ONE_RUN, *gallery.OF_RUNS, *gallery.OF_WORKLOAD]


@cache
def _runs(scenario: str) -> dict[str, Measured]:
    chosen = catalogue.load()[scenario]
    return {each.name: Measured.of(run(chosen, each.name)) for each in chosen.runs}


def _all(scenario: str) -> list[Drawing]:
    """Every chart of a scenario, those of one run for each of its runs."""
    chosen, runs = catalogue.load()[scenario], _runs(scenario)
    requests = () if chosen.ops is not None else chosen.all_requests(chosen.runs[0].name)
    return [
        *(draw(one, BOTH) for draw in gallery.OF_ONE_RUN.values() for one in runs.values()),
        *(draw(runs, BOTH) for draw in gallery.OF_RUNS.values()),
        *(draw(requests, BOTH) for draw in gallery.OF_WORKLOAD.values()),
    ]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_chart_is_valid_strict_and_small_on_every_scenario(scenario: str) -> None:
    for drawing in _all(scenario):
        assert drawing.caption and drawing.alt.startswith(drawing.title)
        assert len({len(column) for column in drawing.table.values()}) <= 1
        if drawing.chart is None:
            assert drawing.caption.startswith("Nothing to show")
            continue
        spec = spec_of(drawing)
        assert 0 < sum(map(len, datasets(spec))) <= MAX_ROWS
        if "are drawn as" not in drawing.caption and drawing.name == "kv_composition":
            assert len(datasets(spec)[0]) >= len(KINDS) * 2


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_names_are_stable_and_fields_are_plain_words_with_a_type(scenario: str) -> None:
    for drawing in _all(scenario):
        assert drawing.name in NAMES
        if drawing.chart is None:
            continue
        spec = spec_of(drawing)
        assert spec["name"] == drawing.name
        assert [view["name"] for view in views(spec) if "name" in view and view is not spec] == []
        for channel, definition in channels(spec):
            assert re.fullmatch("[a-z]+", definition["field"])
            assert "type" in definition or channel in ("x2", "y2")
        for rows in datasets(spec):
            assert all(re.fullmatch("[a-z]+", key) for row in rows for key in row)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_areas_average_to_the_shares_of_the_run(scenario: str) -> None:
    for measured in _runs(scenario).values():
        table = gallery.OF_ONE_RUN["kv_composition"](measured, LIGHT).table
        composition = measured.metrics.composition
        end = float(measured.trace.times[-1, 1])
        widths = [b - a for a, b in zip(table["from s"], [*table["from s"][1:], end], strict=True)]
        for kind in KINDS:
            slot_seconds = sum(w * v for w, v in zip(widths, table[kv_kinds.WORDS[kind]], strict=True))
            share = slot_seconds / (composition.capacity * sum(widths))
            assert share == pytest.approx(composition.shares()[kind], abs=1e-4)


@pytest.mark.parametrize("scenario", ["step-by-step", "three-wastes"])
def test_charts_of_runs_say_what_the_figures_say(scenario: str) -> None:
    runs = _runs(scenario)
    drawn = {name: draw(runs, LIGHT).table for name, draw in gallery.OF_RUNS.items()}
    for row, (name, measured) in enumerate(runs.items()):
        figures = measured.metrics.as_dict()
        assert drawn["throughput"]["run"][row] == name
        assert drawn["throughput"]["tokens per second"][row] == pytest.approx(figures["throughput_tok_s"])
        assert drawn["first_token"]["median"][row] == pytest.approx(figures["ttft_s"]["p50"])
        assert drawn["first_token"]["99th percentile"][row] == pytest.approx(figures["ttft_s"]["p99"])
        assert drawn["between_tokens"]["median"][row] == pytest.approx(figures["itl_s"]["p50"])
        assert drawn["per_token"]["mean"][row] == pytest.approx(figures["normalized_latency_s"])
        assert drawn["waste"]["tokens, of taken"][row] == pytest.approx(figures["kv_of_occupied"]["token"])
        assert drawn["waste"]["free, of all"][row] == pytest.approx(figures["kv"]["free"])


def test_drawing_twice_gives_the_same_specification() -> None:
    first, second = ([spec_of(d) for d in _all("step-by-step") if d.chart] for _ in range(2))
    assert first == second


def test_a_chart_differs_between_the_themes_in_colours_alone() -> None:
    (one, *_) = _runs("step-by-step").values()
    light, dark = (repr(spec_of(gallery.OF_ONE_RUN["kv_composition"](one, palette))) for palette in (LIGHT, DARK))
    assert light != dark
    assert re.sub("#[0-9A-F]{6}", "", light) == re.sub("#[0-9A-F]{6}", "", dark)


def test_a_run_without_requests_has_sentences_instead_of_charts() -> None:
    empty = Measured.of(simulate(Settings(num_blocks=4), ListWorkload([])))
    drawn = [draw(empty, LIGHT) for draw in gallery.OF_ONE_RUN.values()]
    drawn += [draw({"one": empty}, LIGHT) for draw in gallery.OF_RUNS.values()]
    drawn += [draw({}, LIGHT) for draw in gallery.OF_RUNS.values()]
    drawn += [draw([], LIGHT) for draw in gallery.OF_WORKLOAD.values()]
    assert {drawing.caption.split(":")[0] for drawing in drawn} == {"Nothing to show"}
    assert all(drawing.chart is None and drawing.table == {} for drawing in drawn)
