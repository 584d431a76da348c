"""Pages wait for their jobs as long as it takes; a test that looks at the wait itself sets its own patience."""

import pytest

from viz.pages.parts import page


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PATIENCE", 60.0)
