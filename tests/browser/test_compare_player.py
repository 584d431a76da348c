"""Two or three runs on one clock: every pane shows the same moment, the first difference is one key away, runs may still
be arriving."""

import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from tests.browser.player_page import player_page
from viz.player.difference import pane_differences
from viz.player.script import joined, stylesheet
from viz.player.wire import in_comparison, wire

HASHES = re.compile(r"^\d+(\|\d+)*$")
NUM_PIECES = 50


@cache
def comparison(name: str, names: tuple[str, ...], clock: str = "time") -> tuple[list[Trace], list[bytes]]:
    """The runs of a scenario as the panes of a comparison."""
    scenario = catalogue.load()[name]
    traces = [run(scenario, one) for one in names]
    panes = zip(traces, names, pane_differences(traces, names), strict=True)
    title = scenario.title["en"]
    return traces, [
        in_comparison(wire(trace, title=title, run_name=one), run_name=one, clock=clock, difference=difference)
        for trace, one, difference in panes
    ]


BATCHES = ("static", "continuous")


def show(page: Page, folder: Path, blobs: list[bytes], place: str = "") -> Locator:
    """The player with these runs at the place of a link, from a file."""
    path = folder / "player.html"
    path.write_text(player_page(blobs), encoding="utf-8")
    page.goto(f"file://{path}#{place}")
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_be_visible()
    return player


def places(player: Locator) -> tuple[list[str], list[int]]:
    """Names and state hashes of the panes, once they have come to rest."""
    expect(player).to_have_attribute("data-hashes", HASHES)
    names = (player.get_attribute("data-frames") or "").split("|")
    return names, [int(text) for text in (player.get_attribute("data-hashes") or "").split("|")]


def time_of(player: Locator) -> float:
    return float(player.get_attribute("data-time") or "nan")


def test_static_and_continuous_part_at_zero_and_d_lands_there(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, "f=3")
    page.keyboard.press("d")
    assert time_of(player) == 0
    assert places(player) == (["start", "0"], [trace.cut(time=0.0).crc() for trace in traces])
    expect(player.locator(".kv-flag")).to_contain_text(
        "first difference, 0 ms: continuous admits R1 and R2; static waits"
    )
    expect(player.locator(".kv-say")).to_contain_text("Continuous admits R1 and R2; static waits for a full batch.")


@pytest.mark.parametrize("clock", ["steps", "time"])
def test_d_steps_into_the_place_of_a_at_iteration_four(page: Page, tmp_path: Path, clock: str) -> None:
    traces, blobs = comparison("ten-iterations", BATCHES, clock)
    player = show(page, tmp_path, blobs)
    page.keyboard.press("End")
    page.keyboard.press("d")
    assert places(player) == (["3", "3"], [trace.cut(step=3, at="scheduled").crc() for trace in traces])
    expect(player.locator(".kv-say")).to_contain_text("Continuous admits D in A's place")


def test_at_every_time_all_panes_are_in_the_state_that_python_says(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs)
    borders = sorted({0.0, *(float(time) for trace in traces for time in trace.times.ravel())})
    times = [time for time, later in zip(borders, [*borders[1:], 9.0], strict=True) if later - time > 1e-9]
    for time in times:
        assert time_of(player) == pytest.approx(time, abs=1e-9)
        assert places(player)[1] == [trace.cut(time=time_of(player)).crc() for trace in traces], time
        page.keyboard.press("ArrowRight")
    for time in reversed(times[:-1]):
        page.keyboard.press("ArrowLeft")
        assert time_of(player) == pytest.approx(time, abs=1e-9)
        assert places(player)[1] == [trace.cut(time=time_of(player)).crc() for trace in traces], time


def test_on_the_iteration_clock_all_panes_show_the_same_iteration(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("ten-iterations", BATCHES, "steps")
    player = show(page, tmp_path, blobs)
    for step in range(traces[0].num_steps):
        _, hashes = places(player)
        expected = [
            trace.cut(step=step, at="scheduled") if step < trace.num_steps else trace.cut(event=trace.num_events)
            for trace in traces
        ]
        assert hashes == [frame.crc() for frame in expected], step
        page.keyboard.press("ArrowRight")


def test_a_finished_pane_stays_at_its_end_and_says_when_it_was_done(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, "f=7&t=0.15")
    static, continuous = player.locator(".kv-pane").all()
    expect(continuous).to_have_class(re.compile("kv-done"))
    expect(continuous).to_contain_text("done at 146 ms")
    expect(static).not_to_have_class(re.compile("kv-done"))
    assert places(player)[1][1] == traces[1].cut(event=traces[1].num_events).crc()


def test_the_four_numbers_are_those_of_the_mock_up(page: Page, tmp_path: Path) -> None:
    _, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, "f=2&t=0.06")
    numbers = [pane.locator(".kv-numbers dd").all_inner_texts() for pane in player.locator(".kv-pane").all()]
    assert numbers == [["6", "1", "R4", "156 ms"], ["8", "1", "nobody", "91 ms"]]
    expect(player.locator(".kv-say")).to_contain_text(
        "In static, R4 waits for the end of the batch; continuous let it in"
    )


def test_digits_bring_one_pane_or_all_and_the_moment_stays(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, "f=2&t=0.06")
    for key, pane in (("2", "2"), ("1", "1"), ("0", "0")):
        page.keyboard.press(key)
        expect(player).to_have_attribute("data-pane", pane)
        assert time_of(player) == 0.06
        shown = traces if pane == "0" else [traces[int(pane) - 1]]
        assert places(player)[1] == [trace.cut(time=0.06).crc() for trace in shown]
    page.keyboard.press("3")
    expect(player).to_have_attribute("data-pane", "0")


def test_n_and_p_stop_at_the_happenings_of_all_panes_in_the_order_of_time(page: Page, tmp_path: Path) -> None:
    _, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs)
    seen: list[float] = []
    while len(seen) < 40:
        before = (player.get_attribute("data-event"), player.get_attribute("data-frames"), time_of(player))
        page.keyboard.press("n")
        if (player.get_attribute("data-event"), player.get_attribute("data-frames"), time_of(player)) == before:
            break
        seen.append(time_of(player))
    # each of the five requests is admitted and finished in each of the two panes, some before the first press
    assert 15 <= len(seen) <= 20
    assert seen == sorted(seen)
    for time in reversed(seen[:-1]):
        page.keyboard.press("p")
        assert time_of(player) == time


@pytest.mark.parametrize(
    ("keys", "start"),
    [
        (["ArrowRight", "ArrowRight", "."], ""),
        (["t", "ArrowRight", "."], ""),
        (["2", "n", "n"], ""),
        (["n", "n", "n", "n", "n", "n"], ""),
        (["End"], ""),
        (["t", "End"], ""),
        ([], "f=2&t=0.06"),
    ],
)
def test_a_link_opens_the_same_panes_moment_and_clock(page: Page, tmp_path: Path, keys: list[str], start: str) -> None:
    _, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, start)
    for key in keys:
        page.keyboard.press(key)
    names = ("data-pane", "data-clock", "data-frame", "data-event", "data-frames", "data-time", "data-hashes")
    places(player)
    before = [player.get_attribute(name) for name in names]
    page.wait_for_timeout(400)
    page.reload()
    places(player)
    assert [player.get_attribute(name) for name in names] == before


def test_three_runs_on_paged_and_contiguous_memory_stand_side_by_side(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("last-block", ("paged", "max", "pow2"))
    player = show(page, tmp_path, blobs)
    page.keyboard.press("d")
    time = time_of(player)
    assert places(player)[1] == [trace.cut(time=time).crc() for trace in traces]
    expect(player.locator('.kv-memories [data-panel="blocks"]')).to_have_count(1)
    expect(player.locator('.kv-memories [data-panel="strips"]')).to_have_count(2)
    boxes = [box for panel in player.locator(".kv-memories .kv-panel").all() if (box := panel.bounding_box())]
    assert len({box["y"] for box in boxes}) == 1
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
    player.get_by_role("button", name="memory").click()
    expect(player.locator(".kv-memories")).to_be_hidden()


def test_equal_times_lie_above_each_other_while_it_plays(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs)
    page.keyboard.press(" ")
    expect(player).to_have_attribute("data-playing", "true")
    for _ in range(8):
        page.wait_for_timeout(120)
        time, frames = player.evaluate("root => [Number(root.dataset.time), root.dataset.frames]")
        expected = []
        for trace in traces:
            step = int((trace.times[:, 0] <= time).sum()) - 1
            inside = step >= 0 and time < trace.times[step, 1]
            expected.append(str(step) if inside else "start" if step < 0 else None)
        for shown, wanted in zip(frames.split("|"), expected, strict=True):
            assert wanted in (None, shown), (time, frames)
    page.keyboard.press(" ")
    stopped = time_of(player)
    assert stopped > 0
    page.wait_for_timeout(300)
    assert time_of(player) == stopped


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize(
    ("name", "names"), [("step-by-step", BATCHES), ("last-block", ("paged", "max", "pow2"))], ids=["two", "three"]
)
def test_nothing_overlaps_and_nothing_leaves_the_window(
    page: Page, tmp_path: Path, size: tuple[int, int], name: str, names: tuple[str, ...]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    player = show(page, tmp_path, comparison(name, names)[1], "f=2")
    wanted = (
        ".kv-title, .kv-switches, .kv-say, .kv-memories, .kv-pane-name, .kv-numbers dl div, .kv-flag, .kv-transport"
    )
    boxes = player.evaluate(
        """(root, wanted) => [...root.querySelectorAll(wanted)].filter(node => node.checkVisibility())
            .map(node => [node.className || node.textContent, node.getBoundingClientRect().toJSON()])""",
        wanted,
    )
    assert len(boxes) > 8
    for i, (one, a) in enumerate(boxes):
        assert a["left"] >= 0 and a["right"] <= size[0] + 0.5 and a["bottom"] <= size[1], one
        for other, b in boxes[i + 1 :]:
            apart = a["right"] <= b["left"] + 1 or b["right"] <= a["left"] + 1
            assert apart or a["bottom"] <= b["top"] + 1 or b["bottom"] <= a["top"] + 1, (one, other)


def test_lecture_mode_has_large_type_and_drops_what_a_hall_cannot_read(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    trace = run(catalogue.load()["four-samples"])
    player = show(page, tmp_path, [wire(trace, title="Four samples")], "f=2")
    page.keyboard.press("l")
    assert "kv-lecture" in (player.get_attribute("class") or "")
    for panel in ("queue", "inspector"):
        expect(player.locator(f'[data-panel="{panel}"]')).to_be_hidden()
    expect(player.locator('[data-panel="blocks"] .kv-heading span').first).to_be_hidden()
    for part, least in ((".kv-say p", 39), (".kv-title h1", 40), (".kv-metrics dd b", 80), (".kv-heading b", 30)):
        size = player.locator(part).first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
        assert size >= least, part
    page.keyboard.press("l")
    expect(player.locator('[data-panel="inspector"]')).to_be_visible()


def test_the_player_takes_the_focus_unless_somebody_is_typing(page: Page, tmp_path: Path) -> None:
    player = show(page, tmp_path, [wire(run(catalogue.load()["four-samples"]), title="Four samples")])
    expect(player).to_be_focused()
    page.keyboard.press("t")
    expect(player).to_have_attribute("data-clock", "time")
    page.set_content(harness())
    page.evaluate("document.body.prepend(document.createElement('input')); document.querySelector('input').focus()")
    page.evaluate("bytes => play(bytes, {})", list(comparison("step-by-step", BATCHES)[1][0]))
    expect(page.locator('.kv[data-ready="true"]')).to_be_visible()
    expect(page.locator("input").first).to_be_focused()


# runs that are still arriving


def harness() -> str:
    """A page with the player's code and a way in: play(bytes, options) gives it bytes; `RunFeed` and `Cursor` are seen."""
    return f"""<!doctype html><style>{stylesheet()}</style><main></main><script type="module">
{joined()}
window.play = (bytes, options) => {{ mount(document.querySelector("main"), [Uint8Array.from(bytes)], {{link: "", ...options}}); }};
window.hashesOf = async (pieces, events) => {{
  const feed = new RunFeed();
  for (const piece of pieces) await feed.push(Uint8Array.from(piece));
  const run = feed.finish().run();
  const cursor = new Cursor(run);
  return {{runId: run.runId, numEvents: run.numEvents, numSentences: run.sentences.event.length,
    hashes: events.map(event => {{ cursor.seek(event); return cursor.crc(); }})}};
}};
</script>"""


def pieces_of(blob: bytes, count: int, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    cuts = sorted(rng.sample(range(1, len(blob)), count - 1))
    return [list(blob[a:b]) for a, b in zip([0, *cuts], [*cuts, len(blob)], strict=True)]


def parts_of(blob: bytes) -> list[bytes]:
    """The container taken apart: the magic with the header, then part by part."""
    parts, at = [], 8
    while at < len(blob):
        size = 8 + int.from_bytes(blob[at + 4 : at + 8], "little")
        parts.append(blob[at : at + size])
        at += size
    return [blob[:8] + parts[0], *parts[1:]]


def cuts_of(trace: Trace, num_chunks: int, seed: int) -> list[int]:
    return sorted(random.Random(seed).sample(range(1, trace.num_events), num_chunks - 1))


def chunked(trace: Trace, num_chunks: int, seed: int) -> bytes:
    """The run cut into chunks at random events, the way a live run arrives."""
    cuts = cuts_of(trace, num_chunks, seed)

    class Cut(Trace):
        def even_cuts(self, rows_per_chunk: int = 400_000) -> list[int]:
            return cuts

    return wire(Cut.of(trace.header, trace.chunks()), title="cut")


@pytest.mark.parametrize(("name", "seed"), [("four-samples", 1), ("step-by-step", 2), ("last-block", 3)])
def test_a_run_in_fifty_random_pieces_is_the_run_at_once(page: Page, name: str, seed: int) -> None:
    trace = run(catalogue.load()[name])
    page.set_content(harness())
    events = sorted(random.Random(seed).sample(range(trace.num_events + 1), min(20, trace.num_events)))
    expected = [trace.cut(event=event).crc() for event in events]
    whole = wire(trace, title=name)
    for blob in (whole, chunked(trace, min(NUM_PIECES, trace.num_events), seed)):
        told = page.evaluate(
            "([pieces, events]) => hashesOf(pieces, events)", [pieces_of(blob, NUM_PIECES, seed), events]
        )
        assert told["hashes"] == expected
        assert (told["runId"], told["numEvents"]) == (trace.run_id, trace.num_events)


def test_a_run_without_an_end_is_still_running_and_is_followed(page: Page) -> None:
    trace = run(catalogue.load()["four-samples"])
    header, *chunks, end = parts_of(chunked(trace, 12, 5))
    page.set_content(harness())

    def feed(data: bytes) -> None:
        page.evaluate("bytes => play(bytes, {isFeed: true})", list(data))

    feed(header)
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_have_attribute("data-running", "true")
    events = []
    for chunk in chunks[:4]:
        feed(chunk)
        page.wait_for_timeout(100)
        events.append(int(player.get_attribute("data-event") or ""))
    assert events == sorted(set(events)), "it follows the end"
    so_far = Trace.of(trace.header, trace.chunks(cuts_of(trace, 12, 5))[:4])
    assert events[-1] == so_far.num_events
    assert int(player.get_attribute("data-hash") or "") == so_far.cut(event=events[-1]).crc()
    expect(player.locator(".kv-speed b")).to_have_text("FOLLOW")
    expect(player.locator(".kv-where b")).to_have_text("Still running")
    page.keyboard.press("ArrowLeft")
    stopped = player.get_attribute("data-event")
    for chunk in chunks[4:8]:
        feed(chunk)
        page.wait_for_timeout(60)
        assert player.get_attribute("data-event") == stopped
    page.keyboard.press("End")
    expect(player.locator(".kv-speed b")).to_have_text("FOLLOW")
    for chunk in chunks[8:]:
        feed(chunk)
    feed(end)
    expect(player).to_have_attribute("data-running", "false")
    expect(player).to_have_attribute("data-run", trace.run_id)
    expect(player).to_have_attribute("data-event", str(trace.num_events))
    expect(player).to_have_attribute("data-hash", str(trace.cut(event=trace.num_events).crc()))


def test_a_run_cut_off_in_the_middle_of_a_part_is_refused_in_one_sentence(page: Page) -> None:
    blob = comparison("step-by-step", BATCHES)[1][0]
    page.set_content(harness())
    page.evaluate("bytes => play(bytes, {})", list(blob[:-3]))
    player = page.locator(".kv[data-error]")
    expect(player).to_have_attribute("data-error", re.compile("cut off at byte"))


def test_c_copies_the_link_or_shows_it_for_copying(page: Page, tmp_path: Path) -> None:
    player = show(page, tmp_path, comparison("step-by-step", BATCHES)[1], "f=2&t=0.06")
    page.keyboard.press("c")
    address = page.get_by_role("textbox", name="Link")
    copied = player.locator(".kv-say", has_text="The link to this moment is copied")
    expect(address.or_(copied).first).to_be_visible()
    if address.is_visible():
        assert "t=0.06" in address.input_value()
        page.keyboard.press("Escape")
        expect(player).to_be_focused()


def test_d_says_when_the_runs_never_part(page: Page, tmp_path: Path) -> None:
    player = show(page, tmp_path, comparison("last-block", ("paged", "max"))[1], "f=2")
    before = places(player)
    page.keyboard.press("d")
    expect(player.locator(".kv-say")).to_contain_text("The runs are the same from beginning to end.")
    assert places(player) == before


def test_the_list_of_keys_names_every_key(page: Page, tmp_path: Path) -> None:
    player = show(page, tmp_path, comparison("step-by-step", BATCHES)[1])
    page.keyboard.press("?")
    listed = set(" ".join(player.locator(".kv-help dt").all_inner_texts()).split())
    table = joined().split("const KEYS = {")[1].split("};")[0]
    known = re.findall(r'^"?([^\s":]+)"?: (?:p|\(p, e\)) =>', table, re.MULTILINE)
    assert len(known) > 20
    names = {"ArrowRight": "→", "ArrowLeft": "←", "Escape": "Esc"}
    assert {names.get(key, key) for key in known} - listed == set()
