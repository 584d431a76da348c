"""Covers: the small true picture on each card of the gallery, drawn from a recorded run as SVG.

A cover is the frame of one bookmark of the scenario (`Scenario.cover`), in the anatomy of the player's panels at the size
of a card; a scenario without such a bookmark compares what its runs do with the memory. Which picture a frame gets
follows from the run alone, so a new scenario has one at once. Colours are classes, see `covers.css`.

Runs of some scenarios take a second, so what was drawn is kept in `recorded/`; the tests draw every cover again and
compare. A change that is meant is recorded anew by `python -m viz.covers [NAME ...]`.
"""

from collections.abc import Callable
from pathlib import Path

from engine.trace.trace import Trace
from scenarios.run import run
from scenarios.scenario import Bookmark, Scenario
from viz.covers.blocks import draw_blocks, grid_of
from viz.covers.lanes import draw_lanes
from viz.covers.shares import draw_shares
from viz.covers.strips import draw_strips
from viz.covers.svg import Drawing
from viz.covers.tree import draw_tree

LANGUAGE = "en"
NUM_PLACES = 8
RECORDED = Path(__file__).with_name("recorded")


def picture(scenario: Scenario) -> str:
    """The recorded cover of a scenario of the catalogue, drawn now where there is none."""
    path = recorded_at(scenario)
    return path.read_text(encoding="utf-8") if path.is_file() else cover(scenario)


def cover(scenario: Scenario) -> str:
    """The picture of a scenario as one `<svg>` element; every text in it is escaped."""
    if scenario.cover is None or not scenario.bookmarks:
        return draw_shares({each.name: run(scenario, each.name) for each in scenario.runs}).svg()
    mark = scenario.bookmarks[scenario.cover]
    trace = run(scenario, mark.run)
    return _picture(scenario, trace)(trace, *_place(trace, mark)).svg(label=mark.text[LANGUAGE])


def blank() -> str:
    """The outlines of a picture that could not be drawn, of the same size."""
    drawing, grid = Drawing(), grid_of(range(NUM_PLACES))
    for block in range(NUM_PLACES):
        drawing.rect(grid.box(block), "place", grid.width * 0.09)
    return drawing.svg()


def recorded_at(scenario: Scenario) -> Path:
    return RECORDED / f"{scenario.name}.svg"


def stylesheet() -> str:
    return Path(__file__).with_name("covers.css").read_text(encoding="utf-8")


def _picture(scenario: Scenario, trace: Trace) -> Callable[[Trace, int, int], Drawing]:
    if scenario.chips[:1] == ("Batching",):
        return draw_lanes
    if "nodes" in trace.tracks:
        return draw_tree
    return draw_strips if "strips" in trace.tracks else draw_blocks


def _place(trace: Trace, mark: Bookmark) -> tuple[int, int]:
    """(event of the frame, event of the frame before it): between the two lies what has just changed."""
    if mark.event is not None:
        event = trace.parse_frame(f"{mark.step}.{mark.event}")
        return event, event - 1
    before = int(trace.steps["scheduled"][mark.step - 1]) if mark.step else 0
    return int(trace.steps["scheduled"][mark.step]), before
