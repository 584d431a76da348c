"""`lookup` and `lookup_collision`: one look-up in the prefix cache, with some blocks known or with a weak hash."""

from pathlib import Path
from typing import Any

from engine.kv.hashed import HashedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from tests.cases.verdict import Findings


class WeakToken(int):
    """A token whose hash is the same for all tokens, so that nothing but equality tells blocks apart."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 0


def check(case: dict[str, Any], path: Path) -> Findings:
    """The hit of a prompt whose blocks are known or not, for the case and each of its variants."""
    given, expected = case["input"], case["expected"]
    findings = Findings()
    variants = [{"cached": given["cached_blocks_of_prompt"], "hit_tokens": expected["hit_tokens"]}]
    for variant in variants + expected.get("variants", []):
        ours = hit_of_known(given["prompt_len"], given["block_size"], variant["cached"])
        findings.equal(f"hit with {variant['cached']}", ours, variant["hit_tokens"])
    for key in sorted(set(expected) - {"hit_tokens", "variants"}):
        findings.skip(f"no check for expected.{key}")
    return findings


def check_collision(case: dict[str, Any], path: Path) -> Findings:
    """The hits of prompts among cached ones, with tokens whose hashes all collide (weaker than any sum) and with ids."""
    given, expected = case["input"], case["expected"]
    findings = Findings()
    for make in (WeakToken, int):
        kv = HashedKV(Settings(block_size=given["block_size"], prefix_caching=True))
        for number, tokens in enumerate(given["cached_prompts"]):
            compute(kv, sequence_of(tuple(map(make, tokens)), number))
        queries = [sequence_of(tuple(map(make, tokens)), 100 + i) for i, tokens in enumerate(given["query_prompts"])]
        findings.equal(f"hits of {make.__name__}", [kv.match(query) for query in queries], expected["hit_tokens"])
        kv.check([])
    for key in sorted(set(expected) - {"hit_tokens"}):
        findings.skip(f"no check for expected.{key}")
    return findings


def hit_of_known(prompt_len: int, block_size: int, is_known: list[bool]) -> int:
    """Cache a prompt, take the content from some of its blocks, look it up."""
    kv = HashedKV(Settings(block_size=block_size, prefix_caching=True))
    tokens = tuple(range(prompt_len))
    first = sequence_of(tokens, 0)
    compute(kv, first, keep=True)
    kv.known.forget([block for block, stays in zip(first.block_table, is_known, strict=True) if not stays])
    return kv.match(sequence_of(tokens, 1))


def sequence_of(tokens: tuple[int, ...], number: int) -> Sequence:
    request = Request(f"r{number}", 0.0, Prompt.of_ids(tokens), SamplingParams(1, 1))
    return SequenceGroup(request, number, number, 1, Ticks()).lead


def compute(kv: HashedKV, seq: Sequence, keep: bool = False) -> int:
    """Run a prompt; it gives its blocks back unless they are kept. Returns its hit."""
    missing = seq.num_tokens - kv.match(seq)
    allocation = kv.allocate(seq, missing)
    assert allocation is not None, "memory is unlimited"
    seq.advance(missing)
    if not keep:
        kv.free(seq)
    return allocation.hit_tokens
