"""Small prefix caches and sequences with tokens, without a scheduler, for tests of the cache."""

from engine.kv.hashed import HashedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings

A = tuple(range(100, 116))


def cache_of(num_blocks: int = 8, **changes) -> HashedKV:
    values = {"block_size": 4, "num_blocks": num_blocks, "prefix_caching": True, "free_list": "uncached_first"}
    return HashedKV(Settings.of({**values, **changes}))


def sequence(prompt, index: int = 0, script=None) -> Sequence:
    given = prompt if isinstance(prompt, Prompt) else Prompt.of_ids(prompt)
    request = Request(f"r{index}", 0.0, given, SamplingParams(1, 100), output_script=script)
    return SequenceGroup(request, index, index, 100, Ticks()).lead


def run(kv: HashedKV, seq: Sequence, num_outputs: int = 0) -> int | None:
    """Compute what the cache does not have, then some outputs. Returns the hit, or None when memory is short."""
    hit = kv.match(seq)
    if kv.allocate(seq, seq.num_tokens - hit) is None:
        return None
    seq.advance(seq.num_tokens - hit)
    for _ in range(num_outputs):
        seq.sample_one()
        if kv.allocate(seq, 1) is None:
            return None
        seq.advance(1)
    kv.register(seq, seq.num_computed_tokens)
    return hit
