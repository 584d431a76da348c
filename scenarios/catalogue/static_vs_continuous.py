"""400 requests with lengths like those of ShareGPT arrive eight a second, more than the card can serve. Static
batching takes eight at a time; answers differ so much in length that about two thirds of its places wait for the
longest member. Continuous batching gives a place to the next request in the same iteration and runs as many as the
memory holds. The memory is paged in both runs.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="static-vs-continuous",
    section="B07",
    chips=("Batching", "Scheduling"),
    title={"en": "400 chats: static against continuous batching"},
    question={"en": "Why do seven of eight places idle?"},
    story={"en": prose(__doc__)},
    seed=1,
    settings=Settings(kv_capacity_tokens=12_207, max_model_len=2048, admit_lookahead=1),
    runs=(
        Run("static", {"policy": "static", "static_start": "full", "max_num_seqs": 8}),
        Run("continuous", {"policy": "continuous"}),
    ),
    workload={"generator": "sharegpt-like", "num_requests": 400, "rate": 8.0},
    cover=1,
    bookmarks=(
        Bookmark("static", 0, {"en": "eight requests have come: the first batch starts"}),
        Bookmark("static", 232, {"en": "one of eight still works; seven places stay empty until iteration 1,025"}),
        Bookmark("static", 1024, {"en": "the second batch starts; 147 requests wait"}),
        Bookmark("continuous", 122, {"en": "30 requests run when the memory is full for the first time"}),
        Bookmark("continuous", 125, {"en": "a running request needs a block and none is free: preemption"}),
        Bookmark("continuous", 4532, {"en": "37 requests at once"}),
    ),
)
