"""Three requests begin with the same 1,000 tokens, now in a radix tree whose pages are single tokens. The first asks to
translate hello: nothing is known, all 1,004 tokens are computed. The second asks to translate goodbye: 1,002 tokens are
found, the node splits there and 2 are computed. The third wants a summary of 200 tokens: 1,000 are found, the node splits
once more. The tree is the story of the prompts: the system prompt, below it the task, below that the two words.
"""

from engine.settings import Settings
from scenarios.catalogue import thousand_shared
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="thousand-shared-tree",
    section="H03",
    chips=("Radix", "Sharing"),
    title={"en": "1,000 shared tokens in a tree"},
    question={"en": "Where does the tree split?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", kv_manager="radix", block_size=1, num_blocks=1_400),
    runs=(Run("radix", {}),),
    requests=thousand_shared.SCENARIO.requests,
    cover=2,
    bookmarks=(
        Bookmark("radix", 0, {"en": "nothing is known: 1,004 tokens are computed"}),
        Bookmark("radix", 4, {"en": "1,002 tokens are found, 2 are computed"}),
        Bookmark("radix", 8, {"en": "1,000 tokens are found, 200 are computed"}),
    ),
)
