"""The app with the page Live first, on a model that never comes: it stays at what is said meanwhile."""

import time
from typing import Any

from scenarios.fields import ScenarioError
from tests.browser.live_first import show
from viz.pages.parts import live_model

LATE = 20.0


def load(report: Any) -> live_model.Ready:
    for _ in range(round(LATE / 0.1)):
        report(0.1, "a part of it is there")
        time.sleep(0.1)
    raise ScenarioError("It never came.")


live_model.load = load
show()
