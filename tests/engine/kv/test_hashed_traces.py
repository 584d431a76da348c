"""A real trace whose prompts are known by chained block ids: the cache finds what counting ids finds."""

import json

import pytest

from scenarios.readers import read
from scenarios.shared import SHARED
from tests.cases.trace_file import hits_in_order

TRACE = SHARED / "traces" / "mooncake_conversation_head400.jsonl"
SIZE = 512


@pytest.mark.skipif(not TRACE.is_file(), reason="the trace is not here; KVSCOPE_SHARED names its folder")
def test_hits_of_a_mooncake_trace_are_its_leading_known_ids() -> None:
    rows = [json.loads(line) for line in TRACE.read_text(encoding="utf-8").splitlines()]
    known: set[int] = set()
    expected = []
    for row in rows:
        limit, hit = (row["input_length"] - 1) // SIZE, 0
        for block_id in row["hash_ids"][:limit]:
            if block_id not in known:
                break
            hit += SIZE
        expected.append(hit)
        known.update(row["hash_ids"][: row["input_length"] // SIZE])
    assert sum(expected) > 0
    assert hits_in_order(read(TRACE).requests, SIZE) == expected
