"""Settings from outside data: right types, one clear sentence for everything else."""

import pytest

from engine.settings import Settings, SettingsError


def test_text_from_the_command_line_becomes_numbers_truth_values_and_lists():
    settings = Settings.of(
        {
            "num_blocks": "8",
            "watermark": "0.25",
            "admit_full_prompt": "false",
            "block_script": "7,2,5",
            "max_num_seqs": "none",
        }
    )
    assert settings.num_blocks == 8
    assert settings.watermark == 0.25
    assert settings.admit_full_prompt is False
    assert settings.block_script == (7, 2, 5)
    assert settings.max_num_seqs is None


@pytest.mark.parametrize("value", ["", " ", "none", None, []])
def test_an_empty_block_script_is_none_at_all(value):
    assert Settings.of({"block_script": value}, Settings(block_script=(7, 2))).block_script == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"speed": 3}, ["unknown setting 'speed'", "known are"]),
        ({"num_blocks": 0}, ["num_blocks is 0", "between 1 and"]),
        ({"num_blocks": -3}, ["num_blocks is -3"]),
        ({"num_blocks": 10**30}, ["num_blocks is 1000"]),
        ({"num_blocks": 10**400}, ["num_blocks is a number of about 400 digits", "between 1 and"]),
        ({"num_blocks": "9" * 5000}, ["num_blocks is '999", "whole number"]),
        ({"num_blocks": "1_000"}, ["num_blocks is '1_000'", "whole number"]),
        ({"num_blocks": "٣"}, ["whole number"]),
        ({"watermark": 10**400}, ["watermark", "number"]),
        ({"block_script": [1, 10**400]}, ["block_script names block"]),
        ({"policy": "x" * 100_000}, ["xxx…", "static"]),
        ({"kv_capacity_tokens": 2**30, "block_size": 1}, ["more than 2097152 blocks", "larger block_size"]),
        ({"num_blocks": 1.5}, ["num_blocks is 1.5", "whole number"]),
        ({"num_blocks": True}, ["num_blocks is True"]),
        ({"num_blocks": float("inf")}, ["num_blocks is inf"]),
        ({"watermark": float("nan")}, ["watermark is nan"]),
        ({"watermark": "9" * 5000}, ["watermark"]),
        ({"policy": "greedy"}, ["'greedy'", "static, continuous, chunked"]),
        ({"policy": None}, ["policy needs a value"]),
        ({"admit_full_prompt": "maybe"}, ["true or false"]),
        ({"block_script": "7,,2"}, ["block_script", "whole number"]),
        ({"block_script": 0}, ["block_script is 0", "list of whole numbers"]),
        ({"block_script": {"a": 1}}, ["block_script", "list of whole numbers"]),
        ({"num_blocks": 4, "block_script": [4]}, ["block 4", "0 to 3"]),
        ({"num_blocks": 4, "block_script": [1, 1]}, ["twice"]),
        ({"num_blocks": 4, "kv_capacity_tokens": 64}, ["only one of them"]),
        ({"kv_capacity_tokens": 8}, ["kv_capacity_tokens is 8", "at least 16"]),
        ({"kv_manager": "max"}, ["set max_model_len"]),
        ({"num_host_blocks": 4}, ["set num_blocks"]),
        ({"free_list": "stack"}, ["set num_blocks"]),
        ({"chunk_size": 512}, ["chunk_size is 512", "choose policy 'chunked'"]),
    ],
)
def test_a_bad_value_is_named_with_its_limit(values, words):
    with pytest.raises(SettingsError) as problem:
        Settings.of(values)
    for word in words:
        assert word in str(problem.value)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 700


def test_a_pool_in_tokens_holds_whole_blocks_only():
    settings = Settings.of({"kv_capacity_tokens": 12_207})
    assert settings.pool_blocks == 762
    assert settings.pool_tokens == 12_207


def test_the_chunk_is_the_smaller_of_chunk_size_and_budget():
    assert Settings(policy="chunked", chunk_size=4096, max_num_batched_tokens=2048).max_chunk == 2048
    assert Settings(policy="chunked", chunk_size=512, max_num_batched_tokens=2048).max_chunk == 512


def test_settings_survive_a_round_trip_through_json_values():
    settings = Settings.of({"num_blocks": 9, "block_script": [3, 1], "policy": "static"})
    assert Settings.of(settings.as_dict()) == settings
    assert hash(settings.with_(seed=1)) != hash(settings)
