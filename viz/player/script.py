"""The code of the player: small files, joined in order and made small for the way to the browser.

The JavaScript files are joined in the order of `source_files`, line by line. A new file is found by itself; a panel is
one file `panel_<name>.js`, and `js/panels/panels.js` says what is in it. What is delivered is one module that exports
the entry for Streamlit and leaves `mount(root, blobs, options)` to an offline page. Where the minifier cannot be
installed the same code is delivered without comments and indentation only.
"""

from functools import cache
from importlib import resources

_FOLDER = resources.files(__package__)
FOLDERS = ("run", "words", "player", "compare", "panels", "drawing")
"""From what a run is to how it is drawn: what is alike stands together, which also packs better."""


def source_files() -> list[str]:
    """The JavaScript files in the order in which they are joined: the vocabulary, folder by folder, the entry."""
    names = [
        f"{folder}/{name}"
        for folder in FOLDERS
        for name in sorted(path.name for path in (_FOLDER / "js" / folder).iterdir())
        if name.endswith(".js")
    ]
    return sorted(names, key=lambda name: (name == "player/main.js", name != "run/vocabulary.js"))


@cache
def javascript() -> str:
    """The whole player as one module. Its inner newlines matter: a text without one would be taken for a path."""
    module = f"const {{mount, entry}} = (() => {{\n{joined()}\nreturn {{mount, entry}};\n}})();"
    return f"{_minified(module)}\nexport default entry;\n"


@cache
def stylesheet() -> str:
    """The style of the player without comments and indentation."""
    return stripped((_FOLDER / "player.css").read_text(encoding="utf-8"), "/*")


def joined() -> str:
    """All JavaScript files without comments and indentation."""
    folder = _FOLDER / "js"
    return "\n".join(stripped((folder / name).read_text(encoding="utf-8"), "//") for name in source_files())


def stripped(source: str, comment: str) -> str:
    """The lines of a source without indentation, empty lines, and lines that are nothing but a comment.

    Nothing inside a line is touched. It holds for sources in which no text and no comment goes on over the end of a
    line, as a test sees to it.
    """
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(comment))


def _minified(code: str) -> str:
    try:
        import minify
    except ImportError:
        return code
    return minify.string("application/javascript", code)
