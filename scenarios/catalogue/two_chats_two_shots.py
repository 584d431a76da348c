"""Two chats begin with the same system prompt, two questions with the same examples, and the memory holds 40 words; a word
is a token. Chat 1 runs, and its second round finds what the first one left. While it answers, chat 2 comes: it shares
five words with chat 1, so the node splits there, and both lock the system prompt. The first question fills the memory.

The second question finds the eight words of the examples and needs six slots more, where none is free. The oldest branch
goes: first its leaf, the answer of chat 1, then the leaf above it. System prompt and examples stay, because nodes with
children are no leaves and locked ones may not go (SGLang paper, figure 3).
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SYSTEM = "You are a kind tutor"
FIRST_ROUND = f"{SYSTEM} what is a cache"
EXAMPLES = "sea = mer ; sky = ciel ;"

WORDS: dict[str, int] = {}
REQUESTS = read_requests(
    [
        {
            "id": "chat 1",
            "tenant": "chat 1",
            "arrival_s": 0.0,
            "prompt": FIRST_ROUND,
            "output": "a small fast store",
            "output_len": 4,
        },
        {
            "id": "chat 1 again",
            "tenant": "chat 1",
            "after": "chat 1",
            "delay_s": 1.0,
            "prompt": f"{FIRST_ROUND} a small fast store and who clears it",
            "output": "the rule least recently used",
            "output_len": 5,
        },
        {
            "id": "chat 2",
            "tenant": "chat 2",
            "arrival_s": 7.0,
            "prompt": f"{SYSTEM} tell me a joke",
            "output": "two bits walk into a bar",
            "output_len": 6,
        },
        {
            "id": "few-shot 1",
            "tenant": "few-shot",
            "arrival_s": 15.0,
            "prompt": f"{EXAMPLES} sun =",
            "output": "soleil",
            "output_len": 1,
        },
        {
            "id": "few-shot 2",
            "tenant": "few-shot",
            "arrival_s": 17.0,
            "prompt": f"{EXAMPLES} good night dear old moon =",
            "output": "bonne nuit lune",
            "output_len": 3,
        },
    ],
    WORDS,
)

SCENARIO = Scenario(
    name="two-chats-two-shots",
    section="H05",
    chips=("Radix", "Sharing"),
    title={"en": "Two chats and two few-shot questions"},
    question={"en": "Which words stay when 40 are too few?"},
    story={"en": prose(__doc__)},
    settings=Settings(kv_manager="radix", block_size=1, num_blocks=40, step_time=1.0),
    runs=(Run("radix", {}),),
    requests=REQUESTS,
    vocabulary=tuple(WORDS),
    cover=6,
    bookmarks=(
        Bookmark("radix", 4, {"en": "round 2 finds the 12 words of round 1 and locks them"}, event=2),
        Bookmark(
            "radix", 6, {"en": "chat 2 shares 5 words: the node splits there, both halves keep the lock"}, event=3
        ),
        Bookmark("radix", 6, {"en": "both chats lock the system prompt"}, event=4),
        Bookmark("radix", 12, {"en": "the first question fills the memory: 40 of 40 words"}, event=3),
        Bookmark("radix", 13, {"en": "the oldest branch goes: first its leaf, 4 words"}, event=3),
        Bookmark("radix", 13, {"en": "then the 5 words above it, a leaf now"}, event=4),
        Bookmark("radix", 13, {"en": "8 of 14 words are found: the examples stayed"}, event=5),
    ),
)
