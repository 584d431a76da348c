"""The batch over time at the size of a card: a row for each place, a column for each iteration.

A prefill is a cell with P, decoding a cell in the hue of its request, an idle place dotted. The future is pale and the
column of the frame is ringed, as in the player.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from engine.trace.trace import Trace
from viz.covers.people import FINISHED, People
from viz.covers.svg import HEIGHT, MARGIN_X, MARGIN_Y, WIDTH, Box, Drawing

MAX_WHOLE = 24
"""Steps up to which a run is shown whole; of a longer one the frame stands in the middle."""
MAX_ROWS = 12
MERGED = 4.0
"""Width of a column in pixels below which equal neighbours are one bar."""


@dataclass(frozen=True, slots=True)
class Place:
    """What one place of the batch does in one step: who has it, and whether he computes his prompt or sits idle."""

    sequence: int
    kind: str


def draw_lanes(trace: Trace, event: int, before: int) -> Drawing:
    """The iterations around that of `event`; `before` says nothing here, a batch is drawn with its past."""
    drawing, people, now = Drawing(), People(trace), max(trace.step_of(event), 0)
    num_columns = trace.num_steps if trace.num_steps <= MAX_WHOLE else min(trace.num_steps, 2 * (now + 1))
    places = list(places_of(trace, num_columns))
    num_rows = min(MAX_ROWS, 1 + max((seat for column in places for seat in column), default=0))
    pitch_x = min(32, (WIDTH - 2 * MARGIN_X) / num_columns)
    pitch_y = min(34, (HEIGHT - 2 * MARGIN_Y) / num_rows)
    left, top = (WIDTH - pitch_x * num_columns) / 2, (HEIGHT - pitch_y * num_rows) / 2
    gap = 2 if pitch_x >= MERGED else 0
    height = pitch_y - (4 if pitch_y > 18 else 2)
    for seat in range(num_rows):
        row = [column.get(seat) for column in places]
        for first, last, place in _bars(row, now, is_merged=gap == 0):
            box = (left + first * pitch_x, top + seat * pitch_y, (last - first) * pitch_x - gap, height)
            _place(drawing, box, place, people.hues[place.sequence], first > now)
    drawing.rings([(left + now * pitch_x, top, max(1.0, pitch_x - gap), num_rows * pitch_y - 3)], 0.8, 2)
    return drawing


def places_of(trace: Trace, num_steps: int) -> Iterator[dict[int, Place]]:
    """For each of the first steps, seat -> what it does at the `scheduled` cut."""
    done = np.zeros(trace.tracks["sequences"].num_keys, np.int64)
    for step in range(num_steps):
        state = trace.cut(step=step, at="scheduled").tracks["sequences"]
        column = {}
        for sequence in np.flatnonzero(state["seat"] >= 0).tolist():
            computed = int(state["num_computed_tokens"][sequence])
            if state["status"][sequence] == FINISHED:
                kind = "idle"
            elif computed > done[sequence]:
                kind = "decode" if done[sequence] else "prefill"
            else:
                kind = "held"
            done[sequence] = computed
            column[int(state["seat"][sequence])] = Place(sequence, kind)
        yield column


def _bars(row: list[Place | None], now: int, *, is_merged: bool) -> Iterator[tuple[int, int, Place]]:
    """(first step, step after the last, place): one for each step, or one for equal neighbours on one side of `now`."""
    if not is_merged:
        yield from ((step, step + 1, place) for step, place in enumerate(row) if place is not None)
        return
    plain = [place and Place(place.sequence, "decode" if place.kind == "prefill" else place.kind) for place in row]
    for (place, _), steps in groupby(range(len(row)), key=lambda step: (plain[step], step > now)):
        members = list(steps)
        if place is not None:
            yield members[0], members[-1] + 1, place


def _place(drawing: Drawing, box: Box, place: Place, hue: str, is_future: bool) -> None:
    x, y, w, h = box
    if place.kind == "held":
        return
    if place.kind == "idle":
        drawing.pattern(box, "dots")
        drawing.rect((x + 0.6, y + 0.6, max(0.0, w - 1.2), h - 1.2), "idle", 2)
        return
    drawing.rect(box, f"solid {hue}{' future' if is_future else ''}", 2 if w >= MERGED else 0)
    if place.kind == "prefill":
        look = "ink" if is_future else f"on {hue}"
        drawing.text(x + w / 2, y + h / 2 + 5, "P", 14, look, anchor="middle", bold=True, most=w)
