"""The panels of the player on runs of the engine: what they say, what they link, and that their pixels are the state."""

import random
import re
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from engine.loop import simulate
from engine.settings import Settings
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.request_fields import read_requests
from scenarios.run import run
from tests.browser import canvas
from tests.browser.player_page import player_page
from viz.player.sentences import Sentences, sentence_text
from viz.player.wire import wire

PREEMPTIONS = Settings(num_blocks=12, max_num_seqs=4)
OWNERS = "ABCDE"


@cache
def four_samples() -> Trace:
    return run(catalogue.load()["four-samples"])


@cache
def many_requests(count: int = 400, num_blocks: int = 1024, max_num_seqs: int = 64) -> Trace:
    rng = random.Random(count)
    time, rows = 0.0, []
    for i in range(count):
        time += rng.expovariate(count / 5)
        rows.append(
            {
                "id": f"r{i}",
                "arrival_s": time,
                "prompt": {"len": rng.randrange(20, 400)},
                "output_len": rng.randrange(3, 60),
            }
        )
    settings = Settings(num_blocks=num_blocks, max_num_seqs=max_num_seqs)
    return simulate(settings, ListWorkload(read_requests(rows)), "many")


def small_run(settings: Settings, *lengths: tuple[str, int, int]) -> Trace:
    rows = [{"id": name, "prompt": {"len": prompt}, "output_len": output} for name, prompt, output in lengths]
    return simulate(settings, ListWorkload(read_requests(rows)), "small")


@pytest.fixture
def open_run(page: Page, tmp_path: Path):
    """Opens a trace at a place; every error of the page fails the test."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def opened(trace: Trace, place: str = "0", sel: str = "") -> Locator:
        path = tmp_path / f"{trace.run_id}.html"
        if not path.exists():
            path.write_text(player_page([wire(trace, title="A run")]))
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#f={place}" + (f"&sel={sel}" if sel else ""))
        root = page.locator('.kv[data-ready="true"]')
        expect(root).to_have_attribute("data-hash", re.compile(r"\d"))
        return root

    yield opened
    assert errors == []


def happened(trace: Trace, kind: str) -> list[dict[str, int]]:
    columns = trace.happenings
    rows = [i for i, number in enumerate(columns["kind"]) if number == HAPPENINGS.index(kind)]
    return [{name: int(values[i]) for name, values in columns.items()} for i in rows]


def facts(page: Page) -> dict[str, str]:
    lines = page.locator(".kv-facts > div")
    return {line.locator("dt").inner_text(): line.locator("dd").inner_text() for line in lines.all()}


# E03: three copies


def test_each_of_three_copies_shows_source_target_arrow_count_and_sentence(page: Page, open_run) -> None:
    trace = four_samples()
    copies = happened(trace, "copied")
    assert [(copy["block"], copy["target"]) for copy in copies] == [(6, 7), (6, 8), (6, 9)]
    begin = int(trace.steps["begin"][1])
    for refs, copy in zip(("4 → 3", "3 → 2", "2 → 1"), copies, strict=True):
        root = open_run(trace, f"1.{copy['event'] - begin}", sel="b6")
        expect(root).to_have_attribute("data-event", str(copy["event"]))
        assert page.locator(".kv-say p").inner_text().replace("\n", " ") == sentence_text(trace, copy["event"])
        assert facts(page)["References"] == refs
        grid = canvas.canvas(page, "blocks")
        places = canvas.boxes(grid, "b")
        for id in (copy["block"], copy["target"]):
            above = canvas.pixels(grid, [(places[id][0] + 8, places[id][1] - y) for y in (2, 3, 4, 5)])
            assert any(canvas.is_like(pixel, canvas.named("now"), 40) for pixel in above)
        left, _, right, bottom = places[copy["block"]]
        gutter = [(left + (right - left) * share / 50, bottom - y) for share in range(50) for y in range(10)]
        assert any(canvas.is_like(pixel, canvas.named("ink")) for pixel in canvas.pixels(grid, gutter))


# pixels against the state


@pytest.mark.parametrize("place", ["0", "1", "1.5", "30", "49"])
def test_the_squares_of_the_grid_are_painted_as_python_says(page: Page, open_run, place: str) -> None:
    trace = four_samples()
    open_run(trace, place)
    grid = canvas.canvas(page, "blocks")
    expect(grid).to_have_attribute("data-mode", "large")
    places = canvas.boxes(grid, "b")
    assert sorted(places) == list(range(48))
    frame = trace.cut(event=trace.parse_frame(place))
    height = min(box[3] - box[1] for box in places.values()) * 0.8
    state, refs, fill, owner = (frame.tracks["blocks"][name] for name in ("state", "ref_count", "fill", "owner"))
    middles = [
        (left + 0.8 * (right - left), top + 0.55 * height) for left, top, right, _ in (places[id] for id in range(48))
    ]
    wrong = []
    for id, pixel in enumerate(canvas.pixels(grid, middles)):
        is_full = fill[id] == 16
        if not state[id]:
            expected = [pixel] if pixel[3] == 0 else []
        elif refs[id] > 1:
            expected = (
                [canvas.hue("S"), canvas.named("stripe")]
                if is_full
                else [canvas.hue("S", "tint"), canvas.named("mark")]
            )
        else:
            expected = [canvas.hue(OWNERS[owner[id]], "solid" if is_full else "tint")]
        blended = refs[id] > 1 and state[id]
        if not any(canvas.is_like((*pixel[:3], 255), colour[:3], 70 if blended else 6) for colour in expected):
            wrong.append((id, pixel, expected))
    assert wrong == []


@pytest.mark.parametrize("place", ["2", "5", "9"])
def test_the_strips_show_tokens_reserve_and_waste_slot_by_slot(page: Page, open_run, place: str) -> None:
    trace = run(catalogue.load()["three-wastes"])
    open_run(trace, place)
    strips = canvas.canvas(page, "strips")
    frame = trace.cut(step=int(place), at="scheduled").tracks["strips"]
    seen = canvas.boxes(strips, "s")
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
        colours = canvas.pixels(strips, points)
        slots = [colours[i : i + 2 * len(shares)] for i in range(0, len(colours), 2 * len(shares))]

        def shows(slot: list[tuple[int, ...]], part: str) -> bool:
            return any(canvas.is_like(pixel, canvas.hue(name, part)) for pixel in slot for name in OWNERS)

        assert [shows(slot, "solid") for slot in slots] == [i < used for i in range(size)]
        assert [shows(slot, "tint") for slot in slots] == [used <= i < final for i in range(size)]


def test_four_managers_reserve_strips_of_2048_slots(page: Page, open_run) -> None:
    trace = run(catalogue.load()["four-managers"], "max")
    open_run(trace, "30")
    label = canvas.canvas(page, "strips").get_attribute("aria-label") or ""
    frame = trace.cut(step=30, at="scheduled").tracks["strips"]
    held = frame["start"] >= 0
    assert label == (
        f"{held.sum()} strips: {frame['used'][held].sum()} slots hold tokens, {frame['size'][held].sum()} are reserved"
    )
    assert set(frame["size"][held].tolist()) == {2048}


def test_one_pixel_a_block_is_coloured_by_its_state(page: Page, open_run) -> None:
    trace = many_requests(500, 25_600, 256)
    open_run(trace, "40")
    grid = canvas.canvas(page, "blocks")
    expect(grid).to_have_attribute("data-mode", "pixel")
    page.wait_for_timeout(500)
    columns = int(grid.get_attribute("data-columns") or "")
    state = trace.cut(step=40, at="scheduled").tracks["blocks"]["state"]
    places = canvas.boxes(grid, "b")
    rng = random.Random(5)
    chosen = [id for id in rng.sample(sorted(places), 900) if id < 25 * columns]
    assert len(chosen) > 100
    colours = canvas.pixels(
        grid, [((places[id][0] + places[id][2]) / 2, (places[id][1] + places[id][3]) / 2) for id in chosen]
    )
    wrong = [
        (id, pixel)
        for id, pixel in zip(chosen, colours, strict=True)
        if not canvas.is_like(pixel, canvas.hue("P") if state[id] else canvas.named("panel"))
    ]
    assert wrong == []


# selection


def test_a_click_on_a_block_marks_it_everywhere_until_escape(page: Page, open_run) -> None:
    root = open_run(four_samples(), "1.5")
    grid = canvas.canvas(page, "blocks")
    canvas.click(page, grid, canvas.boxes(grid, "b")[6])
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Block 6")
    expect(page.locator(".kv-say [data-sel=b6]")).to_have_class(re.compile("kv-selected"))
    expect(page.locator("[data-panel=timeline] [data-sel=r0]")).to_have_class(re.compile("kv-selected"))
    page.wait_for_url(re.compile("sel=b6"))
    page.mouse.move(5, 5)
    root.focus()
    page.keyboard.press("Escape")
    expect(page.locator(".kv-selected")).to_have_count(0)
    page.wait_for_url(re.compile(r"#f=1\.5$"))


def test_a_chip_of_the_sentence_selects_and_a_reload_keeps_it(page: Page, open_run) -> None:
    open_run(four_samples(), "1.5")
    page.locator(".kv-say [data-sel=s1]").click()
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Sequence A2")
    page.wait_for_url(re.compile("sel=s1"))
    page.reload()
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("Sequence A2")


def test_beyond_five_hues_only_the_selected_request_keeps_one(page: Page, open_run) -> None:
    trace = many_requests()
    open_run(trace, "100")
    frame = trace.cut(step=100, at="scheduled")
    sequence = int((frame.tracks["sequences"]["seat"] >= 0).nonzero()[0][0])
    table = frame.table(sequence)
    grid = canvas.canvas(page, "blocks")
    middle = {id: ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) for id, box in canvas.boxes(grid, "b").items()}
    full = table[:-1]
    assert all(canvas.is_like(pixel, canvas.hue("P")) for pixel in canvas.pixels(grid, [middle[id] for id in full]))
    open_run(trace, "100", sel=f"s{sequence}")
    assert all(canvas.is_like(pixel, canvas.hue("B")) for pixel in canvas.pixels(grid, [middle[id] for id in full]))


def test_the_cell_cursor_says_what_it_stands_on(page: Page, open_run) -> None:
    open_run(four_samples(), "1.5")
    canvas.canvas(page, "blocks").focus()
    page.keyboard.press("Enter")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".kv-live")).to_have_text("block 6, A3 and A4, ref 2, 4 of 16 filled")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("sel=b6"))
    expect(page.locator(".kv-life .kv-current button")).to_be_focused()


# inspector and log


def test_the_life_of_a_block_tells_past_now_and_future_and_leads_there(page: Page, open_run) -> None:
    trace = four_samples()
    root = open_run(trace, "1.5", sel="b6")
    assert facts(page) == {
        "Readers": "A3, A4",
        "References": "3 → 2",
        "Written": "4 of 16 slots",
        "Holds": "prompt tokens 97–100",
    }
    lines = page.locator(".kv-life li")
    assert [line.inner_text().split("\n") for line in lines.all()][:6] == [
        ["A1 writes it", "×1"],
        ["A2, A3, A4 read it too", "×4"],
        ["copied to 7 for A1", "×3"],
        ["copied to 8 for A2", "×2"],
        ["copied to 9 for A3", "×1"],
        ["A4 writes here, no copy", "×1"],
    ]
    assert [line.get_attribute("class") or "" for line in lines.all()][:6] == [
        "",
        "",
        "",
        "kv-current",
        "kv-future",
        "kv-future",
    ]
    lines.nth(4).locator("button").click()
    expect(root).to_have_attribute("data-event", str(happened(trace, "copied")[2]["event"]))


def test_the_life_of_a_request_goes_from_its_arrival_to_its_end(page: Page, open_run) -> None:
    trace = small_run(PREEMPTIONS, *((name, 40, 40) for name in OWNERS))
    victim = happened(trace, "preempted")[0]
    open_run(trace, "5", sel=f"r{victim['request']}")
    lines = [text.split("\n")[0] for text in page.locator(".kv-life li").all_inner_texts()]
    assert lines[:4] == ["arrives", "3 blocks", "admitted", "prefill of 40 tokens"]
    assert f"preempted, {victim['amount']} tokens again" in lines and "admitted again" in lines
    assert lines[-1] == "finished"


def test_the_log_holds_every_event_and_draws_only_what_is_in_sight(page: Page, open_run) -> None:
    trace = many_requests()
    root = open_run(trace, "100")
    root.focus()
    page.keyboard.press("e")
    count = len(Sentences.of(trace).rows)
    expect(page.locator("[data-panel=log] .kv-heading")).to_contain_text(f"{count:,} events")
    lines = page.locator(".kv-log button")
    assert 3 < lines.count() < 30
    here = int(root.get_attribute("data-event") or "")
    shown = [int(line.get_attribute("data-event") or "") for line in lines.all()]
    assert shown == sorted(shown) and shown[0] <= here <= shown[-1]
    line = page.locator(".kv-log button").last
    event = int(line.get_attribute("data-event") or "")
    assert line.locator("span").first.inner_text() == sentence_text(trace, event)
    line.locator("small").click()
    expect(root).to_have_attribute("data-event", str(event))
    page.keyboard.press("e")
    expect(page.locator(".kv-facts")).to_be_visible()


# large pools and long runs


def test_a_rectangle_over_the_pool_opens_as_cells_until_escape(page: Page, open_run) -> None:
    root = open_run(many_requests(500, 25_600, 256), "40")
    grid = canvas.canvas(page, "blocks")
    box = grid.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 120, steps=5)
    page.mouse.up()
    expect(grid).to_have_attribute("data-mode", "tiny")
    columns = int(grid.get_attribute("data-columns") or "")
    first = min(canvas.boxes(grid, "b"))
    expect(page.locator("[data-panel=blocks] .kv-heading")).to_contain_text(f"from block {first:,} of 25,600")
    assert 0 < columns < 102 and first > 0
    root.focus()
    page.keyboard.press("Escape")
    expect(grid).to_have_attribute("data-mode", "pixel")


def test_the_lens_lists_what_changed_once_the_frame_stands_still(page: Page, open_run) -> None:
    open_run(many_requests(500, 25_600, 256), "40")
    grid = canvas.canvas(page, "blocks")
    size = grid.evaluate("canvas => [canvas.offsetWidth, canvas.offsetHeight]")
    corner = [(size[0] * 0.8 - 20 - x, y) for x in range(140) for y in range(int(size[1] * 0.5), int(size[1]), 2)]

    def yellow() -> int:
        return sum(canvas.is_like(pixel, canvas.named("now")) for pixel in canvas.pixels(grid, corner))

    page.wait_for_timeout(600)
    still = yellow()
    page.keyboard.press("Space")
    page.wait_for_timeout(700)
    playing = yellow()
    page.keyboard.press("Space")
    page.wait_for_timeout(600)
    assert still > 20 > playing and yellow() > 20


def test_a_search_finds_a_request_among_400_and_keeps_the_frame(page: Page, open_run) -> None:
    root = open_run(many_requests(), "50")
    expect(page.locator("[data-panel=timeline] [data-sel=r333]")).to_have_count(0)
    box = page.get_by_label("find a request")
    box.fill("r333")
    box.press("Enter")
    expect(page.locator("[data-panel=timeline] [data-sel=r333]")).to_have_class(re.compile("kv-selected"))
    expect(root).to_have_attribute("data-frame", "50")
    box.fill("nobody")
    box.press("Enter")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".kv-live")).to_have_text("There is no request “nobody”.")


def test_the_timeline_shows_places_and_from_afar_the_share_of_busy_ones(page: Page, open_run) -> None:
    root = open_run(many_requests(4000, 4096, 32), "500")
    panel = page.locator("[data-panel=timeline]")
    page.get_by_role("button", name="Rows are the places of the batch").click()
    expect(panel.locator(".kv-lanes b").first).to_have_text("place 1")
    root.focus()
    for _ in range(20):
        page.keyboard.press("-")
    expect(panel.locator(".kv-heading")).to_contain_text("share of the 32 places that is busy")
    page.keyboard.press("Escape")
    expect(panel.locator(".kv-lanes b").first).to_have_text("place 1")


# states, access, movement


def test_a_refused_request_is_a_closed_row_with_need_and_limit(page: Page, open_run) -> None:
    open_run(small_run(Settings(num_blocks=8), ("A", 60, 8), ("F", 600, 60)), "0")
    row = page.locator(".kv-queue .kv-refused")
    expect(row).to_contain_text("F")
    expect(row).to_contain_text("needs 42 blocks, the limit is 8")


def test_the_table_of_the_frame_is_in_sight_and_equals_the_state(page: Page, open_run) -> None:
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


def test_a_run_steps_forward_and_back_through_all_its_happenings(page: Page, open_run) -> None:
    trace = small_run(PREEMPTIONS, *((name, 40, 40) for name in OWNERS))
    root = open_run(trace, "0")
    for _ in range(trace.num_steps):
        page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-event", str(trace.num_events))
    expect(page.locator(".kv-ghost")).to_have_count(0)
    for _ in range(trace.num_steps):
        page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-frame", "0")


def test_with_reduced_motion_nothing_slides(browser: Browser, tmp_path: Path) -> None:
    trace = small_run(PREEMPTIONS, *((name, 40, 40) for name in OWNERS))
    path = tmp_path / "still.html"
    path.write_text(player_page([wire(trace, title="Still")]))
    for setting, expected in (("reduce", 0), ("no-preference", 1)):
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


def test_names_with_markup_stay_text_in_every_panel(page: Page, open_run) -> None:
    name = "<img src=x onerror=alert(1)>"
    root = open_run(small_run(Settings(num_blocks=16), (name, 30, 20), ("\u202eשלום", 30, 20)), "3", sel="r0")
    root.focus()
    page.keyboard.press("e")
    page.keyboard.press("Shift+T")
    expect(page.locator(".kv-table th", has_text=name)).to_be_visible()
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (1000, 720), (640, 720)])
def test_headings_of_panels_are_never_covered(page: Page, open_run, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_run(many_requests(), "100", sel="r20")
    tops = [panel.bounding_box() for panel in page.locator(".kv-panel:visible").all()]
    for i, a in enumerate(tops):
        for b in tops[i + 1 :]:
            assert a is not None and b is not None
            apart = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
            assert apart or a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1
