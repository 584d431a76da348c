"""The generator of conversations: every round sends all rounds before it."""

import pytest

from scenarios.fields import ScenarioError
from scenarios.workloads import generate

CHAT = {"generator": "chat", "rounds": 3, "question_len": 2, "answer_len": 3}


def test_a_round_begins_with_all_questions_and_answers_before_it():
    first, second, third = generate(CHAT, seed=0)
    assert [request.prompt.num_tokens for request in (first, second, third)] == [2, 7, 12]
    for before, later in ((first, second), (second, third)):
        known = before.prompt.token_ids + before.output_script[0]
        assert later.prompt.token_ids[: len(known)] == known
        assert not set(later.prompt.token_ids[len(known) :]) & set(known)


def test_a_round_arrives_a_while_after_the_round_before():
    first, second, _ = generate({**CHAT, "think_s": 1.5}, seed=0)
    assert (first.after, first.delay) == (None, 0.0)
    assert (second.after, second.delay) == (first.request_id, 1.5)


def test_conversations_share_the_system_prompt_and_nothing_else():
    requests = generate({**CHAT, "num_conversations": 2, "rounds": 1, "system_len": 4}, seed=0)
    one, two = (request.prompt.token_ids for request in requests)
    assert [request.request_id for request in requests] == ["C1.1", "C2.1"]
    assert one[:4] == two[:4]
    assert not set(one[4:]) & set(two[4:])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rounds": 0}, "rounds is 0"),
        ({"rounds": 1_001}, "rounds is 1001"),
        ({"answer_len": 10**8}, "answer_len is 100000000"),
        ({"rounds": 1_000, "question_len": 50, "answer_len": 50}, "about 100,100,000 tokens"),
        ({"turns": 3}, "unknown key 'turns'"),
        ({"think_s": -1}, "think_s is -1"),
    ],
)
def test_a_bad_number_is_named(change: dict, words: str):
    with pytest.raises(ScenarioError, match=words):
        generate({**CHAT, **change}, seed=0)
