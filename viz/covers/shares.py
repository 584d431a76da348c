"""What the runs of a scenario do with the memory that they occupy, a bar each: tokens, reserved, never used, in holes.

The shares are the time averages of `engine.trace.metrics`, the same numbers as in the tables of figures.
"""

from collections.abc import Mapping

from engine.trace.metrics import measure
from engine.trace.trace import Trace
from viz.covers.svg import HEIGHT, MARGIN_X, WIDTH, Drawing

LABEL = 62
MAX_BARS = 4
KINDS = ("token", "reserved", "internal", "external")


def draw_shares(traces: Mapping[str, Trace]) -> Drawing:
    """One bar for each run, in the order given, at most four."""
    drawing = Drawing()
    bars = list(traces.items())[:MAX_BARS]
    pitch = min(36, (HEIGHT - 20) / len(bars))
    height = pitch - (8 if len(bars) < MAX_BARS else 6)
    top = (HEIGHT - pitch * len(bars) + pitch - height) / 2
    for i, (name, trace) in enumerate(bars):
        y = top + i * pitch
        drawing.text(MARGIN_X, y + height / 2 + 5, name, 14, bold=True, most=LABEL)
        _bar(drawing, y, height, measure(trace).as_dict()["kv_of_occupied"])
    return drawing


def _bar(drawing: Drawing, y: float, height: float, shares: Mapping[str, float | None]) -> None:
    left, room = MARGIN_X + LABEL, WIDTH - 2 * MARGIN_X - LABEL
    drawing.rect((left, y, room, height), "paper", 3)
    x = float(left)
    for kind in KINDS:
        width = (shares[kind] or 0.0) * room
        box = (x, y, width, height)
        if kind == "token":
            drawing.rect(box, "solid A", 2)
        elif kind == "reserved":
            drawing.rect(box, "tint A")
            drawing.pattern(box, "hatch")
        else:
            drawing.pattern(box, "dots")
            if kind == "external" and width > 4:
                drawing.rect((x + 1, y + 2, width - 2, height - 4), "idle")
        x += width
    drawing.rect((left + 0.6, y + 0.6, room - 1.2, height - 1.2), "free", 3)
    drawing.text(left + 8, y + height / 2 + 5, f"{(shares['token'] or 0.0):.0%}", 14, "on A", bold=True)
