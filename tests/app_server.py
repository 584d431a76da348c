"""An app of our own for tests and pictures: on a free port of this machine, ended by its process id."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT = 60.0
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class NotServed(Exception):
    """The app did not start; the message ends with what it printed last."""


@contextmanager
def serving(log: Path, script: str = "app.py") -> Iterator[str]:
    """The address of the app, or of another script, while the block runs; what it prints goes to `log`.

    Raises NotServed.
    """
    with process(log, script) as (address, _):
        yield address


@contextmanager
def process(log: Path, script: str, *arguments: str) -> Iterator[tuple[str, int]]:
    """The same for a script with arguments, and the id of the process beside the address."""
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none", "--", *arguments]
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, env=_ENVIRONMENT)
    try:
        _wait_until_served(server, f"http://127.0.0.1:{port}/_stcore/health", log)
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_served(server: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and server.poll() is None:
        try:
            with urlopen(address, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise NotServed(f"the app did not start: {log.read_text(errors='replace')[-2000:]}")
