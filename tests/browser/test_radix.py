"""The radix tree of the player: its boxes stand where Python says, its colours tell what happens now, and it, the memory below
and the requests mark each other."""

import re

import pytest
from playwright.sync_api import Page, expect

from engine.trace.trace import Trace
from tests.browser import painted
from tests.browser.panel_runs import Open, facts, open_run
from tests.browser.radix_runs import TREE, alive, forty_words, middle
from viz.player.nodes import node_text
from viz.player.sentences import sentence_text

__all__ = ["open_run"]

EVICTING, STORED, LAST = "4", "5", 5


def node_of(trace: Trace, place: str, words: str) -> int:
    """The node in the tree that holds exactly these words at a place."""
    event = trace.parse_frame(place)
    (node,) = (node for node in alive(trace, place) if node_text(trace, node, event) == words)
    return node


def blocks_of(trace: Trace, place: str, node: int) -> list[int]:
    frame = trace.cut(event=trace.parse_frame(place)).tracks["nodes"]
    first, count = int(frame["first"][node]), int(frame["num_tokens"][node])
    return trace.tokens[first : first + count, 1].tolist()


def shows(
    page: Page, panel: str, points: list[tuple[float, float]], colour: painted.Colour, tolerance: int = 12
) -> bool:
    pixels = painted.pixels(painted.canvas(page, panel), points)
    return any(painted.is_like(pixel, colour, tolerance) for pixel in pixels)


@pytest.mark.parametrize("place", [str(step) for step in range(LAST + 1)])
def test_every_node_of_the_tree_has_a_box_right_of_its_parent(page: Page, open_run: Open, place: str) -> None:
    trace = forty_words()
    open_run(trace, place)
    parents, tree = alive(trace, place), page.locator(TREE)
    expect(tree).to_have_attribute("data-mode", "boxes")
    expect(tree).to_have_attribute("data-nodes", str(len(parents)))
    boxes = painted.boxes(tree, "n")
    assert parents.keys() <= boxes.keys()
    for node, parent in parents.items():
        if parent:
            assert boxes[node][0] > boxes[parent][2]
    for a in boxes:
        for b in boxes:
            assert (
                a == b
                or boxes[a][2] < boxes[b][0]
                or boxes[b][2] < boxes[a][0]
                or not (boxes[a][1] <= boxes[b][3] and boxes[b][1] <= boxes[a][3])
            )


def test_no_box_moves_in_any_step(page: Page, open_run: Open) -> None:
    trace = forty_words()
    root = open_run(trace, "0")
    places: dict[int, set[painted.Box]] = {}
    for _ in range(LAST + 2):
        page.wait_for_timeout(250)
        for node, box in painted.boxes(page.locator(TREE), "n").items():
            places.setdefault(node, set()).add(box)
        page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-event", str(trace.num_events))
    assert len(places) == 8
    assert all(len(seen) == 1 for seen in places.values()), places


def test_the_hit_path_is_yellow_in_the_tree_and_in_memory(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, EVICTING)
    examples = node_of(trace, EVICTING, "sea = mer ; sky = ciel ;")
    tree = page.locator(TREE)
    expect(tree).to_have_attribute("data-hit-path", str(examples))
    left, _, _, _ = painted.boxes(tree, "n")[examples]
    y = middle(painted.boxes(tree, "n")[examples])[1]
    now = painted.named("now")
    assert shows(page, "tree", [(left - x, y - dy) for x in range(1, 12) for dy in range(-5, 6)], now)
    grid = painted.boxes(painted.canvas(page, "blocks"), "b")
    hit = blocks_of(trace, EVICTING, examples)
    assert len(hit) == 8
    for block in range(40):
        x, _ = middle(grid[block])
        under = [(x, grid[block][1] + y) for y in range(48, 56)]
        above = [(x, grid[block][1] - dy) for dy in range(1, 7)]
        is_ringed = shows(page, "blocks", above, now)
        assert shows(page, "blocks", under, now) == (block in hit or is_ringed), block
    text = page.locator(".kv-say p").inner_text().replace("\n", " ")
    assert sentence_text(trace, trace.parse_frame("4.4")) == (
        "8 of 11 words are reused because few-shot 1 left them in the tree."
    )
    assert text == (
        "and who clears it the LRU rule is evicted because 2 more slots are needed than the 1 free one, "
        "and it was unused for longest."
    )


def test_a_split_is_marked_and_the_lower_half_keeps_its_place(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, "3")
    before = painted.boxes(page.locator(TREE), "n")
    open_run(trace, EVICTING)
    tree = page.locator(TREE)
    upper = node_of(trace, EVICTING, "sea = mer ; sky = ciel ;")
    lower = node_of(trace, EVICTING, "sun = soleil")
    expect(tree).to_have_attribute("data-split", str(upper))
    boxes = painted.boxes(tree, "n")
    assert all(boxes[node] == before[node] for node in before if node in boxes)
    _, top, right, _ = boxes[upper]
    now = painted.named("now")
    assert shows(page, "tree", [(right - x, top - y) for x in range(10, 60) for y in (6, 10)], now)
    assert shows(page, "tree", [(right + x, top + 5) for x in range(1, 6)], now)
    assert boxes[lower][0] > right


def test_a_padlock_counts_who_needs_the_path(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, STORED)
    examples = node_of(trace, STORED, "sea = mer ; sky = ciel ;")
    moon = node_of(trace, STORED, "moon = lune")
    tutor = node_of(trace, STORED, "You are a kind tutor")
    tree = page.locator(TREE)
    expect(tree).to_have_attribute("data-locked", f"{examples} {moon}")
    boxes = painted.boxes(tree, "n")
    white = painted.named("chip")
    for node, is_locked in ((examples, True), (tutor, False)):
        _, _, right, _ = boxes[node]
        y = middle(boxes[node])[1]
        assert shows(page, "tree", [(right - x, y - 7) for x in range(20, 60)], white, 4) == is_locked
    row = page.locator(f".kv-next [data-sel=n{moon}]")
    expect(row).to_contain_text("locked")
    assert row.evaluate("row => [...row.parentNode.children].indexOf(row)") == page.locator(".kv-next li").count() - 1


def test_next_to_go_is_the_order_in_which_leaves_are_evicted(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, "3")
    frame = trace.cut(event=trace.parse_frame("3")).tracks["nodes"]
    parents = alive(trace, "3")
    leaves = sorted((n for n in parents if n not in parents.values()), key=lambda n: int(frame["last_access"][n]))
    rows = page.locator(".kv-next li")
    assert [row.get_attribute("data-sel") for row in rows.all()] == [f"n{node}" for node in leaves]
    open_run(trace, EVICTING)
    expect(page.locator(TREE)).to_have_attribute("data-evicted", str(leaves[0]))


def test_an_evicted_node_fades_where_it_stood_and_is_gone_in_the_next_frame(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, "3")
    gone = node_of(trace, "3", "and who clears it the LRU rule")
    slots = blocks_of(trace, "3", gone)
    box = painted.boxes(page.locator(TREE), "n")[gone]
    assert shows(page, "tree", [(box[0] + 4, middle(box)[1])], painted.hue("A"))
    open_run(trace, EVICTING)
    tree = page.locator(TREE)
    expect(tree).to_have_attribute("data-evicted", str(gone))
    assert painted.boxes(tree, "n")[gone] == box
    assert shows(page, "tree", [(box[0] + 5, middle(box)[1] + 8)], painted.named("paper"))
    state = trace.cut(event=trace.parse_frame(EVICTING)).tracks["blocks"]["state"]
    free = [slot for slot in slots if not state[slot]]
    assert len(free) == 5
    grid = painted.boxes(painted.canvas(page, "blocks"), "b")
    for slot in free:
        _, top, right, _ = grid[slot]
        assert shows(
            page, "blocks", [(right - x, top + y) for x in range(4, 14) for y in range(4, 14)], painted.named("ink"), 60
        )
    page.keyboard.press("ArrowRight")
    expect(tree).to_have_attribute("data-evicted", "")
    page.wait_for_timeout(250)
    assert gone not in painted.boxes(tree, "n")


def test_memory_wears_the_hue_of_the_branch_and_a_tint_where_it_is_new(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, "3")
    grid = painted.boxes(painted.canvas(page, "blocks"), "b")
    tutor = node_of(trace, "3", "You are a kind tutor")
    below = {tutor} | {node for node, parent in alive(trace, "3").items() if parent == tutor}
    new = (page.locator(TREE).get_attribute("data-new") or "").split()
    assert len(below) == 3 and len(new) == 1
    for node in below:
        colour = painted.hue("A", "tint" if str(node) in new else "solid")
        for block in blocks_of(trace, "3", node):
            left, top, _, _ = grid[block]
            assert shows(page, "blocks", [(left + 4, top + 25)], colour), block


def test_a_node_a_slot_and_a_request_mark_each_other(page: Page, open_run: Open) -> None:
    trace = forty_words()
    root = open_run(trace, STORED)
    moon = node_of(trace, STORED, "moon = lune")
    (slot, *_) = blocks_of(trace, STORED, moon)
    tree, grid = painted.canvas(page, "tree"), painted.canvas(page, "blocks")
    row, request = page.locator(f".kv-next [data-sel=n{moon}]"), page.locator(".kv-say [data-sel=r4]")
    boxes = painted.boxes(tree, "n")
    painted.click(page, tree, boxes[moon])
    page.wait_for_url(re.compile(f"sel=n{moon}$"))
    page.mouse.move(5, 5)
    for marked in (row, request):
        expect(marked).to_have_class(re.compile("kv-selected"))
    assert facts(page)["Holds"] == "moon = lune"
    assert facts(page)["Readers"] == "few-shot 2"
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text(f"Node {moon}")
    root.focus()
    page.keyboard.press("Escape")
    expect(row).not_to_have_class(re.compile("kv-selected"))
    painted.click(page, grid, painted.boxes(grid, "b")[slot])
    page.wait_for_url(re.compile(f"sel=b{slot}$"))
    expect(row).to_have_class(re.compile("kv-selected"))
    request.click()
    page.wait_for_url(re.compile("sel=r4$"))
    page.mouse.move(5, 5)
    expect(row).to_have_class(re.compile("kv-selected"))
    examples = node_of(trace, STORED, "sea = mer ; sky = ciel ;")
    left, top, _, _ = boxes[examples]
    page.wait_for_timeout(100)
    assert shows(page, "tree", [(left + 60, top - y) for y in range(6)], painted.named("ink"), 40)


def test_the_pointer_on_a_node_rings_its_slots(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, "3")
    joke = node_of(trace, "3", "tell me a joke two bits walk in")
    tree, frame = painted.canvas(page, "tree"), painted.canvas(page, "tree").bounding_box()
    assert frame is not None
    x, y = middle(painted.boxes(tree, "n")[joke])
    page.mouse.move(frame["x"] + x, frame["y"] + y)
    expect(page.locator("[data-panel=inspector] .kv-heading")).to_contain_text("under the pointer")
    expect(page.locator(f".kv-next [data-sel=n{joke}]")).to_have_class(re.compile("kv-pointed"))
    grid = painted.boxes(painted.canvas(page, "blocks"), "b")
    mine = blocks_of(trace, "3", joke)
    for block in (mine[0], mine[-1]):
        above = [(middle(grid[block])[0], grid[block][1] - y) for y in range(6)]
        assert shows(page, "blocks", above, painted.named("ink"), 60)


def test_the_keyboard_walks_the_tree_and_says_what_is_there(page: Page, open_run: Open) -> None:
    trace = forty_words()
    open_run(trace, EVICTING, sel=f"n{node_of(trace, EVICTING, 'You are a kind tutor')}")
    page.locator(TREE).focus()
    live = page.locator(".kv-live")
    page.keyboard.press("Enter")
    expect(live).to_contain_text("“You are a kind tutor”: 5 tokens, locked by 0 running requests")
    page.keyboard.press("ArrowDown")
    expect(live).to_contain_text("“sea = mer ; sky = ciel ;”: 8 tokens, locked by 1 running request")
    page.keyboard.press("ArrowRight")
    expect(live).to_contain_text("“sun = soleil”")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"sel=n{node_of(trace, EVICTING, 'sun = soleil')}$"))
    expect(page.locator(TREE)).to_have_attribute("aria-label", "Radix tree: 5 nodes with 32 tokens")


def test_the_state_of_the_tree_is_that_of_python_in_every_frame(page: Page, open_run: Open) -> None:
    trace = forty_words()
    root = open_run(trace, "0")
    expect(root).to_have_attribute("data-parity", re.compile(r"^(\d+)/\1$"))
