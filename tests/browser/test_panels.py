"""The panels of the player on runs of the engine: their pixels are the state, their words are those of Python."""

import random
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.settings import Settings
from scenarios import catalogue
from scenarios.run import run
from tests.browser import painted
from tests.browser.page_time import pass_time
from tests.browser.panel_runs import (
    OWNERS,
    Open,
    facts,
    four_samples,
    happened,
    many_requests,
    open_run,
    preempting_run,
    small_run,
)
from tests.browser.player_page import player_page
from viz.player.sentences import sentence_text
from viz.player.wire import wire

__all__ = ["open_run"]


def test_each_of_three_copies_shows_source_target_arrow_count_and_sentence(page: Page, open_run: Open) -> None:
    trace = four_samples()
    copies = happened(trace, "copied")
    assert [(copy["block"], copy["target"]) for copy in copies] == [(6, 7), (6, 8), (6, 9)]
    begin = int(trace.steps["begin"][1])
    for refs, copy in zip(("4 → 3", "3 → 2", "2 → 1"), copies, strict=True):
        root = open_run(trace, f"1.{copy['event'] - begin}", sel="b6")
        expect(root).to_have_attribute("data-event", str(copy["event"]))
        assert page.locator(".kv-say p").inner_text().replace("\n", " ") == sentence_text(trace, copy["event"])
        assert facts(page)["References"] == refs
        grid = painted.canvas(page, "blocks")
        places = painted.boxes(grid, "b")
        for id in (copy["block"], copy["target"]):
            above = painted.pixels(grid, [(places[id][0] + 8, places[id][1] - y) for y in (2, 3, 4, 5)])
            assert any(painted.is_like(pixel, painted.named("now"), 40) for pixel in above)
        left, _, right, bottom = places[copy["block"]]
        gutter = [(left + (right - left) * share / 50, bottom - y) for share in range(50) for y in range(10)]
        assert any(painted.is_like(pixel, painted.named("ink")) for pixel in painted.pixels(grid, gutter))


@pytest.mark.parametrize("place", ["0", "1", "1.5", "30", "49"])
def test_the_squares_of_the_grid_are_painted_as_python_says(page: Page, open_run: Open, place: str) -> None:
    trace = four_samples()
    open_run(trace, place)
    grid = painted.canvas(page, "blocks")
    expect(grid).to_have_attribute("data-mode", "large")
    places = painted.boxes(grid, "b")
    assert sorted(places) == list(range(48))
    frame = trace.cut(event=trace.parse_frame(place))
    height = min(box[3] - box[1] for box in places.values()) * 0.8
    state, refs, fill, owner = (frame.tracks["blocks"][name] for name in ("state", "ref_count", "fill", "owner"))
    middles = [
        (left + 0.8 * (right - left), top + 0.55 * height) for left, top, right, _ in (places[id] for id in range(48))
    ]
    wrong = []
    for id, pixel in enumerate(painted.pixels(grid, middles)):
        is_full, is_shared = fill[id] == 16, refs[id] > 1
        if not state[id]:
            is_right = pixel[3] == 0
        elif is_shared:
            names = (
                [painted.hue("S"), painted.named("stripe")]
                if is_full
                else [painted.hue("S", "tint"), painted.named("mark")]
            )
            is_right = any(painted.is_like(pixel, colour, 70) for colour in names)
        else:
            is_right = painted.is_like(pixel, painted.hue(OWNERS[owner[id]], "solid" if is_full else "tint"))
        if not is_right:
            wrong.append((id, pixel))
    assert wrong == []


@pytest.mark.parametrize("place", ["2", "5", "9"])
def test_the_strips_show_tokens_reserve_and_waste_slot_by_slot(page: Page, open_run: Open, place: str) -> None:
    trace = run(catalogue.load()["three-wastes"])
    open_run(trace, place)
    strips = painted.canvas(page, "strips")
    frame = trace.cut(step=int(place), at="scheduled").tracks["strips"]
    seen = painted.boxes(strips, "s")
    held = [s for s in range(len(frame["start"])) if frame["start"][s] >= 0]
    assert sorted(seen) == held != []
    for sequence in held:
        left, _, right, bottom = seen[sequence]
        size, used = int(frame["size"][sequence]), int(frame["used"][sequence])
        request = trace.requests[sequence]
        final = min(size, request["prompt_len"] + request["output_len"] - 1)
        shares = (0.3, 0.4, 0.5, 0.6, 0.7)
        points = [
            (left + (right - left) * (slot + share) / size, bottom - y)
            for slot in range(size)
            for share in shares
            for y in (4, 6)
        ]
        colours = painted.pixels(strips, points)
        slots = [colours[i : i + 2 * len(shares)] for i in range(0, len(colours), 2 * len(shares))]

        def shows(slot: list[painted.Pixel], part: str) -> bool:
            return any(painted.is_like(pixel, painted.hue(name, part)) for pixel in slot for name in OWNERS)

        assert [shows(slot, "solid") for slot in slots] == [i < used for i in range(size)]
        assert [shows(slot, "tint") for slot in slots] == [used <= i < final for i in range(size)]


def test_four_managers_reserve_strips_of_2048_slots(page: Page, open_run: Open) -> None:
    trace = run(catalogue.load()["four-managers"], "max")
    open_run(trace, "30")
    label = painted.canvas(page, "strips").get_attribute("aria-label") or ""
    frame = trace.cut(step=30, at="scheduled").tracks["strips"]
    held = frame["start"] >= 0
    assert label == (
        f"{held.sum()} strips: {frame['used'][held].sum()} slots hold tokens, {frame['size'][held].sum()} are reserved"
    )
    assert set(frame["size"][held].tolist()) == {2048}


def test_one_pixel_a_block_is_coloured_by_its_state(page: Page, open_run: Open) -> None:
    trace = many_requests(500, 25_600, 256)
    open_run(trace, "40")
    grid = painted.canvas(page, "blocks")
    expect(grid).to_have_attribute("data-mode", "pixel")
    pass_time(page, 500)
    columns = int(grid.get_attribute("data-columns") or "")
    state = trace.cut(step=40, at="scheduled").tracks["blocks"]["state"]
    places = painted.boxes(grid, "b")
    rng = random.Random(5)
    chosen = [id for id in rng.sample(sorted(places), 900) if id < 25 * columns]
    assert len(chosen) > 100
    colours = painted.pixels(
        grid, [((places[id][0] + places[id][2]) / 2, (places[id][1] + places[id][3]) / 2) for id in chosen]
    )
    wrong = [
        (id, pixel)
        for id, pixel in zip(chosen, colours, strict=True)
        if not painted.is_like(pixel, painted.hue("P") if state[id] else painted.named("panel"))
    ]
    assert wrong == []


def test_a_refused_request_is_a_closed_row_with_need_and_limit(page: Page, open_run: Open) -> None:
    open_run(small_run(Settings(num_blocks=8), ("A", 60, 8), ("F", 600, 60)), "0")
    row = page.locator(".kv-queue .kv-refused")
    expect(row).to_contain_text("F")
    expect(row).to_contain_text("needs 42 blocks, the limit is 8")


def test_the_table_of_the_frame_is_in_sight_and_equals_the_state(page: Page, open_run: Open) -> None:
    trace = four_samples()
    root = open_run(trace, "1.5")
    root.focus()
    page.keyboard.press("Shift+T")
    region = page.locator(".kv-table > div")
    expect(region).to_be_visible()
    box = region.bounding_box()
    assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 720
    frame = trace.cut(event=trace.parse_frame("1.5"))
    rows = region.locator("table").first.locator("tbody tr").all()
    assert [row.locator("td").last.inner_text() for row in rows] == [
        ", ".join(map(str, frame.table(sequence))) for sequence in range(4)
    ]
    region.get_by_role("button", name="A2").click()
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Sequence A2")


def test_a_run_steps_forward_and_back_through_all_its_happenings(page: Page, open_run: Open) -> None:
    trace = preempting_run()
    root = open_run(trace, "0")
    for _ in range(trace.num_steps):
        page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-event", str(trace.num_events))
    expect(page.locator(".kv-ghost")).to_have_count(0)
    for _ in range(trace.num_steps):
        page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-frame", "0")


def test_with_reduced_motion_nothing_slides(browser: Browser, tmp_path: Path) -> None:
    trace = preempting_run()
    path = tmp_path / "still.html"
    path.write_text(player_page([wire(trace, title="Still")]))
    settings: list[tuple[Literal["reduce", "no-preference"], int]] = [("reduce", 0), ("no-preference", 1)]
    for setting, expected in settings:
        context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion=setting)
        page = context.new_page()
        admitted = trace.step_of(happened(trace, "resumed")[0]["event"])
        page.goto(f"{path.as_uri()}#f={int(admitted) - 1}")
        expect(page.locator('.kv[data-ready="true"]')).to_be_visible()
        slid = page.evaluate(
            """async () => {
              let slid = 0;
              new MutationObserver(list => { for (const {addedNodes} of list) for (const node of addedNodes)
                if (node.classList?.contains("kv-ghost")) slid++; }).observe(document.querySelector(".kv-stage"), {childList: true});
              document.querySelector(".kv").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
              await new Promise(resume => setTimeout(resume, 400));
              return slid;
            }"""
        )
        assert min(slid, 1) == expected
        context.close()


def test_names_with_markup_stay_text_in_every_panel(page: Page, open_run: Open) -> None:
    name = "<img src=x onerror=alert(1)>"
    root = open_run(small_run(Settings(num_blocks=16), (name, 30, 20), ("\u202eשלום", 30, 20)), "3", sel="r0")
    root.focus()
    page.keyboard.press("e")
    page.keyboard.press("Shift+T")
    expect(page.locator(".kv-table th", has_text=name)).to_be_visible()
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (1000, 720), (640, 720)])
def test_headings_of_panels_are_never_covered(page: Page, open_run: Open, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_run(many_requests(), "100", sel="r20")
    tops = [panel.bounding_box() for panel in page.locator(".kv-panel:visible").all()]
    for i, a in enumerate(tops):
        for b in tops[i + 1 :]:
            assert a is not None and b is not None
            apart = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
            assert apart or a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1


def test_no_number_of_a_narrow_strip_touches_its_neighbour(page: Page, open_run: Open) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    open_run(four_samples(), "1")
    boxes = [box for each in page.locator("[data-metric]").all() if (box := each.bounding_box())]
    assert len(boxes) > 3 and all(box["height"] > 30 and box["x"] + box["width"] <= 400 for box in boxes)
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            is_beside = abs(one["y"] - other["y"]) < 20
            assert not is_beside or other["x"] - one["x"] - one["width"] >= 8
    words = page.locator("[data-metric] dt")
    assert all(node.evaluate("node => node.scrollWidth <= node.clientWidth") for node in words.all())
    sentence = page.locator(".kv-say").bounding_box()
    assert sentence and max(box["y"] + box["height"] for box in boxes) <= sentence["y"]


def test_four_reservations_stand_where_there_is_room_for_four(page: Page, open_run: Open) -> None:
    """Four strips of 30 px each fill a list that has just 115 px: no line is given away for those that are hidden."""
    trace = small_run(Settings(kv_manager="max", max_model_len=16, num_blocks=8), *((name, 6, 8) for name in "ABCD"))
    open_run(trace, "0")
    page.add_style_tag(content='[data-panel="reservations"] .kv-body { flex: none !important; height: 116px; }')
    page.set_viewport_size({"width": 1280, "height": 721})
    expect(page.locator(".kv")).to_have_attribute("data-frame", "0")
    page.wait_for_timeout(400)
    assert len(painted.boxes(painted.canvas(page, "reservations"), "s")) == 4
