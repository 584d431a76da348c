"""Runs that arrive piece by piece, cut anywhere: the run at once is the run in pieces, and one without an end is followed."""

import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from tests.browser.compared_runs import BATCHES, comparison, show
from tests.browser.page_time import pass_time
from viz.player.script import joined, stylesheet
from viz.player.wire import wire
from viz.player.words import labels

NUM_PIECES = 50


def harness() -> str:
    """A page with the player's code and a way in: play(bytes, options) gives it bytes; `RunFeed` and `Cursor` are seen."""
    return f"""<!doctype html><style>{stylesheet()}</style><main></main><script type="module">
{joined()}
const words = {json.dumps(labels("en"))};
learn(words.vocabulary);
window.play = (bytes, options) => {{ window.leave = mount(document.querySelector("main"), [Uint8Array.from(bytes)], {{link: "", words, ...options}}); }};
const arriving = new RunFeed();
window.rowsOf = async piece => {{
  await arriving.push(Uint8Array.from(piece));
  const {{tree}} = arriving.run(), {{order, row}} = tree.layout(0, 999);
  return JSON.stringify(Object.fromEntries(order.map(n => [n, row[n]])));
}};
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
    cuts = cuts_of(trace, 12, 5)
    for chunk, end_of_chunk in zip(chunks[:4], cuts, strict=False):
        feed(chunk)
        expect(player, "it follows the end").to_have_attribute("data-event", str(end_of_chunk))
    so_far = Trace.of(trace.header, trace.chunks(cuts)[:4])
    expect(player).to_have_attribute("data-hash", str(so_far.cut(event=cuts[3]).crc()))
    expect(player.locator(".kv-speed b")).to_have_text("FOLLOW")
    expect(player.locator(".kv-where b")).to_have_text("Up to now")
    page.keyboard.press("ArrowLeft")
    stopped = player.get_attribute("data-event")
    for chunk in chunks[4:8]:
        feed(chunk)
        pass_time(page, 60)
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


def test_a_followed_run_keeps_its_player_when_its_parent_is_put_up_anew(page: Page) -> None:
    """Streamlit does that when a part of a page that runs by itself is drawn right after the whole page."""
    trace = run(catalogue.load()["four-samples"])
    header, *chunks, _ = parts_of(chunked(trace, 12, 5))
    page.set_content(harness())

    def feed(data: bytes) -> None:
        page.evaluate("bytes => play(bytes, {isFeed: true, name: 'live'})", list(data))

    cuts = cuts_of(trace, 12, 5)
    feed(header + chunks[0] + chunks[1])
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_have_attribute("data-event", str(cuts[1]))
    page.keyboard.press("ArrowLeft")
    stopped = player.get_attribute("data-event") or ""
    assert int(stopped) < cuts[1]
    page.evaluate("document.querySelector('main').replaceWith(document.createElement('main')); leave()")
    feed(chunks[2])
    expect(player).to_have_attribute("data-event", stopped)
    pass_time(page, 2500)
    expect(player, "who comes back in time is not closed").to_have_attribute("data-event", stopped)
    page.keyboard.press("End")
    expect(player).to_have_attribute("data-event", str(cuts[2]))
    page.evaluate("document.querySelector('main').replaceWith(document.createElement('main')); leave()")
    pass_time(page, 2500)
    feed(header)
    expect(player, "who does not begins anew").to_have_attribute("data-event", "0")


def test_a_run_cut_off_in_the_middle_of_a_part_is_refused_in_one_sentence(page: Page) -> None:
    blob = comparison("step-by-step", BATCHES)[1][0]
    page.set_content(harness())
    page.evaluate("bytes => play(bytes, {})", list(blob[:-3]))
    player = page.locator(".kv[data-error]")
    expect(player).to_have_attribute("data-error", re.compile("cut off at byte"))


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
