"""The generator `chat`: conversations whose every round sends all rounds before it again (SGLang paper, section 2).

Round k of a conversation has k questions and k - 1 answers as its prompt, token by token, and arrives when the round
before has ended. Questions and answers have real token ids, each its own, so that a cache may find what it knows and
nothing else. An optional system prompt begins all of them.
"""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from scenarios.fields import Fields, ScenarioError
from scenarios.request_fields import MAX_SECONDS

MAX_ROUNDS = 1_000
MAX_IDS = 50_000_000
"""Most token ids of all prompts and answers: each of them is a number in memory."""


def conversation(
    name: str,
    ids: Iterator[int],
    system: tuple[int, ...],
    rounds: int,
    question_len: int,
    answer_len: int,
    think: float,
) -> list[Request]:
    """The rounds of one conversation; `ids` gives new token ids, `think` seconds pass between two rounds."""
    prompt = list(system)
    requests: list[Request] = []
    for number in range(1, rounds + 1):
        prompt += islice(ids, question_len)
        answer = tuple(islice(ids, answer_len))
        after = requests[-1].request_id if requests else None
        requests.append(
            Request(
                request_id=f"{name}.{number}",
                arrival_time=0.0,
                prompt=Prompt.of_ids(prompt),
                sampling=SamplingParams(max_tokens=answer_len),
                output_script=(answer,),
                after=after,
                delay=think if after else 0.0,
            )
        )
        prompt += answer
    return requests


def chat(workload: Mapping[str, Any], seed: int) -> list[Request]:
    """Requests of a `workload` object; nothing is drawn at random. Raises ScenarioError naming the key that is wrong."""
    keys = ("generator", "num_conversations", "rounds", "system_len", "question_len", "answer_len", "think_s")
    fields = Fields(workload, "workload", keys)
    num_conversations = fields.whole("num_conversations", 1, 100_000, default=1)
    rounds = fields.whole("rounds", 1, MAX_ROUNDS)
    system_len = fields.whole("system_len", 0, MAX_IDS, default=0)
    question_len, answer_len = (fields.whole(key, 1, MAX_IDS) for key in ("question_len", "answer_len"))
    num_ids = num_conversations * rounds * (system_len + (rounds + 1) * (question_len + answer_len))
    if num_ids > MAX_IDS:
        raise ScenarioError(
            f"workload: these conversations have about {num_ids:,} tokens in all their prompts and answers; "
            f"at most {MAX_IDS:,} are allowed, so take fewer or shorter rounds."
        )
    think = fields.number("think_s", 0.0, MAX_SECONDS, default=0.0)
    ids = count()
    system = tuple(islice(ids, system_len))
    names = [f"C{number + 1}" for number in range(num_conversations)]
    return [
        request
        for name in names
        for request in conversation(name, ids, system, rounds, question_len, answer_len, think)
    ]
