"""The colours and type of the charts: the palette of the player, light and dark, and the config that dresses a chart.

A chart takes a palette and is otherwise the same in both themes. `BOTH` holds CSS pairs that the browser resolves, so that
a chart on a page changes with its theme without being drawn anew; it needs the SVG renderer, which `dress` asks for.
Hues A to E say who and are handed to runs in their order; what memory holds has colours of its own.
"""

from dataclasses import dataclass, fields
from typing import Any

import altair as alt

FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", sans-serif'
SMALL, BODY, LARGE = 12, 13, 15

Chart = alt.Chart | alt.LayerChart | alt.FacetChart
"""What a layered or plain chart is to the type checker."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours as CSS writes them. `ink2` and `ink3` are for secondary text, `line` is decoration, `mark` is an edge.

    a to e are the owners and `on_...` the text on them; `private` is memory of one owner, `free` the edge of nothing.
    """

    paper: str
    ink: str
    ink2: str
    ink3: str
    line: str
    mark: str
    free: str
    a: str
    b: str
    c: str
    d: str
    e: str
    private: str
    on_a: str
    on_b: str
    on_d: str
    on_private: str

    @property
    def owners(self) -> tuple[str, ...]:
        return self.a, self.b, self.c, self.d, self.e


LIGHT = Palette(
    paper="#FFFFFF",
    ink="#14181F",
    ink2="#454E5C",
    ink3="#636C7A",
    line="#D3D9E1",
    mark="#858F9E",
    free="#8B95A3",
    a="#1F47C9",
    b="#EE6D38",
    c="#10A08C",
    d="#8E2366",
    e="#0A6E96",
    private="#96A8E4",
    on_a="#FFFFFF",
    on_b="#14181F",
    on_d="#FFFFFF",
    on_private="#14181F",
)
DARK = Palette(
    paper="#0E1117",
    ink="#F2F5F9",
    ink2="#BCC5D1",
    ink3="#939EAD",
    line="#2B3340",
    mark="#6E7989",
    free="#5A6575",
    a="#6384FA",
    b="#F6904A",
    c="#45E6B8",
    d="#CC6BA3",
    e="#93C9F0",
    private="#3A52A0",
    on_a="#0B0F16",
    on_b="#0B0F16",
    on_d="#0B0F16",
    on_private="#F2F5F9",
)
BOTH = Palette(**{f.name: f"light-dark({getattr(LIGHT, f.name)}, {getattr(DARK, f.name)})" for f in fields(Palette)})


def dress(chart: Chart, palette: Palette) -> Chart:
    """The chart with the type, axes and legends of this palette, as a top-level chart."""
    dressed: Chart = chart.properties(
        background="transparent",
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        padding={"left": 2, "right": 12, "top": 4, "bottom": 4},
        usermeta={"embedOptions": {"renderer": "svg"}},
    ).configure(**_config(palette))
    return dressed


def _config(palette: Palette) -> dict[str, Any]:
    label = {"labelColor": palette.ink3, "labelFontSize": SMALL, "labelFont": FONT}
    title = {"titleColor": palette.ink2, "titleFontSize": BODY, "titleFont": FONT, "titleFontWeight": "normal"}
    return {
        "font": FONT,
        "view": {"stroke": None},
        "text": {"font": FONT, "fontSize": SMALL, "color": palette.ink},
        "title": {"font": FONT, "fontSize": LARGE, "fontWeight": 600, "color": palette.ink, "anchor": "start"},
        "axis": {
            **label,
            **title,
            "gridColor": palette.line,
            "domainColor": palette.mark,
            "tickColor": palette.mark,
            "titlePadding": 8,
            "labelLimit": 160,
            "labelOverlap": True,
        },
        "axisX": {"grid": False, "titleAnchor": "end", "tickCount": 10},
        "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -10},
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "labelColor": palette.ink2,
            "labelFontSize": BODY,
            "labelFont": FONT,
            "labelLimit": 220,
            "symbolSize": 130,
            "symbolStrokeWidth": 2,
            "columnPadding": 18,
            "offset": 26,
        },
    }
