"""The offline page as browser tests open it: with markup of the test, and with other options of the player.

It is the page of `viz.export`, so whatever a test sees here is what a user gets as a file.
"""

from collections.abc import Sequence

from viz.export import offline_page


def player_page(
    blobs: Sequence[bytes], *, title: str = "KVScope", head: str = "", frame: str | None = None, lang: str = "en"
) -> str:
    """The page for one to three runs; `head` is put before the end of its head."""
    return offline_page(blobs, title=title, frame=frame, lang=lang).replace("</head>", f"{head}\n</head>", 1)
