"""Bad input for the prefix caches: one sentence that names it, or a right answer; a tree is never left broken."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.settings import Settings, SettingsError
from scenarios.fields import ScenarioError
from scenarios.radix_ops import RadixOps
from scenarios.scenario import Scenario
from tests.scenarios.command import json_of, sentence

CACHES: dict[str, dict[str, Any]] = {
    "tree": {"kv_manager": "radix"},
    "blocks": {"kv_manager": "paged", "prefix_caching": True},
}
BAD_TOKENS = (1.0, 1.5, "7", True, -1, 2**31, 10**40, None, [1], {})


def story(cache: str, *prompts: Any, output_len: int = 2, **settings: Any) -> dict[str, Any]:
    """A scenario file: requests ten seconds apart on four pages of four tokens unless `settings` say otherwise."""
    return {
        "kvscope_scenario": 1,
        "name": "bad",
        "settings": {"block_size": 4, "num_blocks": 4, "step_time": 1.0, **CACHES[cache], **settings},
        "requests": [
            {"id": f"r{i}", "arrival_s": 10.0 * i, "prompt": prompt, "output_len": output_len}
            for i, prompt in enumerate(prompts)
        ],
    }


def told(ops: list[Any], **settings: Any) -> dict[str, Any]:
    data = story("tree", **settings)
    del data["requests"]
    return {**data, "ops": ops}


def written(tmp_path: Path, data: dict[str, Any]) -> Path:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(data))
    return path


def run_of(capsys: pytest.CaptureFixture[str], tmp_path: Path, data: dict[str, Any]) -> dict[str, Any]:
    (figures,) = json_of(capsys, "run", written(tmp_path, data))["runs"]
    return figures


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("token", BAD_TOKENS, ids=repr)
def test_a_token_that_is_no_id_is_named_with_its_place_and_the_limit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: str, token: Any
) -> None:
    text = sentence(capsys, "run", written(tmp_path, story(cache, [5, 6], [5, token, 7])))
    assert text.startswith("requests[1]: prompt: token 2 is ")
    assert text.endswith("; token ids are whole numbers from 0 to 2,147,483,647.")
    data = story(cache, [5, 6])
    data["requests"][0]["output"] = [5, token]
    with pytest.raises(ScenarioError, match=r"requests\[0\]: output: token 2 is "):
        Scenario.load(data)


@pytest.mark.parametrize("verb", ["insert", "match"])
@pytest.mark.parametrize("token", BAD_TOKENS, ids=repr)
def test_a_token_of_an_operation_that_is_no_id_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: str, token: Any
) -> None:
    text = sentence(capsys, "run", written(tmp_path, told([["insert", [1, 2]], [verb, [token, 2, 3, 4]]])))
    assert text.startswith(f"ops[1] {verb} has [") and "; token 1 is " in text


@pytest.mark.parametrize("token", [1.5, "7", -1, 2**31], ids=repr)
def test_a_row_of_a_trace_with_such_a_token_is_rejected_and_the_others_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, token: Any
) -> None:
    path = tmp_path / "rows.jsonl"
    row = {"input_toks": 3, "output_toks": 2, "arrival_time_ns": 0}
    path.write_text("".join(json.dumps({**row, "input_tok_ids": ids}) + "\n" for ids in ([5, token, 7], [5, 6, 7])))
    report = json_of(capsys, "run", path, "--set", "prefix_caching=true")
    (rejected,) = report["input"]["rejected"]
    assert rejected["line"] == 1 and "an id in input_tok_ids" in rejected["text"]
    assert [run["finished"] for run in report["runs"]] == [1, 1, 1]


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"block_size": 0}, "block_size is 0; it has to be between 1 and 65536."),
        ({"block_size": -4}, "block_size is -4; it has to be between 1 and 65536."),
        ({"block_size": 2.5}, "block_size is 2.5; give a whole number."),
        ({"block_size": True}, "block_size is True; give a whole number."),
        ({"num_blocks": 0}, "num_blocks is 0; it has to be between 1 and 2097152."),
        (
            {"num_blocks": None, "kv_capacity_tokens": 3},
            "kv_capacity_tokens is 3; that is no whole block of 4, so set at least 4 or a smaller block_size.",
        ),
    ],
)
def test_a_page_that_no_pool_can_have_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: str, settings: dict[str, Any], words: str
) -> None:
    data = story(cache, [1, 2], **settings)
    assert sentence(capsys, "run", written(tmp_path, data)) == f"settings: {words}"
    with pytest.raises(SettingsError) as caught:
        Settings.of(data["settings"])
    assert str(caught.value) == words


@pytest.mark.parametrize("cache", CACHES)
def test_tokens_of_a_pool_that_fill_no_page_are_not_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: str
) -> None:
    """15 tokens are 3 pages of 4: 12 fit to the last slot, 13 never do."""
    sizes = {"num_blocks": None, "kv_capacity_tokens": 15}
    assert run_of(capsys, tmp_path, story(cache, {"len": 11}, **sizes))["finished"] == 1
    figures = run_of(capsys, tmp_path, story(cache, {"len": 13}, **sizes))
    assert (figures["finished"], figures["rejected_reasons"]) == (0, {"never_fits": 1})


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize(("prompt_len", "output_len"), [(100, 2), (17, 1), (10, 100), (16, 2)])
def test_a_request_larger_than_the_cache_is_refused_and_costs_nobody_anything(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: str, prompt_len: int, output_len: int
) -> None:
    data = story(cache, list(range(12)), {"len": prompt_len}, list(range(12)))
    data["requests"][1]["output_len"] = output_len
    figures = run_of(capsys, tmp_path, data)
    assert (figures["finished"], figures["rejected"], figures["unfinished"]) == (2, 1, 0)
    (refused,) = figures["rejected_requests"]
    assert refused["available"] == 4 < refused["needed"]
    assert figures["hit_rate"] == 8 / 24  # the third finds two pages of the first, whose last token is computed


@pytest.mark.parametrize("cache", CACHES)
def test_a_prompt_of_a_million_tokens_is_stored_and_found_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cache: str
) -> None:
    ids = list(range(1_000_000))
    figures = run_of(capsys, tmp_path, story(cache, ids, ids, num_blocks=300_000))
    assert figures["finished"] == 2
    assert figures["hit_rate"] == 999_996 / 2_000_000


def test_operations_that_cannot_be_done_leave_the_tree_whole() -> None:
    """16 tokens of room; what fails is told in its result, and everything else is as if it had not been asked."""
    first = list(range(16))
    ops: list[tuple[Any, ...]] = [
        ("unlock", "nobody"),
        ("insert", list(range(40))),
        ("insert", first),
        ("lock", "a", first),
        ("lock", "a", first),
        ("insert", [99, 98, 97, 96]),
        ("evict", 1_000),
        ("unlock", "a"),
        ("unlock", "a"),
        ("match", first),
        ("evict", 1_000),
        ("evict", 1),
    ]
    run = RadixOps(Settings(kv_manager="radix", block_size=4, num_blocks=4), ops).run()
    run.check()
    errors = {number: result["error"] for number, result in enumerate(run.results) if "error" in result}
    assert errors == {
        0: "unlock_without_lock",
        1: "out_of_space",
        4: "handle_in_use",
        5: "out_of_space",
        8: "unlock_without_lock",
    }
    assert [result["total_tokens"] for result in run.results] == [0, 0, *[16] * 8, 0, 0]
    assert run.results[9]["hit_tokens"] == 16
    assert run.results[6]["evicted_tokens"] == 0 and run.results[10]["evicted_tokens"] == 16


def test_a_tree_of_a_million_tokens_in_one_operation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ops = [["insert", 1_000_000], ["insert", [1, 2, 3, 4]], ["evict", 999_999]]
    run = RadixOps(Settings(kv_manager="radix", block_size=4, num_blocks=260_000), map(tuple, ops)).run()
    run.check()
    assert [result["total_tokens"] for result in run.results] == [1_000_000, 1_000_004, 4]
    text = sentence(capsys, "run", written(tmp_path, told([["insert", 10_000_001]])))
    assert "give a list of token ids or a number of tokens up to 10,000,000" in text
