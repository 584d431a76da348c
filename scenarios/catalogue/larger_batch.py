"""24 requests share a system prompt of 512 tokens and have 32 of their own; each answers 33 tokens, so at its end it has 36
blocks. The memory has 200: without a cache five prompts of 34 blocks fit. With hash blocks the 32 blocks of the system
prompt are stored once, in the very first step, and everybody is in at once: 32 + 24 x 4 = 128 blocks.

In a radix tree the first five compute the system prompt each for itself, because nothing is inserted before it is
computed. After the first step the tree has it once, their copies go back, and in the second step all others are in.
"""

from itertools import count

from engine.settings import Settings
from scenarios.loads import stream
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="larger-batch",
    section="H18",
    chips=("Sharing", "Paging", "Radix"),
    title={"en": "Shared KV is stored once: a larger batch"},
    question={"en": "What else does a hit save?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=200),
    runs=(
        Run("without", {}),
        Run("blocks", {"prefix_caching": True}),
        Run("radix", {"kv_manager": "radix"}),
    ),
    requests=tuple(stream("R", count(), num_requests=24, shared_len=512, own_len=32, output_len=33)),
    cover=1,
    bookmarks=(
        Bookmark("without", 0, {"en": "five prompts of 34 blocks fit, 19 requests wait"}),
        Bookmark("blocks", 0, {"en": "all 24 are in: the 32 blocks of the system prompt are stored once"}),
        Bookmark("blocks", 32, {"en": "the end: 32 + 24 x 4 = 128 of 200 blocks"}),
        Bookmark("radix", 0, {"en": "five have computed the system prompt, each for itself"}),
        Bookmark("radix", 1, {"en": "the tree has it once: the other 19 find it and come in"}),
    ),
)
