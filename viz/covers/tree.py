"""The radix tree in one frame: root left, a column for each depth, a box for each node in the hue of its branch.

Rows go to leaves in order of creation, parents stand midway. A node that others have locked has a dark edge; what is new
since the frame before is ringed. A tree of more leaves than there are rows shows the first ones and says how many more.
"""

from engine.trace.trace import Trace
from engine.trace.tree import TreeNode, text_of, tree_at
from viz.covers.svg import HEIGHT, MARGIN_X, MARGIN_Y, WIDTH, Box, Drawing, width_of

MAX_ROWS = 5
MAX_COLUMNS = 4
HUES = "ABCDE"
ROOT = 5
GAP = 14
SIZE = 11


def draw_tree(trace: Trace, event: int, before: int) -> Drawing:
    """The nodes after `event`; those that are new since the event `before` are ringed."""
    drawing, nodes = Drawing(), tree_at(trace, event)
    children: dict[int, list[int]] = {}
    for number, node in nodes.items():
        children.setdefault(node.parent, []).append(number)
    boxes = _boxes(children)
    start = (MARGIN_X + ROOT, HEIGHT / 2)
    for number, (x, y, _, h) in boxes.items():
        parent = boxes.get(nodes[number].parent)
        from_x, from_y = start if parent is None else (parent[0] + parent[2], parent[1] + parent[3] / 2)
        middle, to_y = (from_x + x) / 2, y + h / 2
        drawing.path(
            f"M{from_x:.1f} {from_y:.1f}C{middle:.1f} {from_y:.1f} {middle:.1f} {to_y:.1f} {x:.1f} {to_y:.1f}", "branch"
        )
    drawing.disc(*start, ROOT, "ink")
    hues = {top: HUES[i % len(HUES)] for i, top in enumerate(children.get(0, []))}
    for number, box in boxes.items():
        _node(drawing, box, nodes[number], hues[_top(nodes, number)], text_of(trace.header, nodes[number].tokens))
    drawing.rings([boxes[number] for number in boxes.keys() - tree_at(trace, before).keys()], 0.8, 4)
    hidden = len(nodes) - len(boxes)
    if hidden:
        drawing.text(WIDTH - MARGIN_X, HEIGHT - 5, f"+{hidden}", SIZE, "ink-2", anchor="end")
    return drawing


def _boxes(children: dict[int, list[int]]) -> dict[int, Box]:
    """Node number -> its box; only the first rows and columns have room."""
    rows: dict[int, float] = {}
    depths: dict[int, int] = {}
    num_leaves = 0

    def place(number: int, depth: int) -> float | None:
        nonlocal num_leaves
        inner = children.get(number, []) if depth < MAX_COLUMNS else []
        below = [row for child in inner if (row := place(child, depth + 1)) is not None]
        if not below:
            if num_leaves == MAX_ROWS:
                return None
            below = [float(num_leaves)]
            num_leaves += 1
        rows[number], depths[number] = (below[0] + below[-1]) / 2, depth
        return rows[number]

    for top in children.get(0, []):
        place(top, 1)
    if not rows:
        return {}
    columns = max(depths.values())
    left = MARGIN_X + 2 * ROOT + GAP
    width = (WIDTH - MARGIN_X - left - GAP * (columns - 1)) / columns
    pitch = (HEIGHT - 2 * MARGIN_Y) / num_leaves
    height = min(26.0, pitch - 5)
    return {
        number: (
            left + (depths[number] - 1) * (width + GAP),
            MARGIN_Y + (row + 0.5) * pitch - height / 2,
            width,
            height,
        )
        for number, row in rows.items()
    }


def _top(nodes: dict[int, TreeNode], number: int) -> int:
    while nodes[number].parent:
        number = nodes[number].parent
    return number


def _node(drawing: Drawing, box: Box, node: TreeNode, hue: str, text: str) -> None:
    x, y, w, h = box
    drawing.rect(box, f"solid {hue}", 4)
    if node.lock_ref:
        drawing.rect((x + 1, y + 1, w - 2, h - 2), "lock", 3)
    words = text if any(letter.isalpha() for letter in text) else f"{len(node.tokens):,}"
    cut = (words if end == len(words) else f"{words[:end].rstrip()}…" for end in range(len(words), 0, -1))
    fitting = next((part for part in cut if width_of(part, SIZE) <= w - 10), "")
    drawing.text(x + 6, y + h / 2 + SIZE * 0.36, fitting, SIZE, f"on {hue}", bold=True)
