"""An agent with a system prompt and tools of 500 tokens works in 30 rounds. Each round appends an observation of 60 tokens
and an action of 40 and sends everything before it again, unchanged. Round 1 finds nothing, round 2 already 91 %, and the
share goes on rising: what is new stays 61 tokens while the prompt grows by 100 each time. It tends to 100 %.
"""

from itertools import count

from engine.settings import Settings
from scenarios.loads import rounds
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="agent-loop",
    section="H16",
    chips=("Sharing", "Radix"),
    title={"en": "An agent sends its history again and again"},
    question={"en": "Where does the hit share end?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B"),
    runs=(
        Run("radix", {"kv_manager": "radix", "block_size": 1, "num_blocks": 4_000}),
        Run("blocks-of-16", {"prefix_caching": True, "num_blocks": 250}),
    ),
    requests=tuple(rounds("agent", count(), num_rounds=30, system_len=500, question_len=60, answer_len=40, think=1.0)),
    cover=1,
    bookmarks=(
        Bookmark("radix", 0, {"en": "round 1: 560 tokens are computed"}),
        Bookmark("radix", 40, {"en": "round 2: 599 of 660 tokens are found"}),
        Bookmark("radix", 1_160, {"en": "round 30: 3,399 of 3,460 tokens are found"}),
        Bookmark("blocks-of-16", 1_160, {"en": "round 30: blocks of 16 find 3,392 tokens"}),
    ),
)
