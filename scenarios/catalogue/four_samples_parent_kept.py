"""The parent P keeps its 100 tokens while four forks write. Now the seventh block always has one reader more, so the
fourth writer finds it shared as well: four copies instead of three, and 23 blocks instead of 22, because P holds on
to the original. The samples write in turns: one token, eleven to fill the block, then blocks of sixteen and the last
six.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SAMPLES = ("S1", "S2", "S3", "S4")
TURNS = (1, 11, 16, 16, 6)

SCENARIO = Scenario(
    name="four-samples-parent-kept",
    section="E04",
    chips=("Sharing",),
    title={"en": "A parent that stays makes one copy more"},
    question={"en": "Who makes a fourth copy necessary?"},
    story={"en": prose(__doc__)},
    settings=Settings(num_blocks=48),
    runs=(Run("parent-kept", {}),),
    ops=(
        ("allocate", "P", 100),
        *(("fork", "P", sample) for sample in SAMPLES),
        *(("append", sample, turn) for turn in TURNS for sample in SAMPLES),
    ),
    cover=1,
    bookmarks=(
        Bookmark("parent-kept", 4, {"en": "seven blocks, five readers"}),
        Bookmark("parent-kept", 8, {"en": "the fourth sample copies as well: P still reads the block"}),
        Bookmark("parent-kept", 24, {"en": "23 blocks, four copies"}),
    ),
)
