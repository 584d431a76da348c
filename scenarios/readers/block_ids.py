"""Mooncake (FAST 2025) and Bailian: JSON lines whose prompts are known by chained block ids.

Equal leading ids mean a prefix that can be reused; the last id mostly stands for a partly filled block. Block h is
written as the tokens h * size .. of one common content, so that consecutive ids join into one run: with blocks of 4,
a prompt of 10 tokens in the blocks 7, 8, 2 is the runs (0, 28, 8) and (0, 8, 2).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from engine.request import Prompt, TokenRun
from scenarios.readers.errors import RowError, quoted
from scenarios.readers.format import JsonFormat, Row, id_or
from scenarios.readers.numbers import MAX_COUNT, check_lengths, count_of_json, time_of_json

BLOCKS = 0
"""The content that all blocks of a file are parts of; ids too large for that are contents of their own."""


class BlockIds(JsonFormat):
    """What both formats have in common; `block_size` and the clock differ."""

    block_size: ClassVar[int]
    id_key: ClassVar[str]

    def __init__(self) -> None:
        self.num_other_lengths = 0

    def parse(self, record: Mapping[str, Any], line: int, index: int) -> Row:
        time = time_of_json(record.get("timestamp"), "timestamp", self.ticks)
        prompt_len = count_of_json(record.get("input_length"), "input_length")
        output_len = count_of_json(record.get("output_length"), "output_length")
        check_lengths(prompt_len, output_len, "input_length", "output_length")
        ids = _checked_ids(record.get("hash_ids"))
        if len(ids) != -(-prompt_len // self.block_size):
            self.num_other_lengths += 1
        prompt = prompt_of_blocks(ids, prompt_len, self.block_size, rest=index + 1) if ids else prompt_len
        return Row(line, id_or(record.get(self.id_key), f"r{index}"), prompt, output_len, time)

    def notes(self) -> list[str]:
        if not self.num_other_lengths:
            return []
        count = (
            f"Rows with another number of hash_ids than blocks of {self.block_size} tokens: {self.num_other_lengths:,}"
        )
        return [f"{count}; tokens without an id are shared with nobody, ids beyond the prompt are dropped."]


class Mooncake(BlockIds):
    name = "mooncake_jsonl"
    ticks = 1000
    block_size = 512
    id_key = "request_id"
    keys = frozenset({"timestamp", "input_length", "output_length", "hash_ids", "request_id"})

    @classmethod
    def recognises(cls, record: Mapping[str, Any]) -> bool:
        return len(record.keys() & {"timestamp", "input_length", "output_length", "hash_ids"}) >= 3


class Bailian(BlockIds):
    name = "bailian"
    block_size = 16
    id_key = "chat_id"
    keys = frozenset({"timestamp", "input_length", "output_length", "hash_ids", "chat_id"})

    @classmethod
    def recognises(cls, record: Mapping[str, Any]) -> bool:
        return Mooncake.recognises(record) and bool(record.keys() & {"chat_id", "parent_chat_id"})


def prompt_of_blocks(ids: Sequence[int], num_tokens: int, block_size: int, rest: int) -> Prompt:
    """The first `num_tokens` tokens of the blocks; what no block covers has the content `rest`."""
    runs: list[TokenRun] = []
    left = num_tokens
    for block in ids:
        if left == 0:
            break
        length = min(block_size, left)
        left -= length
        start = block * block_size
        if start + block_size > MAX_COUNT:
            runs.append((block, 0, length))
        elif runs and runs[-1][0] == BLOCKS and runs[-1][1] + runs[-1][2] == start:
            runs[-1] = (BLOCKS, runs[-1][1], runs[-1][2] + length)
        else:
            runs.append((BLOCKS, start, length))
    if left:
        runs.append((rest, 0, left))
    return Prompt(tuple(runs))


def block_ids(prompt: Prompt, block_size: int) -> list[int]:
    """The block ids that `prompt_of_blocks` was given, as far as the prompt reaches."""
    ids: list[int] = []
    for content, start, length in prompt.runs:
        if content == BLOCKS:
            ids.extend(range(start // block_size, -(-(start + length) // block_size)))
        elif content * block_size + block_size > MAX_COUNT:
            ids.append(content)
    return ids


def _checked_ids(value: Any) -> list[int]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise RowError("not_integer", f"hash_ids is {quoted(value)}; it has to be a list of block ids.")
    return [i if type(i) is int and 0 <= i <= MAX_COUNT else count_of_json(i, "a block id in hash_ids") for i in value]
