"""A drawing of the size of a card: rectangles, lines and short texts with classes instead of colours, as one SVG element.

Patterns are defined in each drawing anew, so drawings do not know of each other. Text is measured by a rule of thumb and
left out where it would not fit.
"""

from collections.abc import Iterable
from html import escape

WIDTH, HEIGHT = 294, 142
MARGIN_X, MARGIN_Y = 16, 16
LETTER = 0.56
"""Mean width of a letter or digit, as a share of the font size."""

Box = tuple[float, float, float, float]

_PATTERNS = """<defs>
<pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse"><circle class="dot" cx="3" cy="3" r="1"/></pattern>
<pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<path class="stripe" d="M1 0V8"/></pattern>
<pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<path class="hatch" d="M1 0V8"/></pattern>
</defs>"""


class Drawing:
    """Collects elements in the order in which they are drawn."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def rect(self, box: Box, look: str, radius: float = 0, **attributes: str) -> None:
        """A rectangle of the class `look`, or filled by a pattern that `fill` names."""
        x, y, w, h = box
        corner = f' rx="{_n(radius)}"' if radius else ""
        more = "".join(f' {name.replace("_", "-")}="{escape(value)}"' for name, value in attributes.items())
        self._parts.append(
            f'<rect class="{look}" x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"{corner}{more}/>'
        )

    def pattern(self, box: Box, name: str, radius: float = 0) -> None:
        self.rect(box, "pattern", radius, fill=f"url(#{name})")

    def path(self, commands: str, look: str, scale: float = 1) -> None:
        zoom = f' transform="scale({_n(scale)})"' if scale != 1 else ""
        self._parts.append(f'<path class="{look}" d="{commands}"{zoom}/>')

    def disc(self, x: float, y: float, radius: float, look: str) -> None:
        self._parts.append(f'<circle class="{look}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        look: str = "ink",
        *,
        anchor: str = "start",
        most: float = 1e9,
        bold: bool = False,
    ) -> bool:
        """A line of text on the baseline `y`; False when it is wider than `most` and was left out."""
        if not text or width_of(text, size) > most:
            return False
        weight = ' font-weight="700"' if bold else ""
        self._parts.append(
            f'<text class="{look}" x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" text-anchor="{anchor}"{weight}>'
            f"{escape(text)}</text>"
        )
        return True

    def rings(self, boxes: Iterable[Box], scale: float = 1, radius: float = 0) -> None:
        """Yellow is now: all edges first and the yellow on top, so that neighbours melt together."""
        boxes, grow = list(boxes), 3 * scale
        for look, width in (("now-edge", 5 * scale), ("now", 3 * scale)):
            for x, y, w, h in boxes:
                box = (x - grow, y - grow, w + 2 * grow, h + 2 * grow)
                self.rect(box, look, radius + grow, stroke_width=_n(width))

    def arrow(self, points: list[tuple[float, float]], width: float = 2.4) -> None:
        """A line through the points with a head at the last one, which it reaches vertically."""
        (x, y), (_, before) = points[-1], points[-2]
        size = 3.4 * width / 2
        back = -size if y > before else size
        line = [*points[:-1], (x, y + back)]
        commands = "M" + "L".join(f"{_n(a)} {_n(b)}" for a, b in line)
        self.path(commands, "arrow-halo")
        self.path(commands, "arrow")
        self.path(f"M{_n(x)} {_n(y)}l{_n(-size)} {_n(back * 1.3)}h{_n(2 * size)}z", "ink")

    def svg(self, label: str = "") -> str:
        """The element; `label` says in words what it shows."""
        named = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {named}>'
        return "\n".join((head, _PATTERNS, *self._parts, "</svg>"))


def width_of(text: str, size: float) -> float:
    """About how wide a text is; signs of East Asian scripts count twice."""
    return sum(2 if ord(letter) > 0x2E7F else 1 for letter in text) * LETTER * size


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
