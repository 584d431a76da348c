"""Seven requests on three places, one iteration a column. With static batching A is done after three iterations and C
after five, but their places idle until B has all eight tokens: 16 of 24 places do useful work, and D and E wait until
iteration 9. With continuous batching D steps in at iteration 4, G at 6, E at 8, F at 9, and in ten iterations no
place is ever empty.

First come, first served explains this only when the queue is D, G, E, F.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

OUTPUTS = {"A": 3, "B": 8, "C": 5, "D": 4, "G": 5, "E": 3, "F": 2}

SCENARIO = Scenario(
    name="ten-iterations",
    section="B05",
    chips=("Batching",),
    title={"en": "Ten iterations on three places"},
    question={"en": "Why do 8 of 24 places stay empty?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, num_blocks=16, max_num_seqs=3, step_time=1.0),
    runs=(Run("static", {"policy": "static"}), Run("continuous", {"policy": "continuous"})),
    requests=read_requests([{"id": id_, "prompt": {"len": 4}, "output_len": n} for id_, n in OUTPUTS.items()]),
    cover=1,
    bookmarks=(
        Bookmark("static", 3, {"en": "A is done, its place idles"}),
        Bookmark("static", 7, {"en": "B runs alone on three places"}),
        Bookmark("static", 8, {"en": "only now the next batch may start"}),
        Bookmark("continuous", 3, {"en": "D steps into the place of A"}),
        Bookmark("continuous", 5, {"en": "G steps into the place of C"}),
        Bookmark("continuous", 9, {"en": "iteration 10: every place has worked in every iteration"}),
    ),
)
