"""The same ten requests with the timestamp at the end. The system prompt of 480 tokens fills 30 blocks, which the first
request computes and the other nine find: each of them computes 40 tokens of 520. The hit rate is 9 x 480 of 10 x 520
tokens, 83 percent. What changes from one request to the next belongs behind what stays.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SYSTEM = 1

SCENARIO = Scenario(
    name="timestamp-last",
    section="H14",
    chips=("Sharing", "Paging"),
    title={"en": "The timestamp behind the prompt"},
    question={"en": "How many of 520 tokens are found?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=400, prefix_caching=True),
    runs=(Run("timestamp-last", {}),),
    requests=read_requests(
        [
            {
                "id": f"R{number}",
                "arrival_s": 0.5 * (number - 1),
                "prompt": {"runs": [[SYSTEM, 0, 480], [200 + number, 0, 30], [100 + number, 0, 10]]},
                "output_len": 8,
            }
            for number in range(1, 11)
        ]
    ),
    cover=1,
    bookmarks=(
        Bookmark("timestamp-last", 0, {"en": "R1: 520 tokens are computed, 32 blocks are known"}),
        Bookmark("timestamp-last", 8, {"en": "R2 finds 30 blocks and computes 40 tokens"}),
        Bookmark("timestamp-last", 72, {"en": "R10: the same"}),
    ),
)
