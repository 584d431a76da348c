"""Six kinds of load, one after the other, without and with a prefix cache. A system prompt, few-shot examples, a chat, the
same question sampled ten times, an agent: in each of them a prompt begins like one before it, and its first token comes
earlier. Unrelated prompts gain nothing at all, and lose nothing either: their times are the same to the last digit.
"""

from functools import partial
from itertools import count

from engine.settings import Settings
from scenarios.loads import rounds, stream
from scenarios.scenario import Bookmark, Run, Scenario, prose

NEW = count()
ten = partial(stream, contents=NEW, num_requests=10, output_len=8, interval=0.5)
chat = partial(rounds, ids=NEW, num_rounds=12, question_len=50, answer_len=50, think=0.5)

SCENARIO = Scenario(
    name="who-benefits",
    section="H17",
    chips=("Sharing",),
    title={"en": "Six loads with and without a prefix cache"},
    question={"en": "Which loads gain from a cache?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=320),
    runs=(Run("without", {}), Run("cached", {"prefix_caching": True})),
    requests=(
        *ten("unrelated", shared_len=0, own_len=2_000),
        *ten("system prompt", shared_len=1_600, own_len=400, start=10.0),
        *ten("few-shot", shared_len=1_900, own_len=100, start=20.0),
        *ten("samples", shared_len=2_000, own_len=0, start=30.0),
        *chat("chat", system_len=800, start=40.0),
        *chat("agent", system_len=2_000, start=60.0),
    ),
    cover=1,
    bookmarks=(
        Bookmark("cached", 72, {"en": "unrelated: 2,000 tokens are computed, as without a cache"}),
        Bookmark("cached", 88, {"en": "system prompt: 1,600 of 2,000 tokens are found"}),
        Bookmark("cached", 168, {"en": "few-shot: 1,888 of 2,000 tokens are found"}),
        Bookmark("cached", 248, {"en": "the same question again: 1,984 of 2,000 tokens are found"}),
        Bookmark("cached", 870, {"en": "chat, round 12: 1,888 of 1,950 tokens are found"}),
        Bookmark("cached", 1_470, {"en": "agent, round 12: 3,088 of 3,150 tokens are found"}),
        Bookmark("without", 1_470, {"en": "agent, round 12: all 3,150 tokens are computed"}),
    ),
)
