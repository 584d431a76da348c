"""The player as one Streamlit component: plain JavaScript and CSS, passed inline (see `viz.player.script`).

It gets one to three runs once, as the bytes of `viz.player.wire`, and plays them in the browser without the server.
"""

import json
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from viz.player.script import javascript, stylesheet
from viz.player.words import labels

MAX_RUNS = 3
LINK_KEYS = ("f", "pane", "lead", "clock", "t", "sel")
"""Query parameters that the player writes: the moment, the panes, the clock, the selection. Pages leave them alone."""


def envelope(blobs: Sequence[bytes], options: dict[str, Any]) -> bytes:
    """The one byte string that Streamlit can carry: u32 LE length of a JSON object, the object, the runs."""
    head = json.dumps({"options": options, "lengths": [len(blob) for blob in blobs]}).encode()
    return b"".join((struct.pack("<I", len(head)), head, *blobs))


def player(
    blobs: Sequence[bytes],
    *,
    key: str,
    height: int | None = None,
    frame: str | None = None,
    link: bool = True,
    lang: str = "en",
) -> None:
    """Show one to three runs, each the bytes of `viz.player.wire.wire`.

    height  pixels; None fills the window below the player's upper edge, at least 440
    frame   place to begin with, `12` or `12.3`, where the address has no `f`
    link    write the place to the `f` of the address and read it from there

    Raises ValueError for another number of runs.
    """
    if not 1 <= len(blobs) <= MAX_RUNS:
        raise ValueError(f"The player shows 1 to {MAX_RUNS} runs at once, not {len(blobs)}.")
    options = {"height": height, "frame": frame, "link": "query" if link else "", "words": labels(lang)}
    _component()(key=key, data=envelope(blobs, options), width="stretch", height="content")


def follow(
    data: bytes, first: int, *, key: str, waiting: str = "", height: int | None = None, lang: str = "en"
) -> int | None:
    """Show a run that is still going on, piece by piece: `data` are its bytes from position `first` on.

    What the browser has already it drops. Where something is missing in between it asks for it: the position from which
    it needs the bytes comes back, else None. The picture stays where it is, or goes on with the end when it follows.
    `waiting` is the sentence as long as nothing has happened, its first clause between two pairs of stars. The player of
    one `key` stays the same when Streamlit takes it from the page for a moment.
    """
    options = {"height": height, "frame": None, "link": "", "words": labels(lang), "isFeed": True, "name": key}
    options |= {"first": first, "waiting": waiting}
    shown = _component()(
        key=key,
        data=envelope([data], options),
        width="stretch",
        height="content",
        on_missing_change=_asked,
    )
    missing = shown.get("missing")
    is_position = isinstance(missing, (int, float)) and not isinstance(missing, bool) and missing >= 0
    return int(missing) if is_position else None


def _asked() -> None:
    """The position is read where the component is drawn."""


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("kvscope.player", css=stylesheet(), js=javascript())
