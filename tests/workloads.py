"""`python -m tests.workloads --json`: known workloads on the managers, with exact counts and the rates of this machine.

W1a  2,000 prompts of 300 tokens, one after the other: allocate the whole prompt, free; no caching.
W1b  the same with the cache of vLLM V1, prompts that share nothing; W1c with 20 shared beginnings of 256 tokens.
W1d  64 sequences of 300 tokens, then 128 rounds in which each stores one decoded token.
W3   256 requests through the whole engine of vLLM V1 and of nano-vllm, 1,024 blocks of 16, 64 sequences, budget 2,048.
Rates are per second of processor time; they only compare with rates taken side by side on one machine.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from engine.batch import Batch, StepOutput
from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.loop import Engine
from engine.presets import NANO_VLLM, VLLM_V1, Preset
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import SILENT

BLOCK_SIZE = 16
NUM_BLOCKS = 4_096
PROMPT_LEN = 300
NUM_PROMPTS = 2_000
NUM_SEQUENCES = 64
NUM_ROUNDS = 128
SHARED_LEN = 256
VOCABULARY = 32_000
W3_LIMITS = {
    "block_size": 16,
    "num_blocks": 1_024,
    "max_num_seqs": 64,
    "max_num_batched_tokens": 2_048,
    "max_model_len": 2_048,
}
SETTINGS = Settings(block_size=BLOCK_SIZE, num_blocks=NUM_BLOCKS, free_list="uncached_first", null_block=True)


def w1a() -> dict[str, Any]:
    """Allocate and free, prompt by prompt."""
    kv = PagedKV(SETTINGS)
    sequences = [_sequence(index) for index in range(NUM_PROMPTS)]
    num_blocks = 0
    start = time.process_time()
    for seq in sequences:
        allocation = kv.allocate(seq, PROMPT_LEN)
        assert allocation is not None, "an empty pool has room for one prompt"
        num_blocks += len(allocation.new_blocks)
        kv.free(seq)
    seconds = time.process_time() - start
    return {
        "requests": NUM_PROMPTS,
        "blocks_per_request": num_blocks / NUM_PROMPTS,
        "allocated_blocks": num_blocks,
        "free_blocks": kv.num_free,
        "requests_per_s": NUM_PROMPTS / seconds,
    }


def w1d() -> dict[str, Any]:
    """One decoded token a sequence and round, each asked of the manager."""
    kv = PagedKV(SETTINGS)
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


def w1_cached(kind: str) -> dict[str, Any]:
    """Look up, allocate, free, prompt by prompt, with the cache of vLLM V1; its keys are made inside the clock."""
    kv = HashedKV(SETTINGS.with_(prefix_caching=True, on_duplicate="keep_first"))
    sequences = [_sequence(index, prompt) for index, prompt in enumerate(prompts(kind))]
    num_hit = 0
    start = time.process_time()
    for seq in sequences:
        missing = PROMPT_LEN - kv.match(seq)
        allocation = kv.allocate(seq, missing)
        assert allocation is not None, "an empty pool has room for one prompt"
        num_hit += allocation.hit_tokens
        seq.advance(missing)
        kv.free(seq)
    seconds = time.process_time() - start
    return {
        "requests": NUM_PROMPTS,
        "hit_tokens": num_hit,
        "hit_rate": num_hit / (NUM_PROMPTS * PROMPT_LEN),
        "free_blocks": kv.num_free,
        "known_blocks": len(kv.known.held),
        "requests_per_s": NUM_PROMPTS / seconds,
    }


def w3(preset: Preset) -> dict[str, Any]:
    """256 requests, all queued at the start, through the whole engine with a model that takes no time."""
    engine = Engine(Settings.of({**preset.settings, **W3_LIMITS}), SILENT, NoModel())
    for index, (prompt, output_len) in enumerate(conversations()):
        engine.submit(Request(f"r{index}", 0.0, Prompt.of_ids(prompt), SamplingParams(1, output_len)))
    num_tokens = 0
    start = time.process_time()
    while (batch := engine.step()) is not None:
        num_tokens += batch.num_tokens
    seconds = time.process_time() - start
    stats = engine.scheduler.cache_stats
    return {
        "requests": len(engine.groups),
        "finished": sum(group.is_finished for group in engine.groups),
        "steps": engine.num_steps,
        "scheduled_tokens": num_tokens,
        "hit_tokens": stats.hits + stats.preempted_hits,
        "preemptions": sum(group.num_preemptions for group in engine.groups),
        "seconds": seconds,
        "steps_per_s": engine.num_steps / seconds,
    }


class NoModel:
    """Every step is over at once."""

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(1.0)


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


def conversations() -> list[tuple[list[int], int]]:
    """(prompt, output length): prompts of 64 to 512 tokens, 16 to 128 tokens of output."""
    rng = random.Random(2)
    return [
        ([rng.randrange(VOCABULARY) for _ in range(rng.randint(64, 512))], rng.randint(16, 128)) for _ in range(256)
    ]


WORKLOADS: dict[str, Callable[[], dict[str, Any]]] = {
    "W1a": w1a,
    "W1b": partial(w1_cached, "unique"),
    "W1c": partial(w1_cached, "shared"),
    "W1d": w1d,
    "W3 vllm-v1": partial(w3, VLLM_V1),
    "W3 nano-vllm": partial(w3, NANO_VLLM),
}


def _sequence(index: int, tokens: list[int] | None = None) -> Sequence:
    prompt = Prompt.of_length(PROMPT_LEN, index) if tokens is None else Prompt.of_ids(tokens)
    request = Request(f"r{index}", 0.0, prompt, SamplingParams(1, NUM_ROUNDS))
    return SequenceGroup(request, index, index, NUM_ROUNDS, Ticks()).lead


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.4f}"


def main(argv: list[str]) -> int:
    """Print every workload, as JSON or as lines."""
    parser = argparse.ArgumentParser(prog="python -m tests.workloads", description="Known workloads on the managers.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args(argv).json
    results = {name: workload() for name, workload in WORKLOADS.items()}
    if as_json:
        print(json.dumps(results, indent=1))
    else:
        for name, figures in results.items():
            print(name, ", ".join(f"{key} {_shown(value)}" for key, value in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
