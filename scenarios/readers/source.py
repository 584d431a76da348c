"""The lines of a file, wherever it lies and however it is packed: path, bytes or an open binary file, plain or gzip.

Gzip is told by its first two bytes, a byte order mark by its first two or three, never by the name. Everything is read
as a stream with three limits: bytes after unpacking, lines, and characters in a line. Lines keep their ends.
"""

import gzip
import io
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from scenarios.readers.errors import ReadError

MAX_BYTES = 2 * 1024**3
MAX_LINES = 4_000_000
MAX_LINE = 1024**2
_HEAD = 65_536
_KNOWN = {
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\xfd7zXZ": "an xz archive",
    b"BZh": "a bzip2 archive",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "packed with gzip twice",
    b"\x89PNG": "a picture",
}


def refuse_what_is_no_file(path: Path, name: str) -> None:
    """Raises ReadError for a pipe or a device: it can be read only once, and opening it may wait for ever."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        raise ReadError(f"{name} is a pipe; save what comes out of it to a file first.")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise ReadError(f"{name} is a device; give a file.")


@contextmanager
def open_lines(source: Path | bytes | BinaryIO, name: str) -> Iterator["Lines"]:
    """The lines of a path, of bytes or of an open binary file, which is left open. Raises ReadError."""
    with ExitStack() as stack:
        if isinstance(source, bytes):
            yield Lines(io.BytesIO(source), name)
        elif isinstance(source, (str, Path)):
            refuse_what_is_no_file(Path(source), name)
            try:
                file = stack.enter_context(Path(source).open("rb"))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                raise ReadError(f"{name} cannot be read: {reason}.") from None
            yield Lines(file, name)
        else:
            if source.seekable():
                source.seek(0)
            yield Lines(source, name)


class Lines:
    """Lines numbered from 1; None stands for one longer than MAX_LINE. `cut` says what limit ended them early."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.cut = ""
        packed = io.BufferedReader(_Bytes(stream, name, sys.maxsize), _HEAD)
        is_gzip = packed.peek(2)[:2] == b"\x1f\x8b"
        plain = gzip.GzipFile(fileobj=packed) if is_gzip else packed
        self._bytes = _Bytes(cast(BinaryIO, plain), name, MAX_BYTES)
        self._text = self._decode()

    def __iter__(self) -> Iterator[tuple[int, str | None]]:
        for number in range(1, MAX_LINES + 1):
            line = self._text.readline(MAX_LINE + 1)
            if not line:
                break
            is_long = len(line) > MAX_LINE
            while len(line) > MAX_LINE and not line.endswith(("\n", "\r")):
                line = self._text.readline(MAX_LINE + 1)
            if self._bytes.is_cut and not line.endswith(("\n", "\r")):
                break
            yield number, None if is_long else line
        else:
            self.cut = f"{MAX_LINES:,} lines"
        if self._bytes.is_cut:
            self.cut = f"{MAX_BYTES / 1024**3:g} GiB"

    def _decode(self) -> io.TextIOWrapper:
        stream = io.BufferedReader(self._bytes, _HEAD)
        head = stream.peek(_HEAD)
        if not head:
            raise ReadError(f"{self.name} is empty.")
        is_utf_32 = head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"))
        encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) and not is_utf_32 else "utf-8-sig"
        if is_utf_32 or (encoding != "utf-16" and _has_two_bytes_a_letter(head)):
            what = "UTF-32 text" if is_utf_32 else "UTF-16 text without a byte order mark"
            raise ReadError(f"{self.name} is {what}; save it as UTF-8.")
        if encoding == "utf-8-sig":
            self._refuse_binary(head)
        return io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")

    def _refuse_binary(self, head: bytes) -> None:
        for magic, what in _KNOWN.items():
            if head.startswith(magic):
                raise ReadError(
                    f"{self.name} is {what}; traces are text (CSV or JSON lines), plain or packed with gzip."
                )
        if sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head) > len(head) // 100:
            raise ReadError(f"{self.name} holds binary data; traces are text (CSV or JSON lines), plain or gzip.")


def _has_two_bytes_a_letter(head: bytes) -> bool:
    """Whether every second byte is 0, as in English text in UTF-16, and hardly any of the others."""
    shares = [head[place::2].count(0) / len(head) * 2 for place in (0, 1)]
    return max(shares) > 0.9 and min(shares) < 0.1


class _Bytes(io.RawIOBase):
    """The bytes of a stream up to a limit; every way in which reading fails becomes a ReadError."""

    def __init__(self, stream: BinaryIO, name: str, limit: int) -> None:
        self._stream, self._name, self._left = stream, name, limit
        self.is_cut = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._stream.read(len(buffer))
        except EOFError:
            raise ReadError(f"{self._name} is a gzip archive that ends too early; copy or download it again.") from None
        except (gzip.BadGzipFile, zlib.error):
            raise ReadError(f"{self._name} is a damaged gzip archive; copy or download it again.") from None
        except OSError as error:
            raise ReadError(f"{self._name} cannot be read: {error.strerror or error}.") from None
        self.is_cut |= len(data) > self._left
        data = data[: self._left]
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)
