"""The app with the page Live first, on a model of characters that takes a while for each step."""

import time
from typing import Any

from engine.batch import Batch, StepOutput
from tests.browser.live_first import show
from tests.viz.parrot import Parrot
from viz.pages.parts import live_controls, live_model

PACE = 0.3


class Slow(Parrot):
    def execute(self, batch: Batch) -> StepOutput:
        time.sleep(PACE)
        return super().execute(batch)


def load(report: Any) -> live_model.Ready:
    model = Slow()
    return live_model.Ready(model, model.words)


live_model.load = load
live_controls.SETTINGS = live_controls.SETTINGS.with_(num_blocks=100)
show()
