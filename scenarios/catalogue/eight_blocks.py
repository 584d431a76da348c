"""A pool of eight blocks with sixteen tokens each. A and B grow in turns and take whatever block comes next: A holds
0, 2 and 6, B holds 1, 4 and 7. Neither is contiguous and neither needs to be; blocks 3 and 5 are free for anybody.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="eight-blocks",
    section="D03",
    chips=("Paging",),
    title={"en": "Two sequences in a pool of eight blocks"},
    question={"en": "Must the blocks of A lie side by side?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=16, num_blocks=8, block_script=(0, 1, 2, 4, 6, 7)),
    runs=(Run("paged", {}),),
    ops=(
        ("allocate", "A", 16),
        ("allocate", "B", 16),
        ("append", "A", 16),
        ("append", "B", 16),
        ("append", "A", 16),
        ("append", "B", 16),
    ),
    cover=1,
    bookmarks=(
        Bookmark("paged", 2, {"en": "the second block of A is not beside its first"}),
        Bookmark("paged", 5, {"en": "A: 0, 2, 6; B: 1, 4, 7; free: 3, 5"}),
    ),
)
