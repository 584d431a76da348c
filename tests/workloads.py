"""`python -m tests.workloads --json`: known workloads on the managers, with exact counts and the rates of this machine.

W1a  2,000 prompts of 300 tokens, one after the other: allocate the whole prompt, free; no caching.
W1d  64 sequences of 300 tokens, then 128 rounds in which each stores one decoded token.
Rates are per second of processor time; they only compare with rates taken side by side on one machine.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from engine.kv.paged import PagedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings

BLOCK_SIZE = 16
NUM_BLOCKS = 4_096
PROMPT_LEN = 300
NUM_PROMPTS = 2_000
NUM_SEQUENCES = 64
NUM_ROUNDS = 128
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


WORKLOADS: dict[str, Callable[[], dict[str, Any]]] = {"W1a": w1a, "W1d": w1d}


def _sequence(index: int) -> Sequence:
    request = Request(f"r{index}", 0.0, Prompt.of_length(PROMPT_LEN, index), SamplingParams(1, NUM_ROUNDS))
    return SequenceGroup(request, index, index, NUM_ROUNDS, Ticks()).lead


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
            print(name, ", ".join(f"{key} {value:,.0f}" for key, value in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
