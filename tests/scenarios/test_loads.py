"""Streams of requests by what they share, each in its own stretch of time."""

from itertools import count

from scenarios.loads import rounds, stream
from tests.scenarios.readers.tokens import shared


def test_a_stream_shares_its_beginning_and_nothing_with_another_one():
    new = count()
    sizes = {"num_requests": 2, "shared_len": 5, "own_len": 3, "output_len": 4}
    one, two = stream("A", new, start=1.0, interval=0.5, **sizes)
    other, _ = stream("B", new, **sizes)
    assert [request.request_id for request in (one, two, other)] == ["A 1", "A 2", "B 1"]
    assert [request.arrival_time for request in (one, two)] == [1.0, 1.5]
    assert (one.prompt.num_tokens, one.sampling.max_tokens, one.tenant) == (8, 4, "A")
    assert shared(one.prompt, two.prompt) == 5
    assert shared(one.prompt, other.prompt) == 0


def test_a_stream_may_have_nothing_in_common_or_nothing_of_its_own():
    unrelated = stream("A", count(), num_requests=2, shared_len=0, own_len=6, output_len=1)
    equal = stream("B", count(), num_requests=2, shared_len=6, own_len=0, output_len=1)
    assert shared(*(request.prompt for request in unrelated)) == 0
    assert shared(*(request.prompt for request in equal)) == 6


def test_a_conversation_begins_at_its_time_and_goes_on_when_a_round_ends():
    first, second = rounds("C", count(), num_rounds=2, system_len=4, question_len=3, answer_len=2, start=7.0, think=0.5)
    assert (first.arrival_time, first.after) == (7.0, None)
    assert (second.after, second.delay, second.tenant) == ("C.1", 0.5, "C")
    assert second.prompt.token_ids[:9] == first.prompt.token_ids + first.output_script[0]
