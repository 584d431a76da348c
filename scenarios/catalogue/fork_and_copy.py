"""Sequence p has a prompt of six tokens in blocks 7 and 6, four tokens a block. Two forks share both blocks for
nothing. Then each fork wants to write its own seventh token into the half full block 6, which others still read: each
gets a copy first, s1 block 5 and s2 block 4. Block 7 is full and will never be written again, so it is never copied.
When p ends, block 6 has no reader left and becomes free, while block 7 stays with two readers.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="fork-and-copy",
    section="E02",
    chips=("Sharing",),
    title={"en": "Fork, share, copy on write"},
    question={"en": "Why is block 6 copied and block 7 never?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, num_blocks=8, free_list="stack"),
    runs=(Run("paged", {}),),
    ops=(
        ("allocate", "p", 6),
        ("fork", "p", "s1"),
        ("fork", "p", "s2"),
        ("append", "s1", 1),
        ("append", "s2", 1),
        ("free", "p"),
    ),
    cover=1,
    bookmarks=(
        Bookmark("paged", 2, {"en": "three readers, two blocks"}),
        Bookmark("paged", 3, {"en": "s1 writes: block 6 is copied to 5"}),
        Bookmark("paged", 4, {"en": "s2 writes: block 6 is copied to 4"}),
        Bookmark("paged", 5, {"en": "p ends: block 7 keeps two readers, five blocks are free"}),
    ),
)
