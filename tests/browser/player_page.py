"""A page with nothing but the player: one HTML text that needs no server and no network.

The runs lie in it as base64, the place in the hash of the address. A strict policy forbids every request.
"""

import base64
import html
import json
from collections.abc import Sequence
from typing import Any

from viz.player import javascript, stylesheet

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def player_page(blobs: Sequence[bytes], *, title: str = "KVScope", head: str = "", **options: Any) -> str:
    """The page for one to three runs. `options` are those of mount() in js/main.js; `head` is extra markup of a test."""
    packed = json.dumps([base64.b64encode(blob).decode() for blob in blobs])
    settings = json.dumps({"link": "hash", "height": None, "frame": None, "lang": "en", **options})
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{html.escape(title)}</title>
<style>
html {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 12px 24px; background: light-dark(#FFFFFF, #0E1117); }}
{stylesheet()}
</style>
{head}
</head>
<body>
<main id="player"></main>
<script type="module">
{javascript()}
const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
mount(document.getElementById("player"), {packed}.map(bytes), {settings});
</script>
</body>
</html>
"""
