"""W2, the radix workload of the golden runs: 10,000 requests over 20 system prompts and 10 templates each.

For each request: match at most all but its last prompt token, lock, evict what the pool lacks, insert prompt and output,
unlock. The counts are exact targets; the rate is per second of processor time and compares only side by side.
"""

import random
import time
from typing import Any

from engine.kv.radix import TreeWords
from engine.kv.radix_tree import RadixTree
from engine.presets import Preset
from engine.trace.listener import SILENT, Listener

CAPACITY = 50_000
"""Tokens in the pool."""

Conversation = tuple[list[int], list[int]]


def conversations(count: int = 10_000, seed: int = 1) -> list[Conversation]:
    """(prompt, output) pairs: 200 tokens of a system prompt, 100 of a template, 20 to 60 of a user; 10 to 50 answered."""
    rng = random.Random(seed)

    def tokens(length: int) -> list[int]:
        return [rng.randrange(32_000) for _ in range(length)]

    systems = [tokens(200) for _ in range(20)]
    templates = [[tokens(100) for _ in range(10)] for _ in range(20)]
    pairs = []
    for _ in range(count):
        system, template = rng.randrange(20), rng.randrange(10)
        question = tokens(rng.randint(20, 60))
        pairs.append((systems[system] + templates[system][template] + question, tokens(rng.randint(10, 50))))
    return pairs


def w2(
    engine: Preset, page_size: int, requests: list[Conversation] | None = None, recorder: Listener = SILENT
) -> dict[str, Any]:
    """Token hit rate, evicted tokens, evict calls, nodes at the end and requests per second."""
    requests = conversations() if requests is None else requests
    tree = RadixTree(page_size, split_age=engine.tree["split_age"], listener=TreeWords(recorder))
    free = CAPACITY
    num_prompt = num_hit = num_evicted = num_evictions = 0
    start = time.process_time()
    for prompt, output in requests:
        match = tree.match_prefix(prompt[:-1])
        tree.lock(match.node)
        num_prompt += len(prompt)
        num_hit += match.num_tokens
        stored = prompt + output
        missing = len(stored) // page_size * page_size - match.num_tokens - free
        if missing > 0:
            evicted = sum(len(node.key) for node in tree.evict(missing))
            free += evicted
            num_evicted += evicted
            num_evictions += 1
        free -= tree.insert(stored, range(len(stored))).num_new
        tree.unlock(match.node)
        recorder.close()
    seconds = time.process_time() - start
    tree.check()
    return {
        "requests": len(requests),
        "hit_rate": round(num_hit / num_prompt, 4),
        "evicted_tokens": num_evicted,
        "evict_calls": num_evictions,
        "nodes": tree.num_nodes,
        "requests_per_s": len(requests) / seconds,
        "us_per_request": 1e6 * seconds / len(requests),
    }
