"""A chat of eight rounds: each question has 50 tokens, each answer 150, and every round sends all earlier ones again.
Without a cache the prompts cost 50, 250, 450 ... 1,450 tokens, 6,000 in all: the sum grows with the square of the
rounds. With a cache a round computes its new question only, 8 x 50 = 400 tokens, and the last token of the answer
before, which was sampled but never computed: 407. Blocks of 16 forget what does not fill a block: 480.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="chat-rounds",
    section="H08",
    chips=("Sharing", "Paging"),
    title={"en": "Eight rounds of a chat: 6,000 or 400 tokens"},
    question={"en": "What does each round compute again?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=112),
    runs=(
        Run("without", {}),
        Run("blocks-of-16", {"prefix_caching": True}),
        Run("blocks-of-1", {"prefix_caching": True, "block_size": 1, "num_blocks": 1_700}),
    ),
    workload={"generator": "chat", "rounds": 8, "question_len": 50, "answer_len": 150, "think_s": 2.0},
    cover=2,
    bookmarks=(
        Bookmark("without", 0, {"en": "round 1: 50 tokens to compute"}),
        Bookmark("without", 1_050, {"en": "round 8: all 1,450 tokens are computed again"}),
        Bookmark("blocks-of-16", 1_050, {"en": "round 8: 87 blocks are found, 58 tokens are computed"}),
        Bookmark("blocks-of-1", 1_050, {"en": "round 8: 1,399 tokens are found, 51 are computed"}),
    ),
)
