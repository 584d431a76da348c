"""The scenario object and its file: what can be written is read back, what is wrong is named in one sentence."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from scenarios.request_fields import own_content
from scenarios.run import run
from scenarios.scenario import Scenario, parse, prose

SMALL: dict[str, Any] = {
    "kvscope_scenario": 1,
    "name": "small",
    "title": {"en": "Small", "zh": "小"},
    "story": {"en": "Two requests."},
    "seed": 7,
    "settings": {"block_size": 4, "num_blocks": 8},
    "runs": [{"name": "static", "settings": {"policy": "static"}}, {"name": "continuous", "settings": {}}],
    "requests": [
        {"id": "A", "arrival_s": 0.0, "prompt": {"len": 6}, "output_len": 3},
        {"id": "B", "arrival_s": 0.5, "prompt": [5, 6, 7], "output_len": 2, "n": 2, "tenant": "t", "priority": -1},
        {"id": "C", "arrival_s": None, "prompt": {"runs": [[9, 0, 4], [9, 8, 2]]}, "output_len": 1, "after": "A",
         "delay_s": 2.0},
    ],
    "bookmarks": [{"run": "static", "step": 1, "event": 2, "text": {"en": "look"}}],
}  # fmt: skip


def changed(**changes: Any) -> dict[str, Any]:
    data = {**SMALL, **changes}
    return {key: value for key, value in data.items() if value is not ...}


def sentence(data: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(data)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 700
    return text


def test_a_scenario_file_is_written_as_it_was_read() -> None:
    assert Scenario.load(SMALL).dump() == SMALL


def test_a_dump_survives_json() -> None:
    text = json.dumps(Scenario.load(SMALL).dump(), allow_nan=False)
    assert Scenario.load(parse(text)).dump() == SMALL


def test_a_run_has_the_settings_of_the_scenario_and_its_own() -> None:
    settings = Scenario.load(SMALL).settings_of("static")
    assert (settings.policy, settings.block_size, settings.num_blocks, settings.seed) == ("static", 4, 8, 7)


def test_settings_from_outside_win_over_those_of_a_run() -> None:
    scenario = Scenario.load(SMALL).with_settings({"policy": "continuous", "num_blocks": "12"})
    assert {scenario.settings_of(run.name).policy for run in scenario.runs} == {"continuous"}
    assert scenario.settings_of("static").num_blocks == 12


def test_equal_words_of_texts_become_equal_tokens() -> None:
    entries = [
        {"id": "A", "arrival_s": 0, "prompt": "to be or not to be", "output_len": 1},
        {"id": "B", "arrival_s": 0, "prompt": "not be", "output_len": 1},
    ]
    first, second = Scenario.load(changed(requests=entries)).all_requests()
    assert first.prompt.token_ids == (0, 1, 2, 3, 0, 1)
    assert second.prompt.token_ids == (3, 1)


def test_a_prompt_of_which_only_the_length_is_known_equals_no_other() -> None:
    entries = [{"id": i, "arrival_s": 0, "prompt": {"len": 5}, "output_len": 1} for i in "AB"]
    first, second = Scenario.load(changed(requests=entries)).all_requests()
    assert first.prompt.runs == ((own_content(0), 0, 5),)
    assert second.prompt.runs == ((own_content(1), 0, 5),)


def test_a_later_round_has_no_arrival_of_its_own() -> None:
    workload = Scenario.load(SMALL).workload_for("static")
    assert [request.request_id for request in workload.take(1e9)] == ["A", "B"]
    assert workload.more_arrivals()


def test_runs_share_no_request_whose_arrival_they_decide() -> None:
    scenario = Scenario.load(SMALL)
    workload = scenario.workload_for("static")
    request = workload.take(0.0)[0]
    workload.on_finish(request, 3.0)
    assert workload.take(5.0)[-1].arrival_time == 5.0
    assert scenario.all_requests()[2].arrival_time == 0.0


def test_empty_prompts_and_outputs_are_left_to_the_engine_to_refuse() -> None:
    entries = [
        {"id": "A", "arrival_s": 0, "prompt": {"len": 0}, "output_len": 1},
        {"id": "B", "arrival_s": 0, "prompt": [], "output_len": 0},
    ]
    assert [request.prompt.num_tokens for request in Scenario.load(changed(requests=entries)).all_requests()] == [0, 0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "scenario is []"),
        (changed(kvscope_scenario=2), "kvscope_scenario is 2"),
        (changed(kvscope_scenario=...), "kvscope_scenario is missing"),
        (changed(name=...), "name is missing"),
        (changed(name="a/b"), "no slash"),
        (changed(colour="red"), "unknown key 'colour'"),
        (changed(title={"fr": "Petit"}), "unknown key 'fr'"),
        (changed(seed=-1), "seed is -1"),
        (changed(seed=10**40), "more than 30 digits"),
        (changed(settings=0), "settings is 0; it has to be an object"),
        (changed(settings=[]), "settings is []"),
        (changed(runs=[{"name": "a", "settings": False}], bookmarks=[]), "settings is False"),
        (changed(workload=0, requests=...), "workload is 0"),
        (changed(title="half \ud800"), "half a character"),
        (changed(story={"en": "", "zh": "\udfff"}), "zh is '\\udfff'"),
        (changed(bookmarks=[{"run": "static", "step": 0, "text": "\ud800"}]), "half a character"),
        (changed(name="x" * 1000), f"name is '{'x' * 60}…'"),
        (changed(requests="y" * 10**6), f"requests is '{'y' * 60}…'"),
        (changed(requests=[[[[[[["deep"]]]]]]]), "requests[0] is [[[[[...]]]]]; it has to be"),
        (changed(seed=[10**20] * 10**6), f"seed is [{10**20}, {10**20}, {10**20}"[:68] + "…; it has to be"),
        (changed(settings={"block_sizes": 4}), "unknown setting 'block_sizes'"),
        (changed(settings={"block_size": 0}), "block_size is 0"),
        (changed(runs=[]), "at least one"),
        (changed(runs=[{"name": "a"}, {"name": "a"}]), "each with its own name"),
        (changed(runs=[{"name": "a", "settings": {"policy": "fast"}}], bookmarks=[]), "run a: policy is 'fast'"),
        (changed(requests=...), "one of requests, workload and ops"),
        (changed(workload={"generator": "fixed"}), "one of requests, workload and ops"),
        (changed(requests={}), "it has to be a list"),
        (changed(ops=[7], requests=...), "ops[0] is 7"),
        (changed(bookmarks=[{"run": "warm", "step": 0, "text": {"en": ""}}]), "names the run 'warm'"),
        (changed(bookmarks=[{"run": "static", "step": -1, "text": {"en": ""}}]), "step is -1"),
    ],
)
def test_what_is_wrong_is_named(data: Any, words: str) -> None:
    assert words in sentence(data)


REQUEST = {"id": "A", "arrival_s": 0.0, "prompt": {"len": 6}, "output_len": 3}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": ""}, "id is ''"),
        ({"id": 3}, "id is 3"),
        ({"id": "\ud800"}, "id is '\\ud800'; it has a surrogate that stands alone"),
        ({"after": "\udc00"}, "half a character"),
        ({"measured": 0}, "measured is 0"),
        ({"arrival_s": -1}, "arrival_s is -1"),
        ({"arrival_s": 2e12}, "from 0.0 to 1,000,000,000,000.0"),
        ({"arrival_s": float("nan")}, "arrival_s is nan"),
        ({"arrival_s": float("inf")}, "arrival_s is inf"),
        ({"arrival_s": "soon"}, "arrival_s is 'soon'"),
        ({"output_len": -2}, "output_len is -2"),
        ({"output_len": 1.5}, "output_len is 1.5"),
        ({"output_len": True}, "output_len is True"),
        ({"output_len": 2**31}, "output_len is 2147483648"),
        ({"n": 0}, "n is 0"),
        ({"n": 10**6}, "n is 1000000"),
        ({"prompt": 5}, "prompt is 5"),
        ({"prompt": {"len": -1}}, "len is -1"),
        ({"prompt": {"len": 5, "runs": []}}, "give token ids, a text"),
        ({"prompt": [1, -1]}, "token ids are whole numbers"),
        ({"prompt": {"runs": [[1, 2]]}}, "[content, start, len]"),
        ({"prompt": {"runs": [[1, 0, 2**31 - 1], [2, 0, 1]]}}, "2,147,483,648 tokens"),
        ({"after": "Z"}, "unknown 'Z'"),
        ({"after": "A"}, "waits for itself"),
        ({"delay_s": -3}, "delay_s is -3"),
        ({"output_length": 3}, "unknown key 'output_length'"),
        ({"measured": {"ttft_s": float("inf")}}, "a time of at most 2,147,483,647 seconds"),
        ({"measured": {"ttft_s": 2**31}}, "a time of at most 2,147,483,647 seconds"),
        ({"priority": -(2**31)}, "from -2,147,483,647 to 2,147,483,647"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(change: dict[str, Any], words: str) -> None:
    assert words in sentence(changed(requests=[{**REQUEST, **change}]))


def test_what_a_file_may_say_of_a_request_a_trace_can_hold() -> None:
    most = {"priority": -(2**31) + 1, "measured": {"ttft_s": 2**31 - 1, "gap_s": 1 - 2**31}, "arrival_s": 1e12}
    scenario = Scenario.load(changed(requests=[{**REQUEST, **most}]))
    saved = BytesIO()
    run(scenario, scenario.runs[0].name).save(saved)
    (request,) = Trace.load(saved.getvalue()).requests
    assert {name: request[name] for name in most} == most


def test_two_requests_with_one_id_are_refused() -> None:
    assert "two requests have the id 'A'" in sentence(changed(requests=[REQUEST, REQUEST]))


def test_requests_that_wait_for_each_other_are_refused() -> None:
    entries = [{**REQUEST, "after": "B"}, {**REQUEST, "id": "B", "after": "A"}]
    assert "waits for itself" in sentence(changed(requests=entries))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON: line 1"),
        ('{"a": NaN}', "contains NaN"),
        ('{"a": 1, "a": 2}', "gives the key 'a' twice"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "too many digits"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
)
def test_a_file_that_is_no_json_is_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        parse(text)


def test_a_story_loses_its_line_breaks_and_keeps_its_paragraphs() -> None:
    assert prose("One\ntwo.\n\nThree\n    four.\n") == "One two.\n\nThree four."


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*SMALL, "ops", "workload", "other"]), junk, max_size=11))
def test_any_object_is_read_or_refused_in_one_sentence(data: dict[str, Any]) -> None:
    merged = {**SMALL, **data}
    try:
        Scenario.load(merged).dump()
    except ScenarioError as error:
        assert "\n" not in str(error)


@given(st.dictionaries(st.sampled_from([*REQUEST, "n", "tenant", "priority", "after", "measured"]), junk, max_size=10))
def test_any_request_is_read_or_refused_in_one_sentence(change: dict[str, Any]) -> None:
    try:
        Scenario.load(changed(requests=[{**REQUEST, **change}])).dump()
    except ScenarioError as error:
        assert "\n" not in str(error)


def test_words_of_prompts_and_answers_become_tokens_and_are_written_as_words_again() -> None:
    requests = [
        {"id": "A", "arrival_s": 0.0, "prompt": "be kind", "output_len": 2, "output": "be brief"},
        {"id": "B", "arrival_s": 0.0, "prompt": "kind and brief", "output_len": 1},
        {"id": "C", "arrival_s": 0.0, "prompt": [7, 3], "output_len": 1, "output": [900]},
    ]
    scenario = Scenario.load(changed(requests=requests))
    assert scenario.vocabulary == ("be", "kind", "brief", "and")
    assert scenario.requests is not None
    first, second, third = scenario.requests
    assert (first.prompt.token_ids, first.output_script) == ((0, 1), ((0, 2),))
    assert (second.prompt.token_ids, second.output_script) == ((1, 3, 2), None)
    assert (third.prompt.token_ids, third.output_script) == ((7, 3), ((900,),))
    assert scenario.dump()["requests"] == requests


def test_ids_that_are_not_numbered_by_first_appearance_stay_ids() -> None:
    requests = [
        {"id": "A", "arrival_s": 0.0, "prompt": [1, 0], "output_len": 1},
        {"id": "B", "arrival_s": 0.0, "prompt": "a b", "output_len": 1},
    ]
    assert Scenario.load(changed(requests=requests)).dump()["requests"] == requests


@pytest.mark.parametrize("answer", ["one", [1, 2, 3], [-1, 2], {"len": 2}, 7])
def test_an_answer_has_the_length_that_is_announced(answer: Any) -> None:
    request = {"id": "A", "prompt": {"len": 3}, "output_len": 2, "output": answer}
    assert "requests[0]: output" in sentence(changed(requests=[request], bookmarks=[]))
    assert "one sample" in sentence(changed(requests=[{**request, "n": 2, "output": [1, 2]}], bookmarks=[]))
