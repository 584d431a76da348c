"""The same four answers as four separate requests: every one brings its own copy of the prompt. Each takes seven
blocks for 100 prompt tokens and ten in the end, 40 blocks together, and the prompt is computed four times. Sharing
needs 22.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="four-samples-unshared",
    section="E03",
    chips=("Sharing",),
    title={"en": "Four requests that share nothing"},
    question={"en": "Where do 18 more blocks go?"},
    story={"en": prose(__doc__)},
    settings=Settings(num_blocks=48),
    runs=(Run("unshared", {}),),
    requests=read_requests([{"id": f"A{i}", "prompt": {"len": 100}, "output_len": 50} for i in range(1, 5)]),
    cover=1,
    bookmarks=(
        Bookmark("unshared", 0, {"en": "28 blocks for four times the same prompt"}),
        Bookmark("unshared", 49, {"en": "40 blocks"}),
    ),
)
