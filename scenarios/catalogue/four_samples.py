"""Four answers of 50 tokens to one prompt of 100 tokens. The prompt is computed once and fills six blocks and four
slots of a seventh. All four samples read these blocks. When they write their first own token, the first three get a
copy of the seventh block; the fourth is by then its only reader and writes in place. At the end 6 + 4 + 12 = 22
blocks are in use, where four separate requests take 40: 45 percent are saved, for three copies.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="four-samples",
    section="E03",
    chips=("Sharing",),
    title={"en": "Four samples share one prompt"},
    question={"en": "Why three copies of block 6, not four?"},
    story={"en": prose(__doc__)},
    settings=Settings(num_blocks=48),
    runs=(Run("shared", {}),),
    requests=read_requests([{"id": "A", "prompt": {"len": 100}, "output_len": 50, "n": 4}]),
    cover=1,
    bookmarks=(
        Bookmark("shared", 0, {"en": "one prompt, seven blocks, four readers"}),
        Bookmark("shared", 1, {"en": "three copies; the fourth sample writes in place"}),
        Bookmark("shared", 49, {"en": "22 blocks instead of 40"}),
    ),
)
