"""What a slot of KV memory can be, in the words and colours that all charts of memory share, bottom to top.

The classes are those of the vLLM paper, figure 2: what holds a token, what is reserved for one, and the two wastes.
"""

from collections.abc import Sequence

import altair as alt

from viz.charts.theme import Palette

WORDS = {
    "token": "tokens",
    "reserved": "reserved, will be used",
    "internal": "wasted inside",
    "external": "wasted between",
    "free": "free",
}


def color(palette: Palette, kinds: Sequence[str] = tuple(WORDS)) -> alt.Color:
    """The encoding of the column `kind`, with a legend of these kinds."""
    solid = [palette.a, palette.private, palette.b, palette.d, palette.paper]
    legend = alt.Legend(values=[WORDS[kind] for kind in kinds])
    return alt.Color("kind:N", scale=alt.Scale(domain=list(WORDS.values()), range=solid), legend=legend)


def text_on(kind: str, palette: Palette) -> str:
    """The colour of a text on this kind."""
    on = {"token": palette.on_a, "reserved": palette.on_private, "internal": palette.on_b, "external": palette.on_d}
    return on.get(kind, palette.ink)
