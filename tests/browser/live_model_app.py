"""The app with the page Live first, on the real model, with answers that are long enough to be looked at.

One thread is enough, and the browser needs the other processor.
"""

import torch

from tests.browser.live_first import show
from viz.pages.parts import live_controls, live_prompts

torch.set_num_threads(1)
live_prompts.ANSWER = 100
live_controls.SETTINGS = live_controls.SETTINGS.with_(num_blocks=100)
show()
