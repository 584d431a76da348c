"""Three requests begin with the same 1,000 tokens. The first asks to translate hello: nothing is known yet, all 1,004
tokens are computed. The second asks to translate goodbye, the third for a summary of 200 tokens. In blocks of 16 the
shared part is 62 full blocks, 992 tokens, and a rest of 8 that lies in a block with something else in it. So each of
the two finds 992 tokens, although the second shares 1,002 with the first: what does not fill a block is not found.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SYSTEM, TRANSLATE, HELLO, GOODBYE, TEXT = range(1, 6)

SCENARIO = Scenario(
    name="thousand-shared",
    section="H04",
    chips=("Sharing", "Paging"),
    title={"en": "1,000 shared tokens, 992 found"},
    question={"en": "Why 992 and not 1,002?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=240),
    runs=(Run("without", {}), Run("blocks-of-16", {"prefix_caching": True})),
    requests=read_requests(
        [
            {
                "id": "hello",
                "arrival_s": 0.0,
                "prompt": {"runs": [[SYSTEM, 0, 1000], [TRANSLATE, 0, 2], [HELLO, 0, 2]]},
                "output_len": 4,
            },
            {
                "id": "goodbye",
                "arrival_s": 1.0,
                "prompt": {"runs": [[SYSTEM, 0, 1000], [TRANSLATE, 0, 2], [GOODBYE, 0, 2]]},
                "output_len": 4,
            },
            {
                "id": "summary",
                "arrival_s": 2.0,
                "prompt": {"runs": [[SYSTEM, 0, 1000], [TEXT, 0, 200]]},
                "output_len": 4,
            },
        ]
    ),
    cover=2,
    bookmarks=(
        Bookmark("blocks-of-16", 0, {"en": "nothing is known: 1,004 tokens are computed"}),
        Bookmark("blocks-of-16", 4, {"en": "62 blocks are found, 12 tokens are computed"}),
        Bookmark("blocks-of-16", 8, {"en": "62 blocks are found, 208 tokens are computed"}),
    ),
)
