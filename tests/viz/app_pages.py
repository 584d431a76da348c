"""Pages as Streamlit runs them without a browser: opened with an address, and what stands on them."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from engine.trace import codec
from engine.trace.trace import Trace

APP = str(Path(__file__).parent.parent.parent / "app.py")


STAGE = "viz/pages/stage.py"


OWN = "viz/pages/bring_your_own.py"


def open_page(name: str | None = None, params: Mapping[str, str] | None = None, **state: Any) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in (params or {}).items():
        app.query_params[key] = value
    for key, value in state.items():
        app.session_state[key] = value
    app.run()
    return app.switch_page(name).run() if name else app


def texts(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in app.text)


def in_place(app: AppTest) -> str:
    """The script that puts the address into place where the page was opened without one."""
    return "".join(html.proto.body for html in app.get("html") if "replaceState" in html.proto.body)


def story(app: AppTest) -> list[str]:
    return [str(text.value) for text in app.text if "tory" in str(text.value)]


def given(app: AppTest) -> tuple[dict[str, Any], list[bytes]]:
    """The options of the player on the page, and the bytes of each of its runs."""
    (component,) = app.get("bidi_component")
    data = component.proto.bytes
    (length,) = struct.unpack("<I", data[:4])
    head, at, blobs = json.loads(data[4 : 4 + length]), 4 + length, []
    for size in head["lengths"]:
        blobs.append(data[at : at + size])
        at += size
    return head["options"], blobs


def header_of(blob: bytes) -> dict[str, Any]:
    """What the header of a run holds for the player."""
    return next(codec.unpack(blob))[0]["player"]


def player_of(app: AppTest) -> dict[str, Any]:
    """The same of the first run on the page."""
    return header_of(given(app)[1][0])


def bookmarks(app: AppTest) -> list[Any]:
    return player_of(app)["bookmarks"]


def runs_of(app: AppTest) -> list[Trace]:
    """The runs inside the bytes of the player on the page."""
    return [Trace.load(blob) for blob in given(app)[1]]
