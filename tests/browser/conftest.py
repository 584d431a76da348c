"""A running app and a Chromium that looks at it. Every page records what it asks for; nothing may leave this machine.

Browser, app and test share the processors, so any wait may run out on a busy machine: a test that fails is tried again, twice
at most, and the summary counts it. Without a Chromium these tests are skipped with a reason; `make test` sees to it that there is one.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.app_server import NotServed, serving
from tests.browser.chromium import FLAGS, find

PATIENCE = 30_000
"""Milliseconds that every expectation may take; much less on a machine that has nothing else to do."""
LOCAL_SCHEMES = ("data", "blob", "about", "file")


expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=2))


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
    try:
        with serving(tmp_path_factory.mktemp("app") / "log.txt") as address:
            yield address
    except NotServed as error:
        pytest.fail(str(error))


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh session of the browser, 1280x720; at its end every address that it asked for has to be a local one."""
    requested: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(2 * PATIENCE)
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
