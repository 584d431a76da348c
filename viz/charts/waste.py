"""What became of the KV memory that runs took: one bar a run, averaged over time.

Free memory is left out, as in figure 2 of the vLLM paper: the bars show how much of what was taken, or of no use to the
queue, held tokens. The table has the shares of all memory beside it.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt

from engine.trace.composition import KINDS
from viz.charts import kv_kinds
from viz.charts.drawing import Drawing, MeasuredRun, data, missing, nothing, number
from viz.charts.theme import BODY, Palette, dress
from viz.pages.parts.figures import share

NAME, TITLE = "waste", "Where the KV memory went"
ROOM_FOR_TEXT = 0.055


def draw(runs: Mapping[str, MeasuredRun], palette: Palette) -> Drawing:
    shares = {name: run.metrics.composition.shares_of_occupied() for name, run in runs.items()}
    known = {name: of for name, of in shares.items() if of["token"] is not None}
    if not known:
        return nothing(NAME, TITLE, "Nothing to show: no run took any KV memory.")
    rows = []
    for name, of in known.items():
        end = 0.0
        for kind in KINDS[:-1]:
            begin, end = end, end + (of[kind] or 0.0)
            rows.append(
                {
                    "run": name,
                    "kind": kv_kinds.WORDS[kind],
                    "begin": number(begin),
                    "end": number(end),
                    "middle": number((begin + end) / 2),
                    "share": share(end - begin),
                    "text": share(end - begin) if end - begin > ROOM_FOR_TEXT else "",
                    "ink": kv_kinds.text_on(kind, palette),
                }
            )
    y = alt.Y("run:N", title=None, sort=list(known), axis=alt.Axis(labelFontSize=BODY, labelColor=palette.ink))
    base = alt.Chart(data(rows)).encode(y=y)
    bars = base.mark_bar(stroke=palette.mark, strokeWidth=0.75).encode(
        x=alt.X(
            "begin:Q", title="share of the memory taken", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
        ),
        x2=alt.X2("end:Q"),
        color=kv_kinds.color(palette, KINDS[:-1]),
        tooltip=[alt.Tooltip("run:N"), alt.Tooltip("kind:N"), alt.Tooltip("share:N")],
    )
    texts = base.mark_text(fontWeight=600, fontSize=BODY).encode(
        x=alt.X("middle:Q"), text=alt.Text("text:N"), color=alt.Color("ink:N", scale=None)
    )
    chart = alt.layer(bars, texts, name=NAME, title=TITLE, height=34 * len(known))
    caption = "Averages over time; free memory is left out. Blue is useful, everything else is not, or not yet."
    caption += missing(len(shares) - len(known), len(shares), "runs", "they took no memory")
    words = "; ".join(f"{name}: {share(of['token'] or 0)} tokens" for name, of in known.items())
    whole = {name: runs[name].metrics.composition.shares() for name in shares}
    table: dict[str, list[Any]] = {"run": list(shares)}
    for kind in KINDS[:-1]:
        table[f"{kv_kinds.WORDS[kind]}, of taken"] = [number(shares[name][kind]) for name in shares]
    for kind in KINDS:
        table[f"{kv_kinds.WORDS[kind]}, of all"] = [number(whole[name][kind]) for name in shares]
    return Drawing(NAME, TITLE, caption, dress(chart, palette), f"{TITLE}. {words}.", table)
