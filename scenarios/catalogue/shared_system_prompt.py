"""798 requests of 1,000 prompt and 300 answer tokens share a system prompt of 800 tokens. With a prefix cache its 50
blocks are stored once, and every request after the first computes 200 instead of 1,000 prompt tokens. At its end a
request has 82 blocks, 32 of them its own: 50 + 798 x 32 = 25,586 of 25,600 blocks, so all 798 run together. Without
the cache a request needs 82 blocks for itself, 312 fit, and whoever came in too early is preempted.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SYSTEM = 1

SCENARIO = Scenario(
    name="shared-system-prompt",
    section="E09",
    chips=("Sharing", "Paging"),
    title={"en": "A system prompt of 800 tokens, stored once"},
    question={"en": "How many more requests does it let in?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=25_600),
    runs=(Run("without", {}), Run("cached", {"prefix_caching": True})),
    requests=read_requests(
        [
            {
                "id": f"R{number}",
                "arrival_s": 0.0,
                "prompt": {"runs": [[SYSTEM, 0, 800], [1 + number, 0, 200]]},
                "output_len": 300,
            }
            for number in range(1, 799)
        ]
    ),
    cover=1,
    bookmarks=(
        Bookmark("without", 0, {"en": "406 requests come in, 392 wait"}),
        Bookmark("cached", 0, {"en": "all 798 are in: one of them computes 1,000 tokens, the others 200"}),
        Bookmark("cached", 299, {"en": "25,586 of 25,600 blocks are used"}),
    ),
)
