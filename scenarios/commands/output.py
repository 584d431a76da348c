"""Files that appear whole or not at all: written beside their place under another name, then moved."""

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from tempfile import TemporaryDirectory

from scenarios.fields import ScenarioError, shown_path


def check_place(path: Path, suffixes: tuple[str, ...], source: str) -> None:
    """Raises ScenarioError for a path that cannot become a file, before long work is done for it. `source` is the input,
    which is never written over."""
    if not path.name:
        raise ScenarioError("the output has no name; give a file name.")
    name = shown_path(path)
    if path.suffix not in suffixes:
        raise ScenarioError(f"{name} has to end in {' or '.join(suffixes)}.")
    if path.is_dir():
        raise ScenarioError(f"{name} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise ScenarioError(f"{name} is a pipe or a device; give a file name.")
    if not path.parent.is_dir():
        raise ScenarioError(f"{name} cannot be written: there is no folder {shown_path(path.parent)}.")
    if _is_same(path, source):
        raise ScenarioError(f"{name} is the input itself; name another file to write.")


def _is_same(path: Path, source: str) -> bool:
    try:
        return path.samefile(source)
    except (OSError, ValueError):
        return False


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The path of a draft to write to; it takes the place of `path`, or of what a link there leads to, when the block
    ends well.

    Raises ScenarioError when it cannot be written there.
    """
    target = Path(realpath(path))
    try:
        # a folder, because a temporary file could be read by its owner only
        with TemporaryDirectory(prefix=".kvscope-", dir=target.parent, ignore_cleanup_errors=True) as folder:
            draft = Path(folder) / target.name
            yield draft
            draft.replace(target)
    except OSError as error:
        raise ScenarioError(f"{shown_path(path)} cannot be written: {error.strerror or error}.") from None
