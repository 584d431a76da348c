"""Folders as Hugging Face saves them, whole and damaged."""

import json
import pickle

import pytest
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig as ReferenceConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.executor.model_error import ModelError
from engine.executor.safetensors_folder import MAX_JSON, FolderTensors, folder_config, rope_factors
from tests.engine.executor.tiny_checkpoint import random_tensors, tiny_config, write_folder

CONFIG = tiny_config()
TENSORS = random_tensors(CONFIG)
LLAMA3 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def _change(folder, **values) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **values}))


@pytest.mark.parametrize("num_shards", [1, 3])
def test_sizes_and_tensors_come_back_as_they_were_written(tmp_path, num_shards) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS, num_shards)
    config = folder_config(folder)
    assert config == CONFIG
    stored = FolderTensors(folder, config)
    assert len(stored) == len(TENSORS)
    assert all(torch.equal(stored[name], TENSORS[name]) for name in TENSORS)


def test_a_second_copy_of_a_tied_embedding_and_old_frequencies_are_passed_over(tmp_path) -> None:
    more = {"lm_head.weight": torch.zeros(3, 3), "model.layers.0.self_attn.rotary_emb.inv_freq": torch.zeros(4)}
    folder = write_folder(tmp_path / "model", CONFIG, {**TENSORS, **more})
    assert set(FolderTensors(folder, CONFIG)) == set(TENSORS)


def test_a_pickle_is_never_opened(tmp_path) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": 1}))
    with pytest.raises(ModelError, match=r"lacks model\.safetensors; .* never a pickle"):
        FolderTensors(folder, CONFIG)


@pytest.mark.parametrize("name", ["../part-0.safetensors", "/etc/passwd", "..", "", 7])
def test_an_index_cannot_name_files_elsewhere(tmp_path, name) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS, num_shards=2)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"model.norm.weight": name}}))
    with pytest.raises(ModelError, match="has to name files beside it"):
        FolderTensors(folder, CONFIG)


def test_a_shard_that_is_missing_is_named(tmp_path) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS, num_shards=2)
    (folder / "part-1.safetensors").unlink()
    with pytest.raises(ModelError, match=r"lacks part-1\.safetensors"):
        FolderTensors(folder, CONFIG)


@pytest.mark.parametrize("size", [0, 4, 8, 500, -1])
def test_weights_that_were_cut_off_are_told(tmp_path, size) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS)
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:size])
    with pytest.raises(ModelError, match=r"model\.safetensors is damaged"):
        FolderTensors(folder, CONFIG)


def test_weights_in_whole_numbers_are_refused_by_name(tmp_path) -> None:
    tensors = {**TENSORS, "model.norm.weight": torch.ones(72, dtype=torch.int8)}
    stored = FolderTensors(write_folder(tmp_path / "model", CONFIG, tensors), CONFIG)
    with pytest.raises(ModelError, match=r"model\.norm\.weight is stored as torch\.int8"):
        stored["model.norm.weight"]


def test_a_tensor_that_a_plain_decoder_has_not_is_named(tmp_path) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS)
    save_file({**TENSORS, "model.layers.0.self_attn.q_proj.bias": torch.zeros(72)}, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"holds 'model\.layers\.0\.self_attn\.q_proj\.bias'"):
        FolderTensors(folder, CONFIG)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model_type": "qwen2"}, "'qwen2' model"),
        ({"attention_bias": True}, "asks for biases"),
        ({"hidden_act": "gelu"}, "another activation"),
        ({"hidden_size": "72"}, "hidden_size as '72'"),
        ({"num_hidden_layers": -1}, "num_layers is -1; it has to be from 1 to 256"),
        ({"num_hidden_layers": 10**9}, "num_layers is 1000000000"),
        ({"vocab_size": True}, "vocab_size as True"),
        ({"num_key_value_heads": 4}, "9 heads cannot be shared by 4 KV heads"),
        ({"head_dim": 7}, "head_dim is 7; rotary positions need an even one"),
        ({"rope_theta": "x"}, "rope_theta as 'x'"),
        ({"rope_theta": -1.0}, "have to be above 0"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "stretches the context by 'yarn'"),
        ({"rope_scaling": {"rope_type": "linear"}}, "numbers above 0 are needed"),
        ({"rope_scaling": [1]}, "rope_scaling"),
        ({"rope_theta": 10**400}, "rope_theta as 10000.* below 1e\\+30"),
        ({"rope_theta": float("inf")}, "rope_theta as inf; it has to be a number below"),
        ({"rms_norm_eps": 10**400}, "rms_norm_eps as 1000.* has to be a number below"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps as nan; it has to be a number below"),
        ({"rope_scaling": {"rope_type": ["x"]}}, r"stretches the context by \['x'\]"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 10**400}}, "numbers above 0 are needed, at most"),
        ({"rope_scaling": {**LLAMA3, "factor": float("inf")}}, "numbers above 0 are needed, at most"),
        ({"rope_theta": 1e-320, "rope_scaling": LLAMA3}, "numbers above 0 are needed, at most"),
        ({"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 10**400}}, "is no whole number from 1 to"),
        ({"rope_scaling": LLAMA3}, "is no whole number from 1 to"),
        ({"head_dim": 10**15, "rope_scaling": {"rope_type": "linear", "factor": 2}}, "head_dim is 1000000000000000"),
    ],
)
def test_a_config_that_cannot_be_run_is_refused_in_a_sentence(tmp_path, values, message) -> None:
    folder = write_folder(tmp_path / "model", CONFIG, TENSORS)
    _change(folder, **values)
    with pytest.raises(ModelError, match=message):
        folder_config(folder)


def test_a_json_file_beyond_any_reason_is_not_read(tmp_path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(MAX_JSON + 1)
    with pytest.raises(ModelError, match=f"has {MAX_JSON + 1} bytes; at most {MAX_JSON}"):
        folder_config(tmp_path)


def test_factors_of_llama_3_are_those_of_transformers() -> None:
    rope = {**LLAMA3, "rope_theta": 500_000.0, "original_max_position_embeddings": 8192}
    config = ReferenceConfig(
        hidden_size=2048, num_attention_heads=32, head_dim=64, max_position_embeddings=131072, rope_parameters=rope
    )
    expected, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    plain = 1.0 / 500_000.0 ** (torch.arange(0, 64, 2, dtype=torch.float32) / 64)
    factors = torch.tensor(rope_factors(rope, 64))
    assert torch.allclose(plain / factors, expected, rtol=1e-6)
    assert (factors[0], factors[-1]) == (1, 32)


def test_one_number_stretches_every_frequency_and_the_default_none() -> None:
    assert rope_factors({"rope_type": "linear", "factor": 2, "rope_theta": 1e4}, 8) == (2.0,) * 4
    assert rope_factors({"type": "default"}, 8) == rope_factors({}, 8) == ()
