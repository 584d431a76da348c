"""The generator `few-shot`: questions of several tasks in shuffled order (SGLang paper, section 3; S1 4.4).

A request is a system prompt that all share, the examples of its task, and a question of its own. All are there from the
start, so the order in which they run decides how much of this a small cache can use.
"""

import random
from collections.abc import Mapping
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from scenarios.fields import Fields, ScenarioError
from scenarios.request_fields import MAX_REQUESTS, MAX_TOKENS

SYSTEM = 0
KEYS = ("generator", "num_tasks", "requests_per_task", "system_len", "examples_len", "question_len", "output_len")


def few_shot(workload: Mapping[str, Any], seed: int) -> list[Request]:
    """Requests of a `workload` object, shuffled by `seed`. Raises ScenarioError naming the key that is wrong."""
    fields = Fields(workload, "workload", KEYS)
    num_tasks = fields.whole("num_tasks", 1, MAX_REQUESTS)
    per_task = fields.whole("requests_per_task", 1, MAX_REQUESTS)
    if num_tasks * per_task > MAX_REQUESTS:
        raise ScenarioError(
            f"workload: {num_tasks:,} tasks of {per_task:,} requests are {num_tasks * per_task:,} requests; "
            f"at most {MAX_REQUESTS:,} are allowed, so take fewer tasks."
        )
    system_len, examples_len, question_len = (
        fields.whole(key, 0, MAX_TOKENS // 4) for key in ("system_len", "examples_len", "question_len")
    )
    output = SamplingParams(max_tokens=fields.whole("output_len", 1, MAX_TOKENS, default=1))
    places = [(task, number) for task in range(num_tasks) for number in range(per_task)]
    random.Random(seed).shuffle(places)

    def prompt(task: int, number: int) -> Prompt:
        examples, question = 1 + task, 1 + num_tasks + task * per_task + number
        parts = (SYSTEM, 0, system_len), (examples, 0, examples_len), (question, 0, question_len)
        return Prompt(tuple(part for part in parts if part[2]))

    return [
        Request(f"T{task + 1}.{number + 1}", 0.0, prompt(task, number), output, tenant=f"task {task + 1}")
        for task, number in places
    ]
