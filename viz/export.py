"""A replay as one HTML file: the same player and the same bytes as on the Stage, without a server and without a network.

Code and style lie in the file compressed, the runs as the bytes of `viz.player.wire`, all as base64. A strict policy
forbids every request. The place is in the hash of the address: `replay.html#f=12.3`.
"""

import base64
import gzip
import html
import json
from collections.abc import Iterator, Sequence
from functools import cache

from engine.trace.trace import Trace
from scenarios.scenario import Scenario
from viz.player import MAX_RUNS
from viz.player.difference import FIRST_CLOCK, pane_differences
from viz.player.script import javascript, stylesheet
from viz.player.wire import in_comparison, wire_parts
from viz.player.words import labels

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
html {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 12px 24px; background: light-dark(#FFFFFF, #0E1117); font-family: system-ui, sans-serif; }}
</style>
</head>
<body>
<main><noscript>This replay needs JavaScript.</noscript></main>
<script type="text/plain" id="style">{style}</script>
<script type="text/plain" id="code">{code}</script>
{runs}
<script type="module">
const [main] = document.getElementsByTagName("main");
const bytesOf = element => Uint8Array.from(atob(element.textContent), letter => letter.charCodeAt(0));
const textOf = id => new Response(new Blob([bytesOf(document.getElementById(id))]).stream()
  .pipeThrough(new DecompressionStream("gzip"))).text();
const add = (name, text, attributes) =>
  document.head.append(Object.assign(document.createElement(name), attributes, {{textContent: text}}));
try {{
  add("style", await textOf("style"));
  window.replay = {{main, blobs: [...document.querySelectorAll("script.run")].map(bytesOf), options: {options}}};
  add("script", await textOf("code") + "\\nmount(replay.main, replay.blobs, replay.options);", {{type: "module"}});
  addEventListener("hashchange", () => location.reload());
}} catch (error) {{
  main.textContent = "This browser cannot show the replay; it needs one of 2023 or newer. " + error.message;
}}
</script>
</body>
</html>
"""


def offline_page(blobs: Sequence[bytes], *, title: str, frame: str | None = None, lang: str = "en") -> str:
    """The page for one to three runs, each the bytes of `viz.player.wire.wire`.

    frame   place to begin with, `12` or `12.3`, where the address has no `#f=`

    Raises ValueError for another number of runs.
    """
    if not 1 <= len(blobs) <= MAX_RUNS:
        raise ValueError(f"An offline page shows 1 to {MAX_RUNS} runs, not {len(blobs)}.")
    options = {"link": "hash", "height": None, "frame": frame, "words": labels(lang)}
    return _PAGE.format(
        lang=html.escape(lang),
        policy=POLICY,
        title=html.escape(title),
        style=_packed(stylesheet()),
        code=_packed(javascript()),
        runs="\n".join(f'<script type="text/plain" class="run">{_base64(blob)}</script>' for blob in blobs),
        options=json.dumps(options).replace("<", "\\u003c"),
    )


def run_bytes(scenario: Scenario, run_name: str, trace: Trace, lang: str = "en") -> bytes:
    """A run of a scenario as the player gets it: with the scenario's title, its story and the bookmarks of this run."""
    return b"".join(run_parts(scenario, run_name, trace, lang))


def run_parts(scenario: Scenario, run_name: str, trace: Trace, lang: str = "en") -> Iterator[bytes]:
    """The same bytes piece by piece, each made when it is asked for."""
    bookmarks = [mark for mark in scenario.bookmarks if mark.run == run_name]
    texts = {key: getattr(scenario, key).get(lang, getattr(scenario, key)["en"]) for key in ("title", "story")}
    return wire_parts(trace, bookmarks=bookmarks, lang=lang, run_name=run_name, **texts)


def side_by_side(
    blobs: Sequence[bytes], traces: Sequence[Trace], names: Sequence[str], lang: str = "en"
) -> list[bytes]:
    """The bytes of two or three runs as panes of one comparison, with the places where they part; one run stays as it is."""
    if len(blobs) < 2:
        return list(blobs)
    differences = pane_differences(traces, names, lang)
    return [
        in_comparison(blob, run_name=name, clock=FIRST_CLOCK, difference=difference)
        for blob, name, difference in zip(blobs, names, differences, strict=True)
    ]


@cache
def _packed(text: str) -> str:
    return _base64(gzip.compress(text.encode(), mtime=0))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
