"""`formula`: one rule with numbers. The keys of the input say which rule; the numbers come from the program.

Blocks and fills are those of the real paged manager, rates and token counts those of the functions that figures use.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.kv.paged import PagedKV, last_block_fill, num_blocks_for, num_new_blocks
from engine.request import Prompt, Request, SamplingParams
from engine.scheduler.padding import num_admitted, packed_tokens, padded_tokens
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.ratio import ratio
from scenarios.commands.table import number, percent
from tests.cases.run_facts import RunFacts
from tests.cases.verdict import Findings, Unsupported

Figures = dict[str, Any]


def check(case: dict[str, Any], path: Path) -> Findings:
    """Find the rule by its keys, compute every figure, compare those that are expected."""
    given, expected = case["input"], case["expected"]
    findings = Findings()
    for keys, figures in RULES.items():
        if set(keys) <= set(given):
            ours = figures(given)
            break
    else:
        raise Unsupported(f"no formula takes {sorted(set(given) - {'kind'})}")
    for key, value in expected.items():
        if key not in ours:
            findings.skip(f'no check for expected.{key} "{value}"')
        elif isinstance(ours[key], Sentence | Counted):
            ours[key].compare(findings, key, value)
        elif not _same(ours[key], value):
            findings.equal(key, ours[key], value)
    return findings


class Sentence:
    """A figure that the case writes as a sentence: `pattern` is what is true of the program."""

    def __init__(self, pattern: str, is_true: bool, otherwise: str) -> None:
        self._pattern, self._is_true, self._otherwise = pattern, is_true, otherwise

    def compare(self, findings: Findings, key: str, value: Any) -> None:
        text = " ".join(value) if isinstance(value, list) else str(value)
        if re.fullmatch(self._pattern, text) is None:
            findings.skip(f'no check for "{text}"')
        elif not self._is_true:
            findings.add(key, self._otherwise)


class Counted:
    """How many prompts are let in, as a sentence with a number word: `all three`, `only the first (...)`."""

    WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    ORDINALS = ("first", "second", "third", "fourth", "fifth")

    def __init__(self, admitted: int, total: int) -> None:
        self._admitted, self._total = admitted, total

    def compare(self, findings: Findings, key: str, value: Any) -> None:
        text = " ".join(value) if isinstance(value, list) else str(value)
        said = self._read(text.split(" (")[0])
        if said is None:
            findings.skip(f'no check for "{text}"')
        else:
            findings.equal(key, self._admitted, said)

    def _read(self, text: str) -> int | None:
        words = text.lower().split()
        if words[:1] == ["all"]:
            return self._total
        if words == ["only", "the", "first"]:
            return 1
        if words[:3] == ["only", "the", "first"] and words[3:] and words[3] in self.WORDS:
            return self.WORDS.index(words[3])
        return self.WORDS.index(words[0]) if len(words) == 1 and words[0] in self.WORDS else None


def _last_block(given: Figures) -> Figures:
    """Prompts of these lengths, stored by the paged manager, and one more token each."""
    size, lengths = given["block_size"], given["lengths"]
    kv = PagedKV(Settings(block_size=size))
    sequences = [_stored(kv, length, index) for index, length in enumerate(lengths)]
    figures = {
        "num_blocks": [len(seq.block_table) for seq in sequences],
        "wasted_slots": [kv.room(seq) for seq in sequences],
        "last_block_tokens": [last_block_fill(length, size) for length in lengths],
    }
    figures["next_write_needs_new_block"] = [_new_blocks(kv, seq, 1) == 1 for seq in sequences]
    return figures


def _pages(given: Figures) -> Figures:
    """One decode step of all sequences on a pool with `free_pages` left, and one longer extension."""
    size, stored = given["page_size"], given["stored_tokens_before_step"]
    step, free = given.get("new_tokens_each", 1), given.get("free_pages", 0)
    taken = sum(num_blocks_for(length, size) for length in stored)
    kv = PagedKV(Settings(block_size=size, num_blocks=taken + free))
    sequences = [_stored(kv, length, index) for index, length in enumerate(stored)]
    each = [num_new_blocks(length, step, size) for length in stored]
    figures: Figures = {"new_pages_each": each, "new_pages_total": sum(each)}
    figures["fits"] = all(kv.allocate(seq, step) is not None for seq in sequences)
    if "extend_case" in given:
        extended = PagedKV(Settings(block_size=size))
        seq = _stored(extended, given["extend_case"]["stored"], 0)
        figures["extend_new_pages"] = _new_blocks(extended, seq, given["extend_case"]["extend_by"])
    return figures


def _hit_rate(given: Figures) -> Figures:
    rates = [ratio(query["hit_tokens"], query["prompt_tokens"]) for query in given["queries"]]
    nothing = ratio(0, 0)
    shown = {percent(nothing), number(nothing)}
    return {
        "hit_rate": rates,
        "total_of_no_requests": RunFacts.of(Settings(step_time=1.0), []).metrics.as_dict()["hit_rate"],
        "display": Sentence(
            r'a dash or "no data", never NaN', shown <= {"-", "–", "—", "no data"}, f"it shows {shown}"
        ),
    }


def _padding(given: Figures) -> Figures:
    """What the engine admits into one step, and what a padded batch of the same prompts would."""
    prompts, budget = given["prompts"], given["max_num_batched_tokens"]
    settings = Settings(max_num_batched_tokens=budget, step_time=1.0)
    requests = [Request(f"r{i}", 0.0, Prompt.of_length(n, i), SamplingParams(1, 1)) for i, n in enumerate(prompts)]
    first = RunFacts.of(settings, requests).steps[0]
    packed = len(first.admitted)
    scheduled = sum(first.scheduled.values())
    consistent = packed == num_admitted(prompts, budget, packed_tokens) and scheduled == packed_tokens(prompts[:packed])
    return {
        "packed_tokens": packed_tokens(prompts) if consistent else scheduled,
        "padded_tokens": padded_tokens(prompts),
        "padding_tokens": padded_tokens(prompts) - packed_tokens(prompts),
        "packed_admits": Counted(packed, len(prompts)),
        "padded_admits": Counted(num_admitted(prompts, budget, padded_tokens), len(prompts)),
    }


RULES: dict[tuple[str, ...], Callable[[Figures], Figures]] = {
    ("block_size", "lengths"): _last_block,
    ("page_size", "stored_tokens_before_step"): _pages,
    ("queries",): _hit_rate,
    ("prompts", "max_num_batched_tokens"): _padding,
}


def _stored(kv: PagedKV, num_tokens: int, index: int) -> Sequence:
    """A sequence of its own with that many tokens in memory."""
    request = Request(f"r{index}", 0.0, Prompt.of_length(num_tokens, index), SamplingParams(1, 1_000_000))
    seq = SequenceGroup(request, index, index, 1_000_000, Ticks()).lead
    if num_tokens:
        kv.allocate(seq, num_tokens)
        seq.advance(num_tokens)
    return seq


def _new_blocks(kv: PagedKV, seq: Sequence, num_tokens: int) -> int:
    allocation = kv.allocate(seq, num_tokens)
    return -1 if allocation is None else len(allocation.new_blocks)


def _same(ours: Any, expected: Any) -> bool:
    """Rates are given with four digits."""
    if isinstance(ours, list) and isinstance(expected, list):
        return len(ours) == len(expected) and all(map(_same, ours, expected))
    if isinstance(ours, float) and isinstance(expected, int | float):
        return abs(ours - expected) < 6e-5
    return bool(ours == expected)
