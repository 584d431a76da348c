"""Sequences without a scheduler, for tests of the managers."""

from engine.request import Prompt, Request, SamplingParams
from engine.sequence import SequenceGroup, Ticks


def group_of(prompt_len: int, max_tokens: int = 16, n: int = 1, index: int = 0) -> SequenceGroup:
    request = Request(f"r{index}", 0.0, Prompt.of_length(prompt_len, index), SamplingParams(n, max_tokens))
    return SequenceGroup(request, index, 100 * index, max_tokens, Ticks())


def store(kv, seq, num_tokens: int):
    """Allocate and compute, as one step of the engine does."""
    allocation = kv.allocate(seq, num_tokens)
    if allocation is not None:
        seq.advance(num_tokens)
    return allocation
