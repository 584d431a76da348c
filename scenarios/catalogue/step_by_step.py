"""Five requests want 5, 2, 4, 3 and 3 tokens, and at most three may run together. Continuous batching starts at once
with the two that are there; R3 joins one iteration later, and when R2 has both its tokens R4 takes its place in the
very next iteration. Static batching first waits until three requests have come, keeps the place of R2 empty until the
longest member is done, and only then lets R4 and R5 in.

One iteration of OPT-13B on an A100-40GB takes 18.2 ms, because every iteration reads all the weights once.
"""

from engine.settings import Settings
from scenarios.request_fields import read_requests
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="step-by-step",
    section="B04",
    chips=("Batching",),
    title={"en": "Static and continuous batching, step by step"},
    question={"en": "Iteration 3 or 6: when may R4 start?"},
    story={"en": prose(__doc__)},
    settings=Settings(block_size=4, num_blocks=16, max_num_seqs=3),
    runs=(
        Run("continuous", {"policy": "continuous"}),
        Run("static", {"policy": "static", "static_start": "full"}),
    ),
    requests=read_requests(
        [
            {"id": "R1", "arrival_s": 0.0, "prompt": {"len": 8}, "output_len": 5},
            {"id": "R2", "arrival_s": 0.0, "prompt": {"len": 8}, "output_len": 2},
            {"id": "R3", "arrival_s": 0.010, "prompt": {"len": 8}, "output_len": 4},
            {"id": "R4", "arrival_s": 0.030, "prompt": {"len": 8}, "output_len": 3},
            {"id": "R5", "arrival_s": 0.060, "prompt": {"len": 8}, "output_len": 3},
        ]
    ),
    cover=4,
    bookmarks=(
        Bookmark("continuous", 0, {"en": "R1 and R2 start without waiting for a third"}),
        Bookmark("continuous", 1, {"en": "R3 joins a batch that is already running"}),
        Bookmark("continuous", 2, {"en": "R4 takes the place of R2"}),
        Bookmark("static", 0, {"en": "the batch starts when the third request has come"}),
        Bookmark("static", 2, {"en": "the place of R2 stays empty"}),
        Bookmark("static", 5, {"en": "R4 and R5 start when R1 is done"}),
    ),
)
