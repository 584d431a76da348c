"""A running app and a Chromium that looks at it. Every page records what it asks for; nothing may leave this machine.

Without a Chromium these tests are skipped with a reason; `make test` sees to it that there is one.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.chromium import FLAGS, find

ROOT = Path(__file__).parent.parent.parent
START_TIMEOUT = 60.0
LOCAL_SCHEMES = ("data", "blob", "about", "file")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find()
    if path is None:
        pytest.skip("no Chromium found: install one, or name its path in KVSCOPE_CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app of our own, on a free port; its process is ended with the tests."""
    port = _free_port()
    log = tmp_path_factory.mktemp("app") / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, env={**os.environ})
    try:
        _wait_until_served(server, f"http://127.0.0.1:{port}/_stcore/health", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh session of the browser, 1280x720; at its end every address that it asked for has to be a local one."""
    requested: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.on("request", lambda request: requested.append(request.url))
    context.on("page", lambda page: page.on("websocket", lambda socket: requested.append(socket.url)))
    yield context
    context.close()
    foreign = [url for url in requested if not _is_local(url)]
    assert foreign == [], f"asked other hosts: {foreign[:5]}"


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in LOCAL_SCHEMES or parts.hostname == "127.0.0.1"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_served(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urlopen(url, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the app did not start: {log.read_text(errors='replace')[-2000:]}")
