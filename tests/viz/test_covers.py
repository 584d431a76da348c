"""The pictures of the gallery are frames of the recorded runs: what they show is what the trace says."""

import re
from functools import cache
from xml.etree import ElementTree

import pytest

from engine.request import SequenceStatus
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES
from scenarios import catalogue
from scenarios.request_fields import read_requests
from scenarios.run import run
from scenarios.scenario import Bookmark, Run, Scenario
from viz import covers
from viz.covers import people
from viz.covers.blocks import draw_blocks, grid_of
from viz.covers.lanes import places_of
from viz.covers.people import hues
from viz.covers.strips import holes, strips_of
from viz.player.script import stylesheet

SVG = "{http://www.w3.org/2000/svg}"


def _trace(name: str, run_name: str | None = None) -> Trace:
    return run(catalogue.load()[name], run_name)


@cache
def _cover(name: str) -> str:
    return covers.cover(catalogue.load()[name])


def _elements(svg: str, kind: str, look: str = "") -> list[ElementTree.Element]:
    return [
        element
        for element in ElementTree.fromstring(svg).iter(f"{SVG}{kind}")
        if not look or look in element.get("class", "").split()
    ]


def _words(svg: str) -> list[str]:
    return [element.text or "" for element in _elements(svg, "text")]


@pytest.mark.parametrize("name", catalogue.load())
def test_the_recorded_picture_is_the_one_that_its_run_gives(name: str) -> None:
    assert covers.recorded_at(catalogue.load()[name]).read_text(encoding="utf-8") == _cover(name)


def test_every_recorded_picture_belongs_to_a_scenario() -> None:
    assert {path.name for path in covers.RECORDED.iterdir()} == {f"{name}.svg" for name in catalogue.load()}


@pytest.mark.parametrize("name", catalogue.load())
def test_every_scenario_has_a_picture_that_is_well_formed_and_small(name: str) -> None:
    svg = _cover(name)
    assert len(_elements(svg, "rect") + _elements(svg, "path", "solid")) > 5
    assert len(svg) < 30_000
    assert _elements(svg, "script") == [] and "href" not in svg and "style=" not in svg


@pytest.mark.parametrize("name", catalogue.load())
def test_a_picture_stays_inside_its_frame(name: str) -> None:
    for element in _elements(_cover(name), "rect"):
        x, y, w, h = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
        assert w >= 0 and h >= 0 and x >= 0 and y >= 0 and x + w <= 294.01 and y + h <= 142.01


def test_three_copies_of_block_6_are_three_arrows_and_three_dots() -> None:
    """The blocks around the copy: 3, 4, 5 shared by four, 6 now of A4 alone, 7 to 9 the copies, 10 free."""
    svg = _cover("four-samples")
    assert _words(svg) == [
        "3",
        "A",
        "×4",
        "4",
        "A",
        "×4",
        "5",
        "A",
        "×4",
        "6",
        "A4",
        "7",
        "A1",
        "8",
        "A2",
        "9",
        "A3",
        "10",
    ]
    assert len(_elements(svg, "path", "arrow")) == 3
    assert len(_elements(svg, "circle", "ink")) == 3
    assert len(_elements(svg, "rect", "free")) == 1


def test_a_picture_is_named_by_its_bookmark() -> None:
    scenario = catalogue.load()["four-samples"]
    root = ElementTree.fromstring(covers.cover(scenario))
    assert root.get("aria-label") == scenario.bookmarks[1].text["en"]


def test_the_two_pictures_of_static_batching_show_every_idle_place() -> None:
    """R2 has both tokens after two iterations: its place idles in iterations 3 to 5, that of R3 in 5."""
    columns = list(places_of(_trace("step-by-step", "static"), 5))
    idle = [
        (step, seat) for step, column in enumerate(columns) for seat, place in column.items() if place.kind == "idle"
    ]
    assert idle == [(2, 1), (3, 1), (4, 1), (4, 2)]
    assert [place.kind for place in columns[0].values()] == ["prefill"] * 3
    assert len(_elements(_cover("step-by-step"), "rect", "idle")) == 4


def test_strips_tell_tokens_from_what_will_and_will_never_be_used() -> None:
    """A has 512 of 2,048 slots in its last step; B has 27 by then and ends with 119; 1,024 slots are a hole."""
    trace = _trace("reserve-2048", "max")
    strips = list(strips_of(trace, trace.cut(step=509, at="scheduled")))
    assert [(strip.start, strip.size) for strip in strips] == [(0, 2048), (2048, 2048)]
    assert (strips[0].used, strips[0].end) == (512, 512)
    assert (strips[1].used, strips[1].end) == (27, 119)
    assert list(holes(strips, 5120)) == [(4096, 1024)]


def test_bars_are_the_shares_of_the_occupied_memory() -> None:
    svg = _cover("last-block")
    shares = [
        measure(_trace("last-block", name)).as_dict()["kv_of_occupied"]["token"] for name in ("paged", "max", "pow2")
    ]
    assert _words(svg) == ["paged", f"{shares[0]:.0%}", "max", f"{shares[1]:.0%}", "pow2", f"{shares[2]:.0%}"]
    widths = [float(element.get("width", "0")) for element in _elements(svg, "rect", "solid")]
    assert widths == pytest.approx([share * 200 for share in shares], abs=0.01)


def test_a_large_pool_is_a_pixel_a_block() -> None:
    """312 requests with 82 blocks each at the end: 25,584 blocks are painted, 16 are free."""
    (svg,) = [_cover("h100-capacity")]
    area = sum(
        int(width)
        for element in _elements(svg, "path", "pixels")
        for width in re.findall(r"M\d+ \d+h(\d+)v1", element.get("d", ""))
    )
    assert area == 312 * 82


def test_hues_are_handed_out_like_seats() -> None:
    """R4 takes the hue of R2, which has ended; when R5 comes those of R1, R3 and R4 are free, and the first is taken."""
    assert hues(_trace("step-by-step", "continuous")) == ["A", "B", "C", "B", "A"]
    assert hues(_trace("four-samples")) == ["A", "B", "C", "D"]
    assert set(hues(_trace("h100-capacity", "paged"))) == {"P"}


def test_states_have_the_numbers_of_the_engine() -> None:
    for name in ("PREFILL", "DECODE", "SWAPPED", "FINISHED"):
        assert getattr(people, name) == SequenceStatus[name]


def test_the_colours_are_those_of_the_player() -> None:
    colours = set(re.findall(r"#[0-9A-F]{6}", covers.stylesheet()))
    assert len(colours) > 40
    assert colours <= set(re.findall(r"#[0-9A-F]{6}", stylesheet()))


def test_a_tree_has_a_box_for_each_node_and_an_edge_to_each() -> None:
    svg = _cover("two-chats-two-shots")
    assert len(_elements(svg, "path", "branch")) == len(_elements(svg, "rect", "solid")) > 3
    assert any(word.startswith("You are") for word in _words(svg))


def test_names_from_a_scenario_are_text() -> None:
    scenario = Scenario(
        name="x",
        title={"en": "x"},
        story={"en": "x"},
        runs=(Run("run", {"num_blocks": 8}),),
        requests=read_requests([{"id": "<script>", "prompt": {"len": 3}, "output_len": 3}]),
        bookmarks=(Bookmark("run", 1, {"en": '"><script>alert(1)</script>'}),),
    )
    svg = covers.cover(scenario)
    assert "<script" not in svg
    assert ElementTree.fromstring(svg).get("aria-label") == '"><script>alert(1)</script>'


def test_a_scenario_without_bookmarks_compares_its_runs() -> None:
    scenario = Scenario(
        name="x",
        title={"en": "x"},
        story={"en": "x"},
        requests=read_requests([{"id": "A", "prompt": {"len": 3}, "output_len": 3}]),
    )
    assert _words(covers.cover(scenario))[0] == "run"


@pytest.mark.parametrize("num_blocks", [1, 2, 8, 12, 16, 48, 64, 320, 2000])
def test_the_cells_of_any_pool_fit_beside_each_other(num_blocks: int) -> None:
    grid = grid_of(range(num_blocks))
    boxes = [grid.box(block) for block in range(num_blocks)]
    assert min(x for x, _, _, _ in boxes) >= 0 and max(x + w for x, _, w, _ in boxes) <= 294
    assert min(y for _, y, _, _ in boxes) >= 0 and max(y + h for _, y, _, h in boxes) <= 142
    assert len({(x, y) for x, y, _, _ in boxes}) == num_blocks


def test_blocks_before_anything_happened_are_free() -> None:
    svg = draw_blocks(_trace("alan-turing"), 0, 0).svg()
    assert len(_elements(svg, "rect", "free")) == 8 and _elements(svg, "rect", "now") == []


def test_blocks_that_nobody_reads_are_dashed_and_kept() -> None:
    """The timestamp in front: nothing of the first question is found again, its 32 blocks are kept."""
    scenario = catalogue.load()["timestamp-first"]
    assert scenario.cover is not None
    mark = scenario.bookmarks[scenario.cover]
    trace = run(scenario, mark.run)
    states = trace.cut(event=covers._place(trace, mark)[0]).tracks["blocks"]["state"]
    kept = int((states == BLOCK_STATES.index("cached")).sum())
    svg = covers.cover(scenario)
    assert kept == 32 and len(_elements(svg, "rect", "kept")) == kept


def test_a_picture_that_is_missing_has_the_outlines_of_one() -> None:
    assert len(_elements(covers.blank(), "rect", "place")) == 8
    assert _elements(_cover("four-samples"), "rect", "place") == []
