"""One sequence that ends with 1,000 stored tokens. In blocks of 16 it fills 62 and puts eight tokens into a 63rd:
eight slots are wasted. A reservation of the longest possible request, 2,048 slots, wastes 1,048. Rounding the total
up to a power of two reserves 1,024 and wastes only 24, but holds them from the first step to the last.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="last-block",
    section="C06",
    chips=("Paging",),
    title={"en": "1,000 tokens: what is left over"},
    question={"en": "Who wastes 8 slots, who 24, who 1,048?"},
    story={"en": prose(__doc__)},
    settings=Settings(num_blocks=128, max_model_len=2048, pow2_of="total"),
    runs=(
        Run("paged", {"kv_manager": "paged"}),
        Run("max", {"kv_manager": "max"}),
        Run("pow2", {"kv_manager": "pow2"}),
    ),
    requests=read_requests([{"id": "A", "prompt": {"len": 980}, "output_len": 21}]),
    cover=None,
    bookmarks=(
        Bookmark("paged", 20, {"en": "62 full blocks and eight tokens: eight slots wasted"}),
        Bookmark("max", 20, {"en": "2,048 reserved, 1,048 never used"}),
        Bookmark("pow2", 0, {"en": "1,024 slots are held from the first step on"}),
        Bookmark("pow2", 20, {"en": "24 slots never used"}),
    ),
)
