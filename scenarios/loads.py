"""Streams of requests by what they share, for scenarios that compare them: each has a name and its own stretch of time.

The prompts of a stream begin with the same `shared_len` tokens and go on with `own_len` of their own: a system prompt,
few-shot examples, one prompt sampled again and again (nothing of their own), unrelated prompts (nothing shared). Chats
and agents are conversations.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.request import Prompt, Request, SamplingParams
from scenarios.conversations import conversation


def stream(
    name: str,
    contents: Iterator[int],
    *,
    num_requests: int,
    shared_len: int,
    own_len: int,
    output_len: int,
    start: float = 0.0,
    interval: float = 0.0,
) -> list[Request]:
    """`num_requests` requests, one every `interval` seconds from `start` on. `contents` gives new content ids."""
    shared = (next(contents), 0, shared_len)
    return [
        Request(
            request_id=f"{name} {number + 1}",
            arrival_time=start + number * interval,
            prompt=Prompt(tuple(part for part in (shared, (next(contents), 0, own_len)) if part[2])),
            sampling=SamplingParams(max_tokens=output_len),
            tenant=name,
        )
        for number in range(num_requests)
    ]


def rounds(
    name: str,
    ids: Iterator[int],
    *,
    num_rounds: int,
    system_len: int,
    question_len: int,
    answer_len: int,
    start: float = 0.0,
    think: float = 0.0,
) -> list[Request]:
    """One conversation from `start` on, `think` seconds between its rounds. `ids` gives new token ids."""
    system = tuple(next(ids) for _ in range(system_len))
    requests = conversation(name, ids, system, num_rounds, question_len, answer_len, think)
    return [replace(request, tenant=name, arrival_time=start if request.after is None else 0.0) for request in requests]
