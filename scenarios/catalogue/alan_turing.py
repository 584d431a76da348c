"""The prompt "Alan Turing is a computer scientist" has six tokens. Four fill physical block 3, two open block 2. The
next two words, "and" and "mathematician", find room in block 2. Only the third, "renowned", needs a new block:
physical block 0. Blocks are taken one at a time, when the first token has to be stored in them, and they need not be
neighbours.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="alan-turing",
    section="D02",
    chips=("Paging",),
    title={"en": "Alan Turing: blocks on demand"},
    question={"en": "Which word needs a new block?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, num_blocks=8, block_script=(3, 2, 0)),
    runs=(Run("paged", {}),),
    ops=(("allocate", "A", 6), ("append", "A", 1), ("append", "A", 1), ("append", "A", 1)),
    cover=2,
    bookmarks=(
        Bookmark("paged", 0, {"en": "Alan Turing is a | computer scientist"}),
        Bookmark("paged", 2, {"en": '"and" and "mathematician" fill block 2'}),
        Bookmark("paged", 3, {"en": '"renowned" needs a new block'}),
    ),
)
