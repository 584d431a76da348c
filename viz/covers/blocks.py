"""The KV blocks of one frame at the size of a card, those that changed ringed, copies with an arrow.

Of a larger pool the part is shown in which something happens: the blocks around a copy, else those up to the last one
in use. How large the cells are decides what they say, see `cell.py`; a pool of thousands is pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.trace.frame import Frame
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS
from viz.covers.cell import LARGE, SMALL, Cell, draw_free, draw_large, draw_small, draw_tiny
from viz.covers.people import DECODE, PREFILL, People
from viz.covers.pixels import draw_pixels
from viz.covers.svg import HEIGHT, MARGIN_X, MARGIN_Y, WIDTH, Box, Drawing

AROUND_COPY = 8
DOZEN = 12
MANY_BLOCKS = 2_000
CACHED = BLOCK_STATES.index("cached")


@dataclass(frozen=True, slots=True)
class Grid:
    """Where each block stands; `first` is the block in the upper left corner."""

    first: int
    columns: int
    width: float
    height: float
    gap_x: float
    gap_y: float
    left: float
    top: float

    def box(self, block: int) -> Box:
        row, column = divmod(block - self.first, self.columns)
        x = self.left + column * (self.width + self.gap_x)
        return x, self.top + row * (self.height + self.gap_y), self.width, self.height


def grid_of(shown: range) -> Grid:
    """The arrangement with the tallest cells and the fullest last row; large cells are a little wider than high."""
    room_x, room_y = WIDTH - 2 * MARGIN_X, HEIGHT - 2 * MARGIN_Y
    best = None
    for columns in range(1, len(shown) + 1):
        rows = -(-len(shown) // columns)
        is_roomy = rows <= 2 and columns <= 6
        gap_x, gap_y = (8, 20) if is_roomy else (2, 2)
        width = (room_x - (columns - 1) * gap_x) / columns
        height = min((room_y - (rows - 1) * gap_y) / rows, width)
        merit = height * len(shown) / (rows * columns)
        if best is None or merit > best[0]:
            best = (merit, height, columns, rows, width, gap_x, gap_y)
    assert best is not None
    _, height, columns, rows, width, gap_x, gap_y = best
    width = min(width, height * (1.3 if height >= LARGE else 1))
    left = (WIDTH - columns * width - (columns - 1) * gap_x) / 2
    top = (HEIGHT - rows * height - (rows - 1) * gap_y) / 2
    return Grid(shown.start, columns, width, height, gap_x, gap_y, left, top)


def draw_blocks(trace: Trace, event: int, before: int) -> Drawing:
    """The pool after `event`; what has changed since the event `before` is ringed."""
    drawing, frame = Drawing(), trace.cut(event=event)
    num_blocks = trace.header["pools"][0]["size"] or len(frame.tracks["blocks"]["state"])
    if num_blocks > MANY_BLOCKS:
        draw_pixels(drawing, trace, frame, num_blocks)
        return drawing
    earlier, copies = trace.cut(event=before), _copies(trace, event, before)
    shown = _shown(frame, num_blocks, copies)
    grid = grid_of(shown)
    draw = draw_large if grid.height >= LARGE else draw_small if grid.height >= SMALL else draw_tiny
    cells = {cell.block: cell for cell in _cells(trace, frame, earlier)}
    for block in shown:
        if block in cells:
            draw(drawing, grid.box(block), cells[block])
        else:
            draw_free(drawing, grid.box(block), block, draw is not draw_tiny)
    changed = [grid.box(block) for block in _changed(frame, earlier) if block in shown]
    drawing.rings(_joined(changed, grid.gap_x), 1 if draw is draw_large else 0.7, grid.width * 0.09)
    if draw is draw_large:
        for source, target in copies:
            if source in shown and target in shown:
                drawing.arrow(_arrow_between(grid, source, target))
    return drawing


def _shown(frame: Frame, num_blocks: int, copies: list[tuple[int, int]]) -> range:
    """The part of the pool that is drawn."""
    if num_blocks <= AROUND_COPY:
        return range(num_blocks)
    if copies and max(target for _, target in copies) - copies[0][0] < AROUND_COPY // 2 + 1:
        first = min(max(0, copies[0][0] - AROUND_COPY // 2 + 1), num_blocks - AROUND_COPY)
        return range(first, first + AROUND_COPY)
    last = int(np.flatnonzero(frame.tracks["blocks"]["state"][:num_blocks]).max(initial=0))
    return range(min(num_blocks, -(-(last + 2) // DOZEN) * DOZEN))


def _joined(boxes: list[Box], gap: float) -> list[Box]:
    """Boxes that follow each other in a row, made one each; those with room between them stay apart."""
    joined: list[Box] = []
    for x, y, w, h in boxes:
        before = joined[-1] if joined else None
        if before and before[1] == y and gap < 4 and x - (before[0] + before[2]) <= gap + 0.5:
            joined[-1] = (before[0], y, x + w - before[0], h)
        else:
            joined.append((x, y, w, h))
    return joined


def _cells(trace: Trace, frame: Frame, earlier: Frame) -> Iterator[Cell]:
    people, blocks = People(trace), frame.tracks["blocks"]
    status = frame.tracks["sequences"]["status"]
    readers: dict[int, list[int]] = {}
    for sequence in np.flatnonzero((status == PREFILL) | (status == DECODE)).tolist():
        for block in frame.table(sequence):
            readers.setdefault(block, []).append(sequence)
    copies = {target for _, target in _copies(trace, frame.event, earlier.event)}
    changed = set(_changed(frame, earlier))
    for block in np.flatnonzero(blocks["state"]).tolist():
        ref, owner, fill = (int(blocks[name][block]) for name in ("ref_count", "owner", "fill"))
        reading = readers.get(block, [])
        holder = reading[0] if reading else owner
        is_kept = blocks["state"][block] == CACHED
        grown = fill - int(earlier.tracks["blocks"]["fill"][block])
        yield Cell(
            block=block,
            name="kept"
            if is_kept
            else ""
            if holder < 0
            else people.request_name(holder)
            if ref > 1
            else people.name(holder),
            hue="K" if is_kept else "S" if ref > 1 else people.hues[holder] if holder >= 0 else "K",
            num_readers=ref,
            fill=fill,
            size=trace.header["block_size"],
            written=0 if block in changed else max(0, grown),
            is_copy=block in copies,
            readers=[people.hues[sequence] for sequence in reading],
            is_kept=bool(is_kept),
        )


def _changed(frame: Frame, earlier: Frame) -> list[int]:
    """Blocks that changed hands; growing does not count."""
    now, then = frame.tracks["blocks"], earlier.tracks["blocks"]
    different = np.zeros(len(now["state"]), bool)
    for name in ("state", "ref_count", "owner"):
        different |= now[name] != then[name]
    return [int(block) for block in np.flatnonzero(different)]


def _copies(trace: Trace, event: int, before: int) -> list[tuple[int, int]]:
    """(source, copy) of each copy-on-write after `before`, up to `event`."""
    happened = trace.happenings
    chosen = (happened["event"] > before) & (happened["event"] <= event)
    chosen &= happened["kind"] == HAPPENINGS.index("copied")
    return list(zip(happened["block"][chosen].tolist(), happened["target"][chosen].tolist(), strict=True))


def _arrow_between(grid: Grid, source: int, target: int) -> list[tuple[float, float]]:
    """Out of the source, along the gutter, into the copy."""
    (sx, sy, w, h), (tx, ty, _, _) = grid.box(source), grid.box(target)
    start, end = sx + w * 0.32, tx + w * 0.6
    if sy == ty:
        lane = sy - 11 if sy > grid.top else sy + h + 11
        edge = sy if sy > grid.top else sy + h
        return [(start, edge), (start, lane), (end, lane), (end, edge)]
    down = ty > sy
    lane = (sy + h + ty) / 2 if down else (ty + h + sy) / 2
    return [(start, sy + h if down else sy), (start, lane), (end, lane), (end, ty if down else ty + h)]
