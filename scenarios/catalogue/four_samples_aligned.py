"""A prompt of 96 tokens fills exactly six blocks of 16. Each sample begins a new block with its first own token,
nobody ever writes into a shared block, and nothing is copied: 22 blocks, no copy. Only a partly filled last block of
a prompt can ever be copied.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="four-samples-aligned",
    section="E04",
    chips=("Sharing",),
    title={"en": "A prompt that ends with its block is never copied"},
    question={"en": "Why is no block copied here?"},
    story={"en": prose(__doc__)},
    settings=Settings(num_blocks=48),
    runs=(Run("aligned", {}),),
    requests=read_requests([{"id": "A", "prompt": {"len": 96}, "output_len": 50, "n": 4}]),
    cover=1,
    bookmarks=(
        Bookmark("aligned", 0, {"en": "six full blocks, four readers"}),
        Bookmark("aligned", 1, {"en": "four new blocks, no copy"}),
        Bookmark("aligned", 49, {"en": "22 blocks, no copy"}),
    ),
)
