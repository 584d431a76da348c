"""Ten questions on the same document of 4,000 tokens, far enough apart that each runs alone. With a cache the document is
computed once, and the first token of every later answer comes eighteen times earlier. The tokens after it come at the
same pace as before: a decode step reads all weights and the KV of the whole context, whoever has computed it and when.
"""

from itertools import count

from engine.settings import Settings
from scenarios.loads import stream
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="decode-not-faster",
    section="H15",
    chips=("Sharing",),
    title={"en": "A prefix cache speeds up the first token only"},
    question={"en": "Do hits make decoding faster?"},
    story={"en": prose(__doc__)},
    settings=Settings(hardware="H100-80GB", model="Llama-3-8B", num_blocks=1_000),
    runs=(Run("without", {}), Run("cached", {"prefix_caching": True})),
    requests=tuple(
        stream("question", count(), num_requests=10, shared_len=4_000, own_len=50, output_len=32, interval=1.0)
    ),
    cover=2,
    bookmarks=(
        Bookmark("without", 32, {"en": "question 2 computes all 4,050 tokens"}),
        Bookmark("without", 40, {"en": "a token of the answer: one step, 6.4 ms"}),
        Bookmark("cached", 32, {"en": "question 2 finds the document and computes 50 tokens"}),
        Bookmark("cached", 40, {"en": "a token of the answer: one step, 6.4 ms as before"}),
    ),
)
