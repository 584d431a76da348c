"""The context limit is 2,048 tokens, so the manager reserves 2,048 slots for every request. A uses 512 of them: 1,536
slots, 75 percent, were kept for nothing, and nobody knew before A ended. B has reserved as much and has only just
begun. C waits: 1,024 slots are free, enough for what it will use, but not for what would be reserved.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="reserve-2048",
    section="C02",
    chips=("Paging",),
    title={"en": "2,048 slots reserved, 512 used"},
    question={"en": "Why does C wait while 1,024 slots are free?"},
    story={"en": prose(__doc__)},
    settings=Settings(kv_capacity_tokens=5120, max_model_len=2048),
    runs=(Run("max", {"kv_manager": "max"}), Run("paged", {"kv_manager": "paged"})),
    requests=read_requests(
        [
            {"id": "A", "arrival_s": 0.0, "prompt": "Artificial Intelligence is", "output_len": 510},
            {"id": "B", "arrival_s": 9.2, "prompt": {"len": 20}, "output_len": 100},
            {"id": "C", "arrival_s": 9.2, "prompt": {"len": 300}, "output_len": 100},
        ]
    ),
    cover=1,
    bookmarks=(
        Bookmark("max", 502, {"en": "B and C arrive: B gets 2,048 slots, C waits"}),
        Bookmark("max", 509, {"en": "the last step of A: 512 slots used, 1,536 never"}),
        Bookmark("max", 510, {"en": "only now C can be placed"}),
        Bookmark("paged", 502, {"en": "all three are in: 53 of 320 blocks"}),
    ),
)
