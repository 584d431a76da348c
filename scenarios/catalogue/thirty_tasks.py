"""300 questions wait, ten to each of 30 tasks, in shuffled order. All begin with the same 30 tokens, then come the 400
tokens of the examples of their task, then 40 of their own: 470 in all, and the memory holds 500. Every token that is
shared needs to be computed once only, 24,030 of 141,000: a hit rate of 82.96 % is the best that any order can reach.

First come, first served goes from task to task, and the examples are gone before the next question of their task comes.
Longest prefix first asks the tree what it has: all ten questions of a task run one after the other, and although only one
task fits into memory, nothing shared is computed twice. Depth first does the same (SGLang paper, theorem 3.1). With
eight times the memory first come, first served finds 31 %.
"""

from engine.settings import Settings
from scenarios.scenario import Bookmark, Run, Scenario, prose

SCENARIO = Scenario(
    name="thirty-tasks",
    section="H10",
    chips=("Radix", "Scheduling", "Sharing"),
    title={"en": "30 tasks, 300 shuffled questions, room for one"},
    question={"en": "Can order replace memory?"},
    story={"en": prose(__doc__)},
    seed=1,
    settings=Settings(
        hardware="H100-80GB", model="Llama-3-8B", kv_manager="radix", block_size=1, num_blocks=500, max_num_seqs=1
    ),
    runs=(
        Run("fcfs", {}),
        Run("longest-prefix-first", {"queue_order": "longest_prefix_first"}),
        Run("depth-first", {"queue_order": "depth_first"}),
        Run("fcfs-4000", {"num_blocks": 4_000}),
    ),
    workload={
        "generator": "few-shot",
        "num_tasks": 30,
        "requests_per_task": 10,
        "system_len": 30,
        "examples_len": 400,
        "question_len": 40,
    },
    cover=5,
    bookmarks=(
        Bookmark("fcfs", 1, {"en": "another task: 30 tokens are found, the examples of the first one go"}, event=2),
        Bookmark("longest-prefix-first", 1, {"en": "the same task: 430 tokens are found, 40 are computed"}, event=4),
        Bookmark("longest-prefix-first", 9, {"en": "the tenth question of the task; its examples were computed once"}),
        Bookmark("longest-prefix-first", 10, {"en": "the next task may take the place of the first"}),
        Bookmark("depth-first", 1, {"en": "depth first stays with the task as well"}, event=4),
        Bookmark(
            "fcfs-4000", 9, {"en": "4,000 slots hold the examples of nine tasks; the tenth takes the place of one"}
        ),
    ),
)
