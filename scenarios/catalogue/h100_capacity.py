"""Llama-3-8B on an H100: 50 GiB of KV are 25,600 blocks of 16 tokens. A request has 1,000 prompt tokens and 300
answer tokens, but might have asked for 4,096. Contiguous memory reserves 5,096 slots each, so 80 requests run
together and the others wait. Paged memory takes 82 blocks for a request at its end, so all 312 run together, about
four times as many, and the 16 blocks that are left would not do for one more.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="h100-capacity",
    section="C12",
    chips=("Paging",),
    title={"en": "80 or 312 requests on one H100"},
    question={"en": "Why 80 requests here and 312 there?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=25_600, max_model_len=5_096),
    runs=(Run("contiguous", {"kv_manager": "max"}), Run("paged", {"kv_manager": "paged"})),
    workload={"generator": "fixed", "num_requests": 312, "prompt_len": 1_000, "output_len": 300},
    cover=2,
    bookmarks=(
        Bookmark("contiguous", 0, {"en": "80 requests run, 232 wait"}),
        Bookmark("paged", 0, {"en": "all 312 requests are in"}),
        Bookmark("paged", 299, {"en": "312 times 82 blocks: 16 are left"}),
    ),
)
