"""Two or three runs on one clock: every pane shows the same moment, the first difference is one key away."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.compared_runs import BATCHES, comparison, places, show, time_of
from tests.browser.page_time import pass_time


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


def test_d_says_when_the_runs_never_part(page: Page, tmp_path: Path) -> None:
    player = show(page, tmp_path, comparison("last-block", ("paged", "max"))[1], "f=2")
    before = places(player)
    page.keyboard.press("d")
    expect(player.locator(".kv-say")).to_contain_text("The runs schedule the same tokens from beginning to end.")
    assert places(player) == before


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
    pass_time(page, 400)
    page.reload()
    places(player)
    assert [player.get_attribute(name) for name in names] == before


@pytest.mark.parametrize(
    "place", ["pane=x", "pane=NaN", "pane=1.5", "pane=3", "lead=1.5", "lead=x", "lead=9", "pane=0&lead=-1"]
)
def test_a_pane_that_does_not_exist_means_all_of_them(page: Page, tmp_path: Path, place: str) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs, f"f=1&{place}")
    expect(player).to_have_attribute("data-pane", "0")
    expect(player).to_have_attribute("data-event", str(traces[0].cut(step=1, at="scheduled").event))


@pytest.mark.parametrize("place", ["pane=x", "pane=NaN", "pane=0.5", "lead=1.5"])
def test_a_single_run_is_shown_whatever_pane_a_link_names(page: Page, tmp_path: Path, place: str) -> None:
    (trace, _), (blob, _) = comparison("step-by-step", BATCHES, "steps")
    player = show(page, tmp_path, [blob], f"f=1&{place}")
    expect(player).to_have_attribute("data-hash", str(trace.cut(step=1, at="scheduled").crc()))


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


def test_equal_times_lie_above_each_other_while_it_plays(page: Page, tmp_path: Path) -> None:
    traces, blobs = comparison("step-by-step", BATCHES)
    player = show(page, tmp_path, blobs)
    page.keyboard.press(" ")
    expect(player).to_have_attribute("data-playing", "true")
    for _ in range(8):
        pass_time(page, 120)
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
    pass_time(page, 300)
    assert time_of(player) == stopped
