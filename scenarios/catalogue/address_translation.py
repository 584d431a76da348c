"""Where does token 9 of sequence A lie? A block holds four tokens, so the token has logical block 9 // 4 = 2 and
offset 9 % 4 = 1. The block table of A is [7, 2, 5]: the token lies in physical block 5, second slot. B has six tokens
and the table [3, 4]. Blocks 0, 1 and 6 are free, and all that is wasted are two slots at the end of block 5 and two
of block 4.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="address-translation",
    section="D01",
    chips=("Paging",),
    title={"en": "A block table translates addresses"},
    question={"en": "In which block does token 9 of A lie?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, num_blocks=8, block_script=(7, 2, 5, 3, 4)),
    runs=(Run("paged", {}),),
    ops=(("allocate", "A", 10), ("allocate", "B", 6)),
    cover=1,
    bookmarks=(
        Bookmark("paged", 0, {"en": "token 9 of A: block table[9 // 4] = 5, offset 9 % 4 = 1"}),
        Bookmark("paged", 1, {"en": "two slots of block 5 and two of block 4 are all the waste"}),
    ),
)
