"""The generator of few-shot questions: what their prompts share, and in which order they wait."""

from itertools import pairwise

import pytest

from scenarios.fields import ScenarioError
from scenarios.run import run
from scenarios.scenario import Scenario
from scenarios.workloads import generate
from tests.scenarios.readers.tokens import shared

SIZES = {"num_tasks": 3, "requests_per_task": 4, "system_len": 2, "examples_len": 5, "question_len": 3}
LOAD = {"generator": "few-shot", **SIZES}


def test_questions_of_a_task_share_its_examples_and_all_share_the_system_prompt():
    requests = generate(LOAD, seed=0)
    assert len(requests) == 12 and {request.prompt.num_tokens for request in requests} == {10}
    for one in requests:
        for other in requests:
            if one is not other:
                assert shared(one.prompt, other.prompt) == (7 if one.tenant == other.tenant else 2)


def test_all_are_there_from_the_start_in_an_order_that_the_seed_decides():
    ids = [[request.request_id for request in generate(LOAD, seed)] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]
    assert sorted(ids[0]) == sorted(ids[2])
    assert {request.arrival_time for request in generate(LOAD, 1)} == {0.0}
    tasks = [request.tenant for request in generate(LOAD, 1)]
    assert sum(one != other for one, other in pairwise(tasks)) > 2, "in order of the tasks there would be two changes"


def test_a_part_without_tokens_is_left_out():
    (request,) = generate({**LOAD, "num_tasks": 1, "requests_per_task": 1, "system_len": 0, "question_len": 0}, seed=0)
    assert request.prompt.runs == ((1, 0, 5),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_tasks": 0}, "num_tasks is 0"),
        ({"num_tasks": 2_000, "requests_per_task": 1_000}, "are 2,000,000 requests; at most 1,000,000 are allowed"),
        ({"question_len": 2.5}, "question_len is 2.5"),
        ({"output_len": 0}, "output_len is 0"),
        ({"shots": 5}, "unknown key 'shots'"),
    ],
)
def test_what_cannot_be_used_is_named(change: dict[str, object], words: str):
    with pytest.raises(ScenarioError, match=words):
        generate({**LOAD, **change}, seed=0)


def test_prompts_that_no_memory_holds_are_refused_in_a_sentence():
    settings = {"kv_manager": "radix", "block_size": 1_000, "num_blocks": 2_000_000}
    load = {**LOAD, "examples_len": 500_000_000}
    scenario = Scenario.load({"kvscope_scenario": 1, "name": "huge", "settings": settings, "workload": load})
    with pytest.raises(ScenarioError, match="fewer"):
        run(scenario)
