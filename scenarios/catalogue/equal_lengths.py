"""The same 400 arrivals, but every answer has 220 tokens. Nobody in a batch waits for a longer member any more, and
the gap between static and continuous batching shrinks. What remains comes from the size of the batch: static stays at
eight, continuous takes as many as the memory holds.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="equal-lengths",
    section="B07",
    chips=("Batching", "Scheduling"),
    title={"en": "400 chats with answers of equal length"},
    question={"en": "What is still won when all are equal?"},
    story={"en": prose(__doc__)},
    seed=1,
    settings=Settings(kv_capacity_tokens=12_207, max_model_len=2048, admit_lookahead=1),
    runs=(
        Run("static", {"policy": "static", "static_start": "full", "max_num_seqs": 8}),
        Run("continuous", {"policy": "continuous"}),
    ),
    workload={"generator": "sharegpt-like", "num_requests": 400, "rate": 8.0, "output_len": 220},
    cover=1,
    bookmarks=(
        Bookmark("static", 0, {"en": "eight answers of 220 tokens begin together"}),
        Bookmark("static", 219, {"en": "and end together: no place was ever idle"}),
        Bookmark("continuous", 115, {"en": "31 requests run when the first one has to be preempted"}),
        Bookmark("continuous", 2476, {"en": "47 requests at once"}),
    ),
)
