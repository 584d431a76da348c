"""The streams of requests of the live part, served by our engine and by `generate` of transformers, timed on the wall.

`generate` takes a static batch: prompts padded to the longest one, everybody computed until the longest answer is there.
Only tokens that were asked for are counted. Our side has its recorder on, and hands its trace over after every step, as
for a page that watches.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from engine.executor.paged_torch import Model, TorchExecutor
from engine.live import LiveEngine
from engine.request import SamplingParams
from engine.settings import Settings

A = TypeVar("A")
B = TypeVar("B")
PROMPT_LENGTHS = (8, 64)
OUTPUT_LENGTHS = (8, 256)
STATIC_BATCH = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its prompt, and how many tokens it wants."""

    prompt: list[int]
    num_tokens: int


def equal(batch: int, prompt_len: int, num_tokens: int, vocabulary: int) -> list[Asked]:
    """Requests that begin and end together."""
    draw = random.Random(batch)
    return [Asked([draw.randrange(vocabulary) for _ in range(prompt_len)], num_tokens) for _ in range(batch)]


def mixed(count: int, vocabulary: int, seed: int = 0) -> list[Asked]:
    """Short answers are more frequent than long ones: the logarithm of a length is evenly spread."""
    draw = random.Random(seed)
    low, high = OUTPUT_LENGTHS
    lengths = [round(low * (high / low) ** draw.random()) for _ in range(count)]
    return [Asked([draw.randrange(vocabulary) for _ in range(draw.randint(*PROMPT_LENGTHS))], n) for n in lengths]


@dataclass(frozen=True, slots=True)
class Served:
    """Seconds on the wall, of which `computing` inside the executor; `live` has the steps, one by one."""

    seconds: float
    computing: float
    live: LiveEngine


def settings_for(asked: Sequence[Asked], **changes: object) -> Settings:
    """Room for everybody at once; `changes` are further settings."""
    num_blocks = sum(-(-(len(one.prompt) + one.num_tokens) // 16) for one in asked)
    return Settings.of({"num_blocks": num_blocks, "block_size": 16, **changes})


def ours(model: Model, asked: Sequence[Asked]) -> Served:
    """Everybody arrives at once; continuous batching."""
    settings = settings_for(asked)
    live = LiveEngine(settings, TorchExecutor(model, settings))
    began = time.perf_counter()
    for one in asked:
        live.submit(one.prompt, SamplingParams(max_tokens=one.num_tokens))
    while live.has_work:
        live.step()
        live.drain()
    return Served(time.perf_counter() - began, sum(step.duration for step in live.measured), live)


def theirs(reference: torch.nn.Module, asked: Sequence[Asked], batch: int) -> float:
    """Seconds of `generate` for one batch after the other."""
    began = time.perf_counter()
    for first in range(0, len(asked), batch):
        some = asked[first : first + batch]
        width, num_tokens = max(len(one.prompt) for one in some), max(one.num_tokens for one in some)
        padding = [width - len(one.prompt) for one in some]
        ids = torch.tensor([[0] * pad + one.prompt for pad, one in zip(padding, some, strict=True)])
        mask = (torch.arange(width) >= torch.tensor(padding)[:, None]).long()
        with torch.inference_mode():
            reference.generate(  # type: ignore[operator]
                ids,
                attention_mask=mask,
                max_new_tokens=num_tokens,
                min_new_tokens=num_tokens,
                do_sample=False,
                pad_token_id=0,
            )
    return time.perf_counter() - began


def alternated(first: Callable[[], A], second: Callable[[], B], repeats: int) -> list[tuple[A, B]]:
    """Pairs of results; each pair begins with the other one."""
    pairs = []
    for number in range(repeats):
        if number % 2:
            b = second()
            pairs.append((first(), b))
        else:
            a = first()
            pairs.append((a, second()))
    return pairs
