"""One seat. Every request begins with the same 100 tokens, only `cold` shares nothing with anybody; it is the second to
arrive. The others come faster than they are done, so there is always somebody in the queue whose prefix is known, and
with longest prefix first `cold` runs when the stream has ended: the longer the stream, the longer it waits.

First come, first served takes it second. Aging is between the two: each pass that a request has waited counts as ten
cached tokens, so `cold` overtakes whoever came ten passes after it, and runs sixth.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

NUM_HOT = 60
SYSTEM, COLD = 1, 2

COLD_REQUEST = {"id": "cold", "tenant": "cold", "arrival_s": 1.0, "prompt": {"runs": [[COLD, 0, 120]]}, "output_len": 4}
HOT_REQUESTS = [
    {
        "id": f"hot {number + 1}",
        "tenant": "hot",
        "arrival_s": 3.0 * number,
        "prompt": {"runs": [[SYSTEM, 0, 100], [100 + number, 0, 20]]},
        "output_len": 4,
    }
    for number in range(NUM_HOT)
]

SCENARIO = Scenario(
    name="starved-request",
    section="H12",
    chips=("Scheduling", "Radix"),
    title={"en": "A request that shares nothing waits for ever"},
    question={"en": "Who pays for the best hit rate?"},
    story={"en": prose(__doc__)},
    settings=Settings(kv_manager="radix", block_size=1, num_blocks=400, max_num_seqs=1, step_time=1.0),
    runs=(
        Run("fcfs", {}),
        Run("longest-prefix-first", {"queue_order": "longest_prefix_first"}),
        Run("with-aging", {"queue_order": "longest_prefix_first", "queue_aging": 10}),
    ),
    requests=read_requests([*HOT_REQUESTS[:1], COLD_REQUEST, *HOT_REQUESTS[1:]]),
    cover=1,
    bookmarks=(
        Bookmark("fcfs", 4, {"en": "cold runs second"}),
        Bookmark("longest-prefix-first", 4, {"en": "hot 2 came later and goes first: 100 of its tokens are cached"}),
        Bookmark("longest-prefix-first", 120, {"en": "30 others have run, cold still waits"}),
        Bookmark("longest-prefix-first", 240, {"en": "the stream has ended; cold runs last of 61"}),
        Bookmark("with-aging", 20, {"en": "cold has waited ten passes more than hot 6: it runs sixth"}),
    ),
)
