"""Four loads one after the other, and how much of their prompts a cache knows. Ten unrelated prompts: nothing. Ten with the
same system prompt of 500 of 1,000 tokens: all but the first find it, 45 %. Ten questions with 900 tokens of examples:
81 %. An agent that sends its whole history in each of 20 rounds: above 90 %. The share of a prompt that was there before
is all that counts; blocks of 16 lose what does not fill a block, pages of one token lose nothing.
"""

from functools import partial
from itertools import count

from engine.settings import Settings
from scenarios.loads import rounds, stream
from scenarios.scenario import Bookmark, Run, Scenario, prose

NEW = count()
ten = partial(stream, contents=NEW, num_requests=10, output_len=8, interval=0.5)

SCENARIO = Scenario(
    name="four-loads",
    section="H06",
    chips=("Sharing", "Radix"),
    title={"en": "Four loads, hit rates from 0 to 90 %"},
    question={"en": "How much of a prompt is old news?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B"),
    runs=(
        Run("radix", {"kv_manager": "radix", "block_size": 1, "num_blocks": 40_000}),
        Run("blocks-of-16", {"prefix_caching": True, "num_blocks": 2_500}),
    ),
    requests=(
        *ten("unrelated", shared_len=0, own_len=1_000),
        *ten("system prompt", shared_len=500, own_len=500, start=10.0),
        *ten("few-shot", shared_len=900, own_len=100, start=20.0),
        *rounds("agent", NEW, num_rounds=20, system_len=400, question_len=60, answer_len=40, start=30.0, think=0.5),
    ),
    cover=2,
    bookmarks=(
        Bookmark("radix", 72, {"en": "unrelated: the tenth prompt is computed as a whole"}),
        Bookmark("radix", 88, {"en": "system prompt: 500 of 1,000 tokens are found"}),
        Bookmark("radix", 168, {"en": "few-shot: 900 of 1,000 tokens are found"}),
        Bookmark("radix", 1_000, {"en": "agent, round 20: 2,299 of 2,360 tokens are found"}),
        Bookmark("blocks-of-16", 88, {"en": "system prompt: 496 tokens are found, the last four fill no block"}),
    ),
)
