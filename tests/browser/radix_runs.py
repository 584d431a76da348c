"""Runs with a radix tree for the tests of its panels: forty words that can be checked by hand, and trees of thousands of nodes."""

import random
from functools import cache

import numpy as np

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from tests.browser import painted

TREE = "[data-panel=tree] canvas.kv-canvas"

TUTOR = "You are a kind tutor"
EXAMPLES = "sea = mer ; sky = ciel ;"
CHATS = (
    ("chat 1", f"{TUTOR} what is a cache a small fast store"),
    ("chat 1b", f"{TUTOR} what is a cache a small fast store and who clears it the LRU rule"),
    ("chat 2", f"{TUTOR} tell me a joke two bits walk in"),
    ("few-shot 1", f"{EXAMPLES} sun = soleil"),
    ("few-shot 2", f"{EXAMPLES} moon = lune"),
)


@cache
def forty_words(num_blocks: int = 40) -> Trace:
    """Five requests one after the other in a pool of words. The last of them splits, hits, and evicts."""
    vocabulary: dict[str, int] = {}
    requests = []
    for i, (name, text) in enumerate(CHATS):
        ids = [vocabulary.setdefault(word, len(vocabulary)) for word in text.split()]
        requests.append(Request(name, 10.0 * i, Prompt.of_ids(ids), SamplingParams(max_tokens=1 + i // 4)))
    settings = Settings(kv_manager="radix", block_size=1, num_blocks=num_blocks)
    return simulate(settings, ListWorkload(requests), "forty words", vocabulary=list(vocabulary))


@cache
def many_prefixes(count: int, num_blocks: int, seed: int = 1) -> Trace:
    """Requests of pages of four tokens that share prefixes of random depth with earlier ones."""
    rng = random.Random(seed)
    known: list[list[int]] = []
    requests = []
    for i in range(count):
        base = rng.choice(known)[: 4 * rng.randrange(1, 7)] if known and rng.random() < 0.9 else []
        ids = [*base, *(rng.randrange(1000) for _ in range(4 * rng.randrange(1, 4)))]
        known.append(ids)
        requests.append(Request(f"r{i}", 0.001 * i, Prompt.of_ids(ids), SamplingParams(max_tokens=2)))
    settings = Settings(kv_manager="radix", block_size=4, num_blocks=num_blocks, max_num_seqs=8)
    return simulate(settings, ListWorkload(requests), "many prefixes")


def alive(trace: Trace, place: str) -> dict[int, int]:
    """Parent of every node that is in the tree at a place."""
    parents = trace.cut(event=trace.parse_frame(place)).tracks["nodes"]["parent"]
    return {int(node): int(parents[node]) for node in np.flatnonzero(parents >= 0)}


def middle(box: painted.Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
