"""Contiguous memory in one frame: a strip for each sequence on a few lines of slots, with the three kinds of waste.

Solid holds tokens, stripes on a tint are reserved and will be used, dots never will be, a dashed box is a hole between
the strips. What will be used is known because the run is complete.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.trace.frame import Frame
from engine.trace.trace import Trace
from viz.covers.people import People
from viz.covers.svg import HEIGHT, MARGIN_X, WIDTH, Box, Drawing, width_of

MAX_LINES = 4
LINE = 30
GAP = 10


@dataclass(frozen=True, slots=True)
class Strip:
    """Slots [start, start + size) of a sequence: `used` hold tokens now, `end` will in the end."""

    sequence: int
    start: int
    size: int
    used: int
    end: int


@dataclass(frozen=True, slots=True)
class Lines:
    """The slots of the pool, broken into lines of `slots` each."""

    slots: int
    top: float

    def boxes(self, start: int, size: int) -> list[Box]:
        """The parts of a range of slots, line by line."""
        found, scale = [], (WIDTH - 2 * MARGIN_X) / self.slots
        while size > 0:
            line, offset = divmod(start, self.slots)
            part = min(size, self.slots - offset)
            found.append((MARGIN_X + offset * scale, self.top + line * (LINE + GAP), part * scale, float(LINE)))
            start, size = start + part, size - part
        return found


def draw_strips(trace: Trace, event: int, before: int) -> Drawing:
    """The slots after `event`; strips that are new since the event `before` are ringed."""
    drawing, people, frame = Drawing(), People(trace), trace.cut(event=event)
    strips = list(strips_of(trace, frame))
    total = trace.header["pools"][0]["size"] or max(strip.start + strip.size for strip in strips)
    lines = _lines(total, trace.header["settings"].get("max_model_len"))
    for start, size in holes(strips, total):
        for box in lines.boxes(start, size):
            drawing.pattern(box, "dots")
            drawing.rect((box[0] + 0.6, box[1] + 0.6, max(0, box[2] - 1.2), box[3] - 1.2), "idle")
    for strip in strips:
        _strip(drawing, lines, strip, people.hues[strip.sequence], people.name(strip.sequence))
    earlier = trace.cut(event=before).tracks["strips"]["start"]
    new = [strip for strip in strips if earlier[strip.sequence] != strip.start]
    drawing.rings([box for strip in new for box in lines.boxes(strip.start, strip.size)], 0.8)
    return drawing


def strips_of(trace: Trace, frame: Frame) -> Iterator[Strip]:
    """The strips of a frame by their place in memory."""
    now = frame.tracks["strips"]
    for sequence in sorted(np.flatnonzero(now["start"] >= 0).tolist(), key=lambda s: int(now["start"][s])):
        start, size = int(now["start"][sequence]), int(now["size"][sequence])
        used = min(int(now["used"][sequence]), size)
        last = trace.cut(event=_last_event(trace, sequence, frame.event)).tracks["strips"]["used"][sequence]
        yield Strip(sequence, start, size, used, max(used, min(int(last), size)))


def holes(strips: list[Strip], total: int) -> Iterator[tuple[int, int]]:
    """(start, size) of each range of slots that belongs to nobody."""
    at = 0
    for strip in strips:
        if strip.start > at:
            yield at, strip.start - at
        at = strip.start + strip.size
    if total > at:
        yield at, total - at


def _last_event(trace: Trace, sequence: int, event: int) -> int:
    """The event before the one that takes the strip away."""
    rows = trace.tracks["strips"].columns
    later = (rows["key"] == sequence) & (rows["event"] > event) & (rows["start"] < 0)
    return int(rows["event"][later][0]) - 1 if later.any() else trace.num_events


def _lines(total: int, whole: int | None) -> Lines:
    """One line for a full reservation where there are a few of them, else as few lines as look well."""
    slots = whole if whole and total / MAX_LINES <= whole < total else -(-total // 3)
    count = -(-total // slots)
    return Lines(slots, (HEIGHT - count * LINE - (count - 1) * GAP) / 2)


def _strip(drawing: Drawing, lines: Lines, strip: Strip, hue: str, name: str) -> None:
    for box in lines.boxes(strip.start, strip.size):
        drawing.rect(box, "paper")
    for box in lines.boxes(strip.start + strip.end, strip.size - strip.end):
        drawing.pattern(box, "dots")
    for box in lines.boxes(strip.start + strip.used, strip.end - strip.used):
        drawing.rect(box, f"tint {hue}")
        drawing.pattern(box, "hatch")
    for box in lines.boxes(strip.start, strip.used):
        drawing.rect(box, f"solid {hue}")
    whole = lines.boxes(strip.start, strip.size)
    for x, y, w, h in whole:
        drawing.rect((x + 0.8, y + 0.8, max(0, w - 1.6), h - 1.6), f"edge {hue}")
    x, y, w, _ = max(whole, key=lambda box: box[2])
    wide = width_of(name, 14) + 8
    if wide + 6 <= w:
        drawing.rect((x + 4, y + 6, wide, 18), "paper", 3)
        drawing.text(x + 4 + wide / 2, y + 20, name, 14, anchor="middle", bold=True)
