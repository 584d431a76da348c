"""The lecture steps of two chats and two questions in a memory of 40 words: at each of them the tree and the memory show the
split, the padlocks, the hit path, the eviction that its sentence tells, as an attribute and in pixels, and mark each other.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from tests.browser import painted
from tests.browser.panel_runs import facts
from tests.browser.player_page import player_page
from tests.browser.radix_runs import TREE, alive, middle
from viz.player.nodes import node_text
from viz.player.wire import wire

SCENARIO = catalogue.load()["two-chats-two-shots"]
PATIENCE = 60_000

TUTOR, QUESTION, SMALL = "You are a kind tutor", "what is a cache", "a small fast"
CLEARS, RULE = "store and who clears it", "the rule least recently"
JOKE, BITS = "tell me a joke", "two bits walk into a"
EXAMPLES, SUN = "sea = mer ; sky = ciel ;", "sun ="


class Shown(NamedTuple):
    """What a lecture step shows: nodes by their words, padlocks with their counts, the words of `in_tree` all nodes."""

    frame: str
    in_tree: tuple[str, ...]
    locks: dict[str, int]
    hit: tuple[str, ...] = ()
    split: str = ""
    evicted: str = ""


PARTED = (TUTOR, QUESTION, SMALL, CLEARS)
FULL = (*PARTED, RULE, JOKE, BITS)
KEPT = (TUTOR, QUESTION, SMALL, JOKE, BITS, EXAMPLES, SUN)
STEPS = (
    Shown("4.2", (f"{TUTOR} {QUESTION}", SMALL), {f"{TUTOR} {QUESTION}": 1, SMALL: 1}, (f"{TUTOR} {QUESTION}", SMALL)),
    Shown("6.3", PARTED, dict.fromkeys(PARTED, 1), split=TUTOR),
    Shown("6.4", PARTED, {TUTOR: 2, QUESTION: 1, SMALL: 1, CLEARS: 1}, (TUTOR,)),
    Shown("12", FULL, {}),
    Shown("13.3", (*KEPT, CLEARS), {}, evicted=RULE),
    Shown("13.4", KEPT, {}, evicted=CLEARS),
    Shown("13.5", KEPT, {EXAMPLES: 1}, (EXAMPLES,)),
)


@cache
def trace_of() -> Trace:
    return run(SCENARIO)


def nodes_at(shown: Shown) -> dict[str, int]:
    """Words -> node: all that are in the tree, and the one that is just leaving it."""
    trace, event = trace_of(), trace_of().parse_frame(shown.frame)
    found = {node_text(trace, node, event): node for node in alive(trace, shown.frame)}
    if shown.evicted:
        found |= {
            node_text(trace, node, event - 1): node
            for node in alive(trace, f"{shown.frame[:-1]}{int(shown.frame[-1]) - 1}")
            if node not in found.values()
        }
    return found


def slots_of(shown: Shown, words: str) -> list[int]:
    """The blocks that hold the words of a node (one word a block), or held them until now."""
    trace = trace_of()
    event = trace.parse_frame(shown.frame) - (words == shown.evicted)
    frame, node = trace.cut(event=event).tracks["nodes"], nodes_at(shown)[words]
    first, count = int(frame["first"][node]), int(frame["num_tokens"][node])
    return trace.tokens[first : first + count, 1].tolist()


def expect_step(tree: Locator, shown: Shown) -> None:
    nodes = nodes_at(shown)
    gone = {shown.evicted} - {""}
    assert set(nodes) == {*shown.in_tree} | gone
    expect(tree).to_have_attribute("data-nodes", str(len(shown.in_tree)))
    for name, words in (("split", [shown.split]), ("evicted", [shown.evicted])):
        expect(tree).to_have_attribute(f"data-{name}", " ".join(str(nodes[w]) for w in words if w))
    assert numbers(tree, "hit-path") == {nodes[words] for words in shown.hit}
    assert numbers(tree, "locked") == {nodes[words] for words in shown.locks}


def numbers(tree: Locator, name: str) -> set[int]:
    return set(map(int, (tree.get_attribute(f"data-{name}") or "").split()))


def shows(
    page: Page, panel: str, points: list[tuple[float, float]], colour: painted.Colour, tolerance: int = 12
) -> bool:
    pixels = painted.pixels(painted.canvas(page, panel), points)
    return any(painted.is_like(pixel, colour, tolerance) for pixel in pixels)


def has_plate(page: Page, box: painted.Box) -> bool:
    """Whether a box of the tree has the light plate of a padlock at its right: wider than any stroke of a letter."""
    points = [(box[2] - x, middle(box)[1] - 7) for x in range(20, 60)]
    light = [
        painted.is_like(pixel, painted.named("chip"), 4)
        for pixel in painted.pixels(painted.canvas(page, "tree"), points)
    ]
    return any(all(light[i : i + 12]) for i in range(len(light) - 11))


@pytest.fixture
def lecture(page: Page, tmp_path: Path) -> Locator:
    """The player with the run and its lecture steps, at the first frame."""
    path = tmp_path / "lecture.html"
    blob = wire(trace_of(), title=SCENARIO.title["en"], bookmarks=SCENARIO.bookmarks)
    path.write_text(player_page([blob]), encoding="utf-8")
    page.goto(f"{path.as_uri()}#f=0")
    root = page.locator('.kv[data-ready="true"]')
    expect(root).to_have_attribute("data-hash", re.compile(r"\d"))
    return root


def go(page: Page, root: Locator, number: int) -> tuple[Shown, dict[int, painted.Box]]:
    """To a lecture step by its number on the line below; the boxes of the tree there."""
    shown = STEPS[number - 1]
    page.locator(f'[data-bookmark="{number}"]').click()
    expect(root).to_have_attribute("data-event", str(trace_of().parse_frame(shown.frame)))
    expect_step(page.locator(TREE), shown)
    page.mouse.move(5, 5)
    page.wait_for_timeout(250)
    return shown, painted.boxes(page.locator(TREE), "n")


def test_the_lecture_steps_lead_through_split_locks_hits_and_evictions_on_the_stage(page: Page, app_url: str) -> None:
    trace = trace_of()
    page.goto(f"{app_url}/stage?scenario={SCENARIO.name}&f=0")
    root = page.locator(f'.kv[data-ready="true"][data-run="{trace.run_id}"]')
    expect(root).to_have_attribute("data-event", str(trace.parse_frame("0")), timeout=PATIENCE)
    root.focus()
    expect(page.locator("[data-bookmark]")).to_have_count(len(STEPS))
    for key, steps in (("PageDown", STEPS), ("PageUp", STEPS[-2::-1])):
        for shown in steps:
            page.keyboard.press(key)
            event = trace.parse_frame(shown.frame)
            expect(root).to_have_attribute("data-event", str(event))
            expect(root).to_have_attribute("data-hash", str(trace.cut(event=event).crc()))
            expect_step(page.locator(TREE), shown)
    page.wait_for_url(re.compile(r"f=4\.2$"))


@pytest.mark.parametrize("number", range(1, len(STEPS) + 1))
def test_a_lecture_step_paints_what_it_tells(page: Page, lecture: Locator, number: int) -> None:
    shown, boxes = go(page, lecture, number)
    now, paper = painted.named("now"), painted.named("paper")
    grid = painted.boxes(painted.canvas(page, "blocks"), "b")
    ringed = numbers(page.locator(TREE), "new") | numbers(page.locator(TREE), "evicted")
    for words, node in nodes_at(shown).items():
        left, top, right, bottom = boxes[node]
        y = middle(boxes[node])[1]
        gone = words == shown.evicted
        assert shows(page, "tree", [(left + 5, y + 8)], paper) == gone, f"{words} leaves"
        for slot in slots_of(shown, words) if gone else ():
            _, over, end, _ = grid[slot]
            corner = [(end - x, over + dy) for x in range(4, 14) for dy in range(4, 14)]
            assert shows(page, "blocks", corner, painted.named("ink"), 60), f"slot {slot} of {words} is free again"
        if node in ringed:
            continue
        edge = [(left - x, y - dy) for x in range(1, 12) for dy in range(-5, 6)]
        assert shows(page, "tree", edge, now) == (words in shown.hit), f"hit path to {words}"
        assert has_plate(page, boxes[node]) == (words in shown.locks), f"padlock of {words}"
        cut = [(right + x, dy) for x in range(1, 6) for dy in (top + 5, bottom - 5)]
        assert shows(page, "tree", cut, now) == (words == shown.split), f"split after {words}"


def test_two_chats_count_two_locks_on_the_system_prompt(page: Page, lecture: Locator) -> None:
    go(page, lecture, 3)
    lecture.focus()
    tree = page.locator(TREE)
    tree.focus()
    page.keyboard.press("Enter")
    spoken = page.locator(".kv-live")
    expect(spoken).to_contain_text(f"“{TUTOR}”: 5 tokens, locked by 2 running requests")
    page.keyboard.press("ArrowRight")
    expect(spoken).to_contain_text(f"“{QUESTION}”: 4 tokens, locked by 1 running request")


@pytest.mark.parametrize(
    ("number", "words", "readers"),
    [
        (1, SMALL, {"chat 1 again"}),
        (2, TUTOR, {"chat 1 again"}),
        (3, TUTOR, {"chat 1 again", "chat 2"}),
        (3, CLEARS, {"chat 1 again"}),
        (4, JOKE, set()),
        (5, CLEARS, set()),
        (6, JOKE, set()),
        (7, EXAMPLES, {"few-shot 2"}),
    ],
)
def test_a_node_marks_its_slots_and_requests_and_each_of_them_marks_the_node(
    page: Page, lecture: Locator, number: int, words: str, readers: set[str]
) -> None:
    shown, boxes = go(page, lecture, number)
    node, slots = nodes_at(shown)[words], slots_of(shown, words)
    tree, blocks = painted.canvas(page, "tree"), painted.canvas(page, "blocks")
    grid, ink = painted.boxes(blocks, "b"), painted.named("ink")
    requests = {f"r{r}" for r, request in enumerate(trace_of().requests) if request["id"] in readers}

    def selected(kind: str, number: int) -> None:
        page.wait_for_url(re.compile(f"sel={kind}{number}$"))
        page.mouse.move(5, 5)
        page.wait_for_timeout(150)

    def node_is_marked() -> bool:
        left, top, _, _ = painted.boxes(tree, "n")[node]
        return shows(page, "tree", [(left + 60, top - y) for y in range(6)], ink, 40)

    def is_marked(slot: int) -> bool:
        x, top = middle(grid[slot])[0], grid[slot][1]
        return shows(page, "blocks", [(x, top - y) for y in range(1, 10)], ink)

    painted.click(page, tree, boxes[node])
    selected("n", node)
    assert node_is_marked() and is_marked(slots[0]) and is_marked(slots[-1])
    assert facts(page)["Readers"] == (", ".join(sorted(readers)) or "nobody")
    lecture.focus()
    page.keyboard.press("Escape")
    page.wait_for_timeout(150)
    assert not node_is_marked() and not is_marked(slots[0])

    painted.click(page, blocks, grid[slots[-1]])
    selected("b", slots[-1])
    assert node_is_marked()
    page.locator("[data-panel=tree] .kv-key").click()
    rows = page.locator("[data-panel=timeline] [data-sel^=r]")
    expect(rows).to_have_count(len(trace_of().requests))
    chosen = [
        row.get_attribute("data-sel") for row in rows.all() if "kv-selected" in (row.get_attribute("class") or "")
    ]
    assert set(chosen) == requests
    for name in sorted(requests):
        page.locator(f"[data-panel=timeline] [data-sel={name}]").click()
        selected("r", int(name[1:]))
        assert node_is_marked()
