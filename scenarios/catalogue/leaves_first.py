"""Two questions begin with the same eight words; a page has four. Then comes a text that shares nothing and needs the room
of three pages that are cached. A third question begins with the eight words again.

In the radix tree only leaves may go: the pages of the two questions, while the shared beginning stays, so the third
question finds all of it. Hash blocks know no tree, but a request gives its blocks back with its tail first, so the tail
is evicted first: the same. The counterfactual gives back the head first. Three blocks go as well, but one of them is the
beginning of everything: three other blocks are still known, and nobody can ever find them, because a match goes from the
first block on and stops at the first that is missing. The third question finds nothing.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SYSTEM = "you are a guide in an old town"
OTHER = (
    "one two three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)

WORDS: dict[str, int] = {}
REQUESTS = read_requests(
    [
        {"id": "tower", "arrival_s": 0.0, "prompt": f"{SYSTEM} how high is the tower up there", "output_len": 2},
        {"id": "bridge", "arrival_s": 3.0, "prompt": f"{SYSTEM} when did they build this bridge then", "output_len": 2},
        {"id": "other", "arrival_s": 6.0, "prompt": OTHER, "output_len": 2},
        {"id": "market", "arrival_s": 9.0, "prompt": f"{SYSTEM} where is the market", "output_len": 2},
    ],
    WORDS,
)

SCENARIO = Scenario(
    name="leaves-first",
    section="H13",
    chips=("Radix", "Sharing", "Paging"),
    title={"en": "Why leaves are evicted first"},
    question={"en": "What if the root went first?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, num_blocks=9, step_time=1.0),
    runs=(
        Run("radix", {"kv_manager": "radix"}),
        Run("tail-first", {"prefix_caching": True}),
        Run("head-first", {"prefix_caching": True, "freed_first": "head"}),
    ),
    requests=REQUESTS,
    vocabulary=tuple(WORDS),
    cover=2,
    bookmarks=(
        Bookmark("radix", 4, {"en": "the first leaf goes, the end of the question about the tower"}, event=2),
        Bookmark("radix", 6, {"en": "the shared beginning is still there: 8 of 12 words are found"}, event=2),
        Bookmark(
            "head-first",
            5,
            {"en": "block 0 goes, where both questions begin; three blocks behind it stay known"},
            event=1,
        ),
        Bookmark("head-first", 6, {"en": "nothing is found: the match stops at the first block that is missing"}),
        Bookmark("tail-first", 6, {"en": "blocks 0 and 1 are found, for the tails went first"}),
    ),
)
