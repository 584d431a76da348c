"""Pages wait for their jobs as long as it takes; a test that looks at the wait itself sets its own patience."""

import pytest

from tests.viz import live_pages
from viz.pages.parts import page

parrot = pytest.fixture(live_pages.parrot)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PATIENCE", 60.0)
