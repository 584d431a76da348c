"""Request A, "Artificial Intelligence is", stores three prompt tokens and then needs room for its answer. Contiguous
memory has to be reserved at the start, and three kinds of waste appear. Reserved slots will be used, but only later,
and keep others out until then. Internal waste are slots that were reserved and are never used; it is known only at
the end. External waste are holes between the strips: D could be served if the free slots lay together. Max reserves
the context limit of 16, Pow2 rounds the answer up to a power of two, Oracle knows the answer and still reserves too
early. Paged memory takes blocks of four as they fill, and admits everybody at once.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="three-wastes",
    section="C02",
    chips=("Paging",),
    title={"en": "Reserved, internal, external: three kinds of waste"},
    question={"en": "Why does D not fit into 13 free slots?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, kv_capacity_tokens=32, max_model_len=16),
    runs=tuple(Run(manager, {"kv_manager": manager}) for manager in ("max", "pow2", "oracle", "paged")),
    requests=read_requests(
        [
            {"id": "A", "prompt": "Artificial Intelligence is", "output_len": 6},
            {"id": "B", "prompt": {"len": 3}, "output_len": 10},
            {"id": "C", "prompt": {"len": 4}, "output_len": 3},
            {"id": "D", "prompt": {"len": 4}, "output_len": 7},
        ]
    ),
    cover=2,
    bookmarks=(
        Bookmark("max", 0, {"en": "16 slots each: A and B fill the memory, C and D wait"}),
        Bookmark("max", 5, {"en": "the last step of A: 8 of its 16 slots were never needed"}),
        Bookmark("pow2", 9, {"en": "13 slots are free, but not in one piece: D needs 12"}),
        Bookmark("oracle", 0, {"en": "exact sizes, and still most slots only wait for their token"}),
        Bookmark("oracle", 6, {"en": "holes of 9 and 10 slots; D needs 11 in one piece"}),
        Bookmark("paged", 0, {"en": "one block each: all four are in"}),
        Bookmark("paged", 2, {"en": "every block is taken, none is empty"}),
    ),
)
