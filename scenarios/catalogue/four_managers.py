"""One stream of 400 requests, three a second, four ways to manage 12,207 token slots. Max reserves the context limit
for everybody, Pow2 rounds the answer up to a power of two, Oracle knows every answer in advance, and paged memory
takes blocks of 16 as they fill. The share of the occupied memory that holds tokens rises from a quarter to almost all
of it. With Oracle it is little more than half: knowing the length does not change that it has to be reserved at the
start.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="four-managers",
    section="C04",
    chips=("Paging",),
    title={"en": "Four memory managers under one load"},
    question={"en": "Why does even Oracle waste 44%?"},
    story={"en": prose(__doc__)},
    seed=1,
    settings=Settings(kv_capacity_tokens=12_207, max_model_len=2048, admit_lookahead=1),
    runs=tuple(Run(manager, {"kv_manager": manager}) for manager in ("max", "pow2", "oracle", "paged")),
    workload={"generator": "sharegpt-like", "num_requests": 400, "rate": 3.0},
    cover=None,
    bookmarks=(
        Bookmark("max", 116, {"en": "five requests fill the memory, the sixth waits"}),
        Bookmark("pow2", 258, {"en": "free slots lie in holes, and the head of the queue fits into none"}),
        Bookmark("oracle", 299, {"en": "17 requests; 2,892 slots are free and of no use to the next one"}),
        Bookmark("paged", 838, {"en": "22 requests are in, and now a growing one needs a block: preemption"}),
        Bookmark("paged", 4808, {"en": "38 requests at once"}),
    ),
)
