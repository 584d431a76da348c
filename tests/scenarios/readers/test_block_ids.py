"""Prompts known by block ids: equal leading ids are equal tokens, and the ids come out again."""

import json

from hypothesis import given
from hypothesis import strategies as st

from scenarios.readers import convert_summary, read
from scenarios.readers.block_ids import block_ids, prompt_of_blocks
from tests.scenarios.readers.tokens import shared, tokens


def mooncake(*rows: tuple[int, int, list[int]]) -> bytes:
    """Rows of (timestamp, input_length, hash_ids)."""
    keys = ("timestamp", "input_length", "hash_ids")
    return "\n".join(json.dumps(dict(zip(keys, row, strict=True), output_length=5)) for row in rows).encode()


def test_consecutive_blocks_join_into_one_run():
    assert prompt_of_blocks([7, 8, 2], 10, block_size=4, rest=1).runs == ((0, 28, 8), (0, 8, 2))


def test_twelve_equal_blocks_are_6144_equal_tokens():
    head = list(range(46, 58))
    trace_file = read(
        mooncake((27482, 6955, [*head, 2353, 2354]), (30535, 6472, [*head, 2366]), (30535, 6472, [*head, 2366]))
    )
    first, second, third = (request.prompt for request in trace_file.requests)
    assert (first.num_tokens, second.num_tokens) == (6955, 6472)
    assert shared(first, second) == 12 * 512
    assert shared(second, third) == 6472
    assert [request.arrival_time for request in trace_file.requests] == [0.0, 3.053, 3.053]


def test_bailian_blocks_have_16_tokens_and_times_are_seconds():
    rows = [
        {"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 40, "hash_ids": [0, 1, 2]},
        {"chat_id": 2, "parent_chat_id": 1, "timestamp": 1.231, "input_length": 33, "hash_ids": [0, 1, 3]},
    ]
    trace_file = read("\n".join(json.dumps(row | {"output_length": 5}) for row in rows).encode())
    first, second = trace_file.requests
    assert (first.request_id, second.request_id, second.arrival_time) == ("1", "2", 0.731)
    assert shared(first.prompt, second.prompt) == 32
    assert trace_file.block_size == 16


def test_convert_shows_the_ids_of_the_file():
    summary = convert_summary(read(mooncake((0, 1025, [3, 4, 9]), (1, 5, [4_000_000_0]))))
    assert [request["hash_ids"] for request in summary["first"]] == [[3, 4, 9], [40_000_000]]


def test_tokens_without_an_id_are_shared_with_nobody():
    trace_file = read(mooncake((0, 1200, [3]), (1, 1200, [3]), (2, 10, []), (3, 10, [3, 4])))
    first, second, third, fourth = (request.prompt for request in trace_file.requests)
    assert [prompt.num_tokens for prompt in (first, second, third, fourth)] == [1200, 1200, 10, 10]
    assert shared(first, second) == 512
    assert shared(first, third) == 0
    assert shared(first, fourth) == 10
    assert trace_file.notes[0].startswith("Rows with another number of hash_ids than blocks of 512 tokens: 4")


ids = st.lists(st.integers(0, 12) | st.sampled_from([4_194_303, 4_194_304, 2**31 - 1]), min_size=1, max_size=8)


@given(ids, ids, st.sampled_from([4, 16, 512]), st.data())
def test_tokens_are_equal_exactly_where_their_blocks_are(a, b, block_size, data):
    lengths = [data.draw(st.integers((len(x) - 1) * block_size + 1, len(x) * block_size)) for x in (a, b)]
    first, second = (prompt_of_blocks(x, n, block_size, rest=1) for x, n in zip((a, b), lengths, strict=True))
    assert [first.num_tokens, second.num_tokens] == lengths
    assert block_ids(first, block_size) == a
    for place, (x, y) in enumerate(zip(tokens(first), tokens(second), strict=False)):
        assert (x == y) == (a[place // block_size] == b[place // block_size])
