"""An app of our own, and what its process uses: processor time and memory.

Both are read from /proc; where there is none they are NaN.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.app_server import process


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    pid: int

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the process has used so far."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def resident_mb(self) -> float:
        try:
            num_pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except OSError:
            return float("nan")
        return num_pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def served(script: Path, *arguments: str) -> Iterator[Served]:
    """Serve a Streamlit script until the block ends. Raises NotServed."""
    with TemporaryDirectory() as folder, process(Path(folder) / "log.txt", str(script), *arguments) as (url, pid):
        yield Served(url, pid)
