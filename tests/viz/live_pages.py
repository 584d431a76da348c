"""The page Live without a browser, on a model that says what the tests want."""

from collections.abc import Callable, Iterator
from time import monotonic, sleep

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextArea

from tests.viz.app_pages import open_page
from tests.viz.parrot import Parrot
from viz.pages.parts import live_controls, live_model
from viz.pages.parts.live_model import Ready
from viz.pages.parts.live_runs import LiveRun, LiveState

LIVE = "viz/pages/live.py"
ROOMY = live_controls.SETTINGS.with_(num_blocks=100)


def parrot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parrot]:
    """The model of the process as long as a test lasts; `conftest.py` makes a fixture of it."""
    model = Parrot()
    monkeypatch.setattr(live_model, "load", lambda report: Ready(model, model.words))
    live_model.the_model.clear()
    yield model
    model.gate.set()
    live_model.the_model.clear()


def opened() -> AppTest:
    app = open_page(LIVE, **{"live settings": ROOMY})
    assert not app.exception
    return app.button(key="live-fetch").click().run()


def run_of(app: AppTest) -> LiveRun:
    return app.session_state["live run"]


def add(app: AppTest, prompt: str) -> None:
    """Ask one more in the run that is there."""
    app.text_area(key="live-more-prompt").set_value(prompt)
    next(button for button in app.button if button.label == "Add").click().run()


def soon(is_so: Callable[[], bool]) -> None:
    end = monotonic() + 20
    while not is_so():
        assert monotonic() < end, "it did not come to that"
        sleep(0.005)


def prompts(app: AppTest) -> list[str]:
    return [area.value for area in areas(app)]


def areas(app: AppTest) -> list[TextArea]:
    return [area for area in app.text_area if area.label != "Prompt"]


def answered(app: AppTest) -> AppTest:
    app.button(key="live-start").click().run()
    soon(lambda: run_of(app).state is LiveState.IDLE)
    return app.run()
