"""W1, the block workload of the golden runs, on the managers without a scheduler.

W1a  2,000 prompts of 300 tokens, one after the other: allocate the whole prompt, free; no caching.
W1b  the same with the cache of vLLM V1, prompts that share nothing; W1c with 20 shared beginnings of 256 tokens.
W1d  64 sequences of 300 tokens, then 128 rounds in which each stores one decoded token.
"""

import random
import time
from functools import cache
from typing import Any

from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener

BLOCK_SIZE = 16
NUM_BLOCKS = 4_096
PROMPT_LEN = 300
NUM_PROMPTS = 2_000
NUM_SEQUENCES = 64
NUM_ROUNDS = 128
SHARED_LEN = 256
VOCABULARY = 32_000
SETTINGS = Settings(block_size=BLOCK_SIZE, num_blocks=NUM_BLOCKS, free_list="uncached_first", null_block=True)


def w1a(recorder: Listener = SILENT) -> dict[str, Any]:
    """Allocate and free, prompt by prompt."""
    kv = PagedKV(SETTINGS, recorder)
    sequences = [_sequence(index) for index in range(NUM_PROMPTS)]
    num_blocks = 0
    start = time.process_time()
    for seq in sequences:
        allocation = kv.allocate(seq, PROMPT_LEN)
        assert allocation is not None, "an empty pool has room for one prompt"
        recorder.close()
        num_blocks += len(allocation.new_blocks)
        kv.free(seq)
        recorder.close()
    seconds = time.process_time() - start
    return {
        "requests": NUM_PROMPTS,
        "blocks_per_request": num_blocks / NUM_PROMPTS,
        "allocated_blocks": num_blocks,
        "free_blocks": kv.num_free,
        "requests_per_s": NUM_PROMPTS / seconds,
    }


def w1d(recorder: Listener = SILENT) -> dict[str, Any]:
    """One decoded token a sequence and round, each asked of the manager."""
    kv = PagedKV(SETTINGS, recorder)
    sequences = [_sequence(index) for index in range(NUM_SEQUENCES)]
    for seq in sequences:
        kv.allocate(seq, PROMPT_LEN)
        seq.advance(PROMPT_LEN)
    num_new = 0
    start = time.process_time()
    for _ in range(NUM_ROUNDS):
        for seq in sequences:
            allocation = kv.allocate(seq, 1)
            assert allocation is not None, "64 x 27 blocks fit"
            num_new += len(allocation.new_blocks)
            seq.advance(1)
        recorder.close()
    seconds = time.process_time() - start
    return {
        "sequences": NUM_SEQUENCES,
        "rounds": NUM_ROUNDS,
        "tokens": NUM_SEQUENCES * NUM_ROUNDS,
        "new_blocks": num_new,
        "used_blocks": kv.num_used,
        "free_blocks": kv.num_free,
        "tokens_per_s": NUM_SEQUENCES * NUM_ROUNDS / seconds,
    }


def w1_cached(kind: str, recorder: Listener = SILENT) -> dict[str, Any]:
    """Look up, allocate, free, prompt by prompt, with the cache of vLLM V1; its keys are made inside the clock."""
    kv = HashedKV(SETTINGS.with_(prefix_caching=True, on_duplicate="keep_first"), recorder)
    sequences = [_sequence(index, prompt) for index, prompt in enumerate(prompts(kind))]
    num_hit = 0
    start = time.process_time()
    for seq in sequences:
        missing = PROMPT_LEN - kv.match(seq)
        allocation = kv.allocate(seq, missing)
        assert allocation is not None, "an empty pool has room for one prompt"
        recorder.close()
        num_hit += allocation.hit_tokens
        seq.advance(missing)
        kv.free(seq)
        recorder.close()
    seconds = time.process_time() - start
    return {
        "requests": NUM_PROMPTS,
        "hit_tokens": num_hit,
        "hit_rate": num_hit / (NUM_PROMPTS * PROMPT_LEN),
        "free_blocks": kv.num_free,
        "known_blocks": len(kv.known.held),
        "requests_per_s": NUM_PROMPTS / seconds,
    }


@cache
def prompts(kind: str) -> list[list[int]]:
    """2,000 prompts of 300 tokens; `shared`: 20 groups whose first 256 tokens are the same, else all of them `unique`."""
    rng = random.Random(0)
    if kind == "unique":
        return [[rng.randrange(VOCABULARY) for _ in range(PROMPT_LEN)] for _ in range(NUM_PROMPTS)]
    heads = [[rng.randrange(VOCABULARY) for _ in range(SHARED_LEN)] for _ in range(20)]
    return [
        heads[rng.randrange(20)] + [rng.randrange(VOCABULARY) for _ in range(PROMPT_LEN - SHARED_LEN)]
        for _ in range(NUM_PROMPTS)
    ]


def _sequence(index: int, tokens: list[int] | None = None) -> Sequence:
    prompt = Prompt.of_length(PROMPT_LEN, index) if tokens is None else Prompt.of_ids(tokens)
    request = Request(f"r{index}", 0.0, prompt, SamplingParams(1, NUM_ROUNDS))
    return SequenceGroup(request, index, index, NUM_ROUNDS, Ticks()).lead
