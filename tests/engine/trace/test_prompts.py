"""Prompts in a trace: how they are published, what a file may say of them, how they are compared."""

import io
from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Any

import pytest

from engine.batch import Batch, StepOutput
from engine.live import LiveEngine
from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.script import replay
from engine.settings import Settings
from engine.trace import prompts
from engine.trace.check import TraceFileError, add_answers, check_answers, check_requests
from engine.trace.chunk import Answer
from engine.trace.doctor import diagnose
from engine.trace.prefix_trie import PrefixTrie
from engine.trace.prompts import ENDLESS, pages, prompt_symbols, published, sequence_symbols, token_at
from engine.trace.trace import Trace
from engine.workload import ListWorkload


def _request(prompt: Prompt, script=None) -> Request:
    return Request("a", 0.0, prompt, SamplingParams(1, 2), output_script=script)


@pytest.mark.parametrize(
    ("request_", "fields", "size"),
    [
        (_request(Prompt(((7, 0, 100),))), {"prompt": 7}, 1),
        (_request(Prompt(((7, 0, 4), (9, 2, 3)))), {"prompt": (7, 0, 4, 9, 2, 3)}, 6),
        (_request(Prompt.of_ids((5, 6, 7)), ((8, 9),)), {"prompt_ids": (5, 6, 7), "answer_ids": ((8, 9),)}, 5),
    ],
)
def test_a_prompt_is_published_in_few_numbers(request_: Request, fields: dict, size: int) -> None:
    assert published(request_, 10) == (fields, 10 - size)
    assert published(request_, size) == (fields, 0)
    assert published(request_, size - 1) == ({}, 0)


def test_after_the_last_number_no_prompt_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.trace.recorder.MAX_PUBLISHED", 7)
    requests = [Request(f"r{i}", 0.0, Prompt.of_ids(range(n)), SamplingParams(1, 1)) for i, n in enumerate((4, 4, 2))]
    trace = simulate(Settings(step_time=1.0), ListWorkload(requests))
    assert [prompts.is_published(request) for request in trace.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"prompt": "7"}, "prompt"),
        ({"prompt": True}, "prompt"),
        ({"prompt": 0.5}, "prompt"),
        ({"prompt": [7, 0]}, "prompt"),
        ({"prompt": [7, 0, 5]}, "prompt"),
        ({"prompt": [7, 0, 6, 7, 0, -2]}, "prompt"),
        ({"prompt_ids": [1, 2, 3]}, "prompt_ids"),
        ({"prompt_ids": [1, 2, 3, None]}, "prompt_ids"),
        ({"prompt_ids": 4}, "prompt_ids"),
        ({"answer_ids": [[1], [2]]}, "answer_ids"),
        ({"answer_ids": [1]}, "answer_ids"),
        ({"answer_ids": [["x"]]}, "answer_ids"),
    ],
)
def test_a_file_whose_prompt_does_not_fit_is_refused_by_name(fields: dict, name: str) -> None:
    with pytest.raises(TraceFileError, match=f"Request 0 has {name} that does not fit its 4 tokens"):
        check_requests([{"id": "a", "prompt_len": 4, **fields}])


def test_runs_that_continue_each_other_are_one() -> None:
    joined = prompt_symbols({"prompt": (7, 0, 4, 7, 4, 2, 9, 0, 0, 9, 5, 1), "prompt_len": 7})
    assert joined == [(7, 0, 6), (9, 5, 1)]
    assert list(pages(joined, 4)) == [((7, 0, 4),)]
    assert list(pages(joined, 3)) == [((7, 0, 3),), ((7, 3, 3),)]
    assert [token_at(joined, i) for i in (0, 6, 7)] == [(7, 0, 1), (9, 5, 1), None]


def test_an_answer_follows_its_prompt_and_is_its_own_from_where_nobody_knows_it() -> None:
    request = {"prompt_ids": (1, 2), "answer_ids": ((3,), (4, 5)), "first_sequence": 6, "prompt_len": 2}
    assert sequence_symbols(request, 1) == [1, 2, 4, 5, (("output", 7), 2, ENDLESS)]


def test_the_trie_finds_the_longest_common_prefix_and_the_first_who_has_it() -> None:
    trie = PrefixTrie()
    for owner, content in enumerate(([(7, 0, 8)], [(7, 0, 4), (9, 0, 2)], [5, 6, 1], [])):
        trie.add(content, owner)
    assert trie.longest([(7, 0, 4), (8, 0, 1)]) == (4, 0)
    assert trie.longest([(7, 0, 4), (9, 0, 5)]) == (6, 1)
    assert trie.longest([(7, 0, 9)]) == (8, 0)
    assert trie.longest([(7, 1, 8)]) == (0, -1)
    assert trie.longest([5, 6, 2, 2]) == (2, 2)
    assert trie.longest([]) == (0, -1)


def test_the_trie_agrees_with_comparing_token_by_token() -> None:
    rng = Random(3)
    trie, contents = PrefixTrie(), []
    for owner in range(400):
        parts = [(rng.randint(7, 8), rng.choice((0, 0, 2)), rng.randint(1, 4)) for _ in range(rng.randint(1, 3))]
        entry = {"prompt": tuple(n for part in parts for n in part), "prompt_len": sum(part[2] for part in parts)}
        symbols = prompt_symbols(entry) if rng.random() < 0.6 else [rng.randint(0, 1) for _ in range(rng.randint(1, 6))]
        flat = [token_at(symbols, i) for i in range(20)]
        common = [next(i for i in range(21) if i == 20 or flat[i] is None or flat[i] != c[i]) for c in contents]
        best = max(common, default=0)
        assert trie.longest(symbols) == ((best, common.index(best)) if best else (0, -1))
        trie.add(symbols, owner)
        contents.append(flat)


def test_a_long_prompt_of_one_content_is_one_number() -> None:
    requests = [Request(f"r{i}", 0.0, Prompt.of_length(100_000, i), SamplingParams(1, 1)) for i in range(3)]
    trace = simulate(Settings(block_size=1024, step_time=1.0), ListWorkload(requests))
    assert [request["prompt"] for request in trace.requests] == [0, 1, 2]


class CountingModel:
    """Samples 1, 2, 3, ..."""

    def __init__(self) -> None:
        self._tokens = count(1)

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(1.0, [[next(self._tokens) for _ in range(row.num_samples)] for row in batch.rows])


def _live(**settings: Any) -> LiveEngine:
    return LiveEngine(Settings(block_size=4, num_blocks=16, **settings), CountingModel())


def _serve(live: LiveEngine, *prompts: Sequence[int], **sampling: int) -> None:
    for prompt in prompts:
        live.submit(prompt, SamplingParams(**sampling))
    while live.step() is not None:
        pass


def test_a_live_answer_is_published_when_its_request_has_ended() -> None:
    live = _live()
    live.submit([7, 8], SamplingParams(max_tokens=3))
    live.step()
    live.step()
    assert live.drain().answers == []
    live.step()
    assert live.drain().answers == [Answer(0, ((1, 2, 3),))]
    assert live.trace().requests[0]["answer_ids"] == ((1, 2, 3),)


def test_every_sample_has_its_own_answer_and_a_file_gives_them_back() -> None:
    live = _live()
    _serve(live, [7, 8], max_tokens=2, n=2)
    trace = live.trace()
    assert trace.requests[0]["answer_ids"] == ((1, 3), (2, 4))
    file = io.BytesIO()
    trace.save(file)
    again = Trace.load(file.getvalue())
    assert (again.requests, again.run_id) == (trace.requests, trace.run_id)
    assert again.run_id == replay(live.script()).run_id


def test_after_the_last_number_no_answer_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.trace.recorder.MAX_PUBLISHED", 8)
    live = _live()
    _serve(live, [7, 8], [9], max_tokens=3)
    assert [request.get("answer_ids") for request in live.trace().requests] == [((1, 3, 5),), None]
    _serve(live, [9], max_tokens=1)
    assert not prompts.is_published(live.trace().requests[2])


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([Answer(1, ((1,),))], "The request of an answer is 1"),
        ([Answer(True, ((1,),))], "The request of an answer is True"),
        ([Answer(0, ((1,), (2,)))], "The answer of request 0 is not a list of ids for each of 1 samples"),
        ([Answer(0, "1")], "The answer of request 0 is not a list"),
        ([Answer(0, None)], "The answer of request 0 is not a list"),
        ([Answer(0, ((1,),))] * 2, "Request 0 has more than one answer"),
    ],
)
def test_an_answer_that_fits_no_request_is_refused_by_name(answers: list[Answer], said: str) -> None:
    requests, _ = check_requests([{"id": "a", "prompt_len": 4}])
    with pytest.raises(TraceFileError, match=said):
        add_answers(requests, answers)


@pytest.mark.parametrize("columns", [3, [3], [[0]], [[0], []], [[0], [[1]], [2]]])
def test_answers_of_a_file_are_two_columns(columns: Any) -> None:
    with pytest.raises(TraceFileError, match="The answers of a chunk are not"):
        check_answers(columns)


def test_a_second_round_of_a_live_chat_finds_the_first_answer_and_the_doctor_says_whose_it_is() -> None:
    live = _live(prefix_caching=True)
    _serve(live, [7, 8, 9], max_tokens=6)
    _serve(live, [7, 8, 9, 1, 2, 3, 4, 5, 6, 99], max_tokens=1)
    found = diagnose(live.trace())[1][0]
    assert (found.hit, found.sources, found.shared) == (8, ((0, 8),), 8)
    assert (found.reason, found.mine, found.theirs) == ("differs", 6, 6)


def test_an_open_content_is_named_to_whoever_begins_with_all_of_it_until_it_is_closed() -> None:
    trie = PrefixTrie()
    trie.open([1, 2, 3], 0)
    trie.open([1, 2, 3, 4, 5], 1)
    trie.add([1, 2, 9], 2)
    assert trie.match([1, 2, 3, 4, 5, 6]) == (5, 1, (0, 1))
    assert trie.match([1, 2, 3, 4]) == (4, 1, (0,))
    assert trie.match([1, 2, 9]) == (3, 2, ())
    trie.close(0)
    assert trie.match([1, 2, 3, 4, 5, 6]) == (5, 1, (1,))


@pytest.mark.parametrize(
    ("count_", "first", "rest"),
    [
        (0, [], [5, (7, 0, 4), 6]),
        (1, [5], [(7, 0, 4), 6]),
        (3, [5, (7, 0, 2)], [(7, 2, 2), 6]),
        (5, [5, (7, 0, 4)], [6]),
        (9, [5, (7, 0, 4), 6], []),
    ],
)
def test_a_content_is_cut_at_any_token(count_: int, first: list, rest: list) -> None:
    content = [5, (7, 0, 4), 6]
    assert (prompts.first_tokens(content, count_), prompts.without_first(content, count_)) == (first, rest)
