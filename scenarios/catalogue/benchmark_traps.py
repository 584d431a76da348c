"""Three benchmarks of the same cache, one after the other. Twelve random prompts of 2,400 tokens: nothing is ever found, so
the cache seems to be useless. Twelve equal prompts: all but the first find everything, and the first token comes ten
times earlier, so the cache seems to be magic. Twelve prompts as they come in a shop, of which half is a common system
prompt: less than twice as early. Only the structure of real traffic tells what a cache is worth.
"""

from functools import partial
from itertools import count

from engine.settings import Settings
from scenarios.loads import stream
from scenarios.scenario import Bookmark, Run, Scenario, prose

NEW = count()
twelve = partial(stream, contents=NEW, num_requests=12, output_len=8, interval=0.5)

SCENARIO = Scenario(
    name="benchmark-traps",
    section="H19",
    chips=("Sharing",),
    title={"en": "Random prompts, equal prompts, real prompts"},
    question={"en": "Useless, or ten times as fast?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=320),
    runs=(Run("without", {}), Run("cached", {"prefix_caching": True})),
    requests=(
        *twelve("random", shared_len=0, own_len=2_400),
        *twelve("equal", shared_len=2_400, own_len=0, start=10.0),
        *twelve("traffic", shared_len=1_200, own_len=1_200, start=20.0),
    ),
    cover=1,
    bookmarks=(
        Bookmark("cached", 8, {"en": "random prompts: 2,400 tokens are computed every time"}),
        Bookmark("cached", 104, {"en": "equal prompts: 16 tokens are computed, the first one comes ten times earlier"}),
        Bookmark("cached", 200, {"en": "traffic: half of the prompt is found"}),
        Bookmark("without", 200, {"en": "traffic without a cache: 2,400 tokens are computed"}),
    ),
)
