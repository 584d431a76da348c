"""An app of our own on a free port, ended by its process id, and what its process uses: processor time and memory.

Both are read from /proc; where there is none they are NaN.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent.parent
START_TIMEOUT = 60.0
END_TIMEOUT = 10.0


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
    """Serve a Streamlit script until the block ends. Raises RuntimeError when it does not start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none", "--", *arguments]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(server, f"http://127.0.0.1:{port}/_stcore/health")
        yield Served(f"http://127.0.0.1:{port}", server.pid)
    finally:
        server.terminate()
        try:
            server.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait(server: "subprocess.Popen[bytes]", address: str) -> None:
    end = time.monotonic() + START_TIMEOUT
    while server.poll() is None and time.monotonic() < end:
        try:
            with urlopen(address, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("The app of the bench did not start.")
