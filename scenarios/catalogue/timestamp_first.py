"""Ten requests share a system prompt of 480 tokens, but each begins with a timestamp of 10 tokens of its own. A block
is known by all tokens from the start of its sequence, so the first block differs and none of the blocks after it can
be found: the hit rate is 0, and all ten prompts of 520 tokens are computed, as if nothing were shared.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SYSTEM = 1

SCENARIO = Scenario(
    name="timestamp-first",
    section="H14",
    chips=("Sharing", "Paging"),
    title={"en": "A timestamp in front of the prompt"},
    question={"en": "What can ten tokens in front spoil?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=400, prefix_caching=True),
    runs=(Run("timestamp-first", {}),),
    requests=read_requests(
        [
            {
                "id": f"R{number}",
                "arrival_s": 0.5 * (number - 1),
                "prompt": {"runs": [[100 + number, 0, 10], [SYSTEM, 0, 480], [200 + number, 0, 30]]},
                "output_len": 8,
            }
            for number in range(1, 11)
        ]
    ),
    cover=1,
    bookmarks=(
        Bookmark("timestamp-first", 0, {"en": "R1: 520 tokens are computed"}),
        Bookmark("timestamp-first", 8, {"en": "R2 shares 480 tokens and finds none of them"}),
        Bookmark("timestamp-first", 72, {"en": "R10: 520 tokens are computed again"}),
    ),
)
