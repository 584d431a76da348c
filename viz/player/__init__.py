"""The player as one Streamlit component: plain JavaScript and CSS, joined here from small files and passed inline.

It gets one to three runs once, as the bytes of `viz.player.wire`, and plays them in the browser without the server. The
files are joined in the order of `source_files`, line by line, without comments and indentation; the newlines stay,
because a text without an inner newline would be taken for a path. A new file is found by itself; a panel is one file
`panel_<name>.js`, and `js/panels.js` says what is in it.
"""

import json
import struct
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

MAX_RUNS = 3
LINK_KEYS = ("f", "pane", "lead", "clock", "t", "sel")
"""Query parameters that the player writes: the moment, the panes, the clock, the selection. Pages leave them alone."""


def source_files() -> list[str]:
    """Names of the JavaScript files in the order in which they are joined: the vocabulary, all by name, the entry."""
    names = [path.name for path in (resources.files(__name__) / "js").iterdir() if path.name.endswith(".js")]
    return sorted(names, key=lambda name: (name == "main.js", name != "vocabulary.js", name))


@cache
def javascript() -> str:
    """The whole player as one module: it exports the entry for Streamlit and defines `mount(root, blobs, options)`."""
    folder = resources.files(__name__) / "js"
    return "\n".join(stripped((folder / name).read_text(encoding="utf-8"), "//") for name in source_files())


@cache
def stylesheet() -> str:
    """The style of the player, in the same way without comments and indentation."""
    return stripped((resources.files(__name__) / "player.css").read_text(encoding="utf-8"), "/*")


def stripped(source: str, comment: str) -> str:
    """The lines of a source without indentation, empty lines, and lines that are nothing but a comment.

    Nothing inside a line is touched. It holds for sources in which no text and no comment goes on over the end of a
    line, as a test sees to it.
    """
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(comment))


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

    height  pixels; None fills the window below the player's upper edge, at least 640
    frame   place to begin with, `12` or `12.3`, where the address has no `f`
    link    write the place to the `f` of the address and read it from there

    Raises ValueError for another number of runs.
    """
    if not 1 <= len(blobs) <= MAX_RUNS:
        raise ValueError(f"The player shows 1 to {MAX_RUNS} runs at once, not {len(blobs)}.")
    options = {"height": height, "frame": frame, "link": "query" if link else "", "lang": lang}
    _component()(key=key, data=envelope(blobs, options), width="stretch", height="content")


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("kvscope.player", css=stylesheet(), js=javascript())
