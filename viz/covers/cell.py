"""One KV block on a card: large with name and slots, small with a number, or tiny.

The same square as in the player: solid is full, tinted with slots is being written, stripes and a count mean more than
one reader, an outline is free, dashes are kept by nobody, a dot is a copy, slots written in this frame are yellow.
"""

from dataclasses import dataclass, field

from viz.covers.svg import Box, Drawing, width_of

LARGE, SMALL = 42, 15
"""Heights in pixels from which a cell has name and slots, and from which it has a number."""
MAX_READERS = 6
MAX_SLOTS = 16


@dataclass(frozen=True, slots=True)
class Cell:
    """What there is to say about one block that is in use."""

    block: int
    name: str
    hue: str
    num_readers: int
    fill: int
    size: int
    written: int = 0
    is_copy: bool = False
    was: str = ""
    readers: list[str] = field(default_factory=list)
    is_kept: bool = False
    """By a prefix cache or a radix tree; nobody reads it."""

    @property
    def is_shared(self) -> bool:
        return self.num_readers > 1

    @property
    def is_full(self) -> bool:
        """Whether the body is solid."""
        return self.fill >= self.size and not self.is_kept


def _body(drawing: Drawing, box: Box, cell: Cell, radius: float) -> None:
    x, y, w, h = box
    if cell.is_kept:
        drawing.rect((x + 0.7, y + 0.7, w - 1.4, h - 1.4), "kept K", radius)
    elif cell.is_full:
        drawing.rect(box, f"solid {cell.hue}", radius)
    else:
        drawing.rect((x + 1, y + 1, w - 2, h - 2), f"open {cell.hue}", radius)
    if cell.is_shared:
        drawing.pattern(box if cell.is_full else (x + 2, y + 2, w - 4, h - 4), "stripes", radius)


def draw_large(drawing: Drawing, box: Box, cell: Cell) -> None:
    """Readers at the left edge, id, name, count, slots."""
    x, y, w, h = box
    _body(drawing, box, cell, w * 0.09)
    ground = f"solid {cell.hue}" if cell.is_full else "paper"
    ink = f"on {cell.hue}" if cell.is_full else "ink"
    left = x + 8
    if cell.is_shared:
        left += 6
        drawing.rect((x + 1, y + 1, 9, h - 2), ground, 2)
        bars = cell.readers if 0 < len(cell.readers) <= MAX_READERS else ["K"]
        length = (h - 4 - (len(bars) - 1) * 2) / len(bars)
        for i, hue in enumerate(bars):
            drawing.rect((x + 2, y + 2 + i * (length + 2), 6, length), f"solid {hue}", 1)
        for baseline in (y + h * 0.32, y + h * 0.7):
            drawing.rect((left - 3, baseline - 11, 16, 14), ground, 2)
    drawing.text(left, y + h * 0.32, str(cell.block), 11.5, ink)
    drawing.text(left, y + h * 0.7, cell.name, 15, ink, bold=True, most=w - 14)
    if cell.is_shared:
        count = f"×{cell.num_readers}"
        wide = width_of(count, 12) + 6
        drawing.rect((x + w - wide - 3, y + 3, wide, 15), "chip", 4)
        drawing.text(x + w - 3 - wide / 2, y + 15, count, 12, anchor="middle", bold=True)
    elif cell.is_copy:
        drawing.disc(x + w - 10, y + 10, 4, ink)
    if not cell.is_full:
        _slots(drawing, (left, y + h - 11, x + w - left - 6, 5.5), cell)


def _slots(drawing: Drawing, box: Box, cell: Cell) -> None:
    x, y, w, h = box
    if cell.size > MAX_SLOTS:
        drawing.rect(box, f"slot {cell.hue}")
        drawing.rect((x, y, w * cell.fill / cell.size, h), f"solid {cell.hue}")
        return
    pitch = w / cell.size
    for i in range(cell.size):
        is_new = cell.fill - cell.written <= i < cell.fill
        look = "written" if is_new else f"solid {cell.hue}" if i < cell.fill else f"slot {cell.hue}"
        drawing.rect((x + i * pitch, y - is_new, pitch * 0.78, h + 2 * is_new), look)


def draw_small(drawing: Drawing, box: Box, cell: Cell) -> None:
    """The number of the block or of its readers, and how full it is."""
    x, y, w, h = box
    size = max(11.0, min(15.0, h * 0.45))
    _body(drawing, box, cell, w * 0.12)
    if not (cell.is_full or cell.is_kept):
        bar = max(3.0, h * 0.14)
        drawing.rect((x + 3.5, y + h - bar - 3, (w - 7) * cell.fill / cell.size, bar), f"solid {cell.hue}")
    label = f"×{cell.num_readers}" if cell.is_shared else str(cell.block)
    baseline = y + h * 0.5 + size * (0.36 if cell.is_full else 0.24)
    if cell.is_shared:
        wide = width_of(label, size) + 3
        plate = (x + (w - wide) / 2, baseline - size * 0.86, wide, size * 1.08)
        drawing.rect(plate, f"solid {cell.hue}" if cell.is_full else "paper", 2)
    look = f"on {cell.hue}" if cell.is_full else "ink"
    drawing.text(x + w / 2, baseline, label, size, look, anchor="middle", bold=True, most=w)


def draw_tiny(drawing: Drawing, box: Box, cell: Cell) -> None:
    drawing.rect(box, "kept K" if cell.is_kept else f"solid {cell.hue}" if cell.is_full else f"open {cell.hue}")


def draw_free(drawing: Drawing, box: Box, block: int, has_number: bool) -> None:
    x, y, w, h = box
    drawing.rect((x + 0.7, y + 0.7, w - 1.4, h - 1.4), "free", w * 0.09)
    if not has_number:
        return
    if h >= LARGE:
        drawing.text(x + 8, y + h * 0.32, str(block), 11.5, "ink-3")
    else:
        size = max(10.5, min(14.0, h * 0.42))
        drawing.text(x + w / 2, y + h / 2 + size * 0.36, str(block), size, "ink-3", anchor="middle", most=w)
