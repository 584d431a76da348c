"""GGUF names, sizes and the order of the rows of q and k."""

import gguf
import numpy as np
import pytest
import torch

from engine.executor.gguf_file import GGUFFile
from engine.executor.gguf_llama import GGUFTensors, gguf_config, to_halves, to_neighbours
from engine.executor.model_error import ModelError
from tests.engine.executor.tiny_checkpoint import random_tensors, tiny_config, write_gguf

HALVES = ["a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2", "d0", "d1", "d2"]
NEIGHBOURS = ["a0", "b0", "a1", "b1", "a2", "b2", "c0", "d0", "c1", "d1", "c2", "d2"]
"""Two heads of six rows: pair i is (a_i, b_i) in the first and (c_i, d_i) in the second."""


def test_rows_of_q_go_from_neighbouring_pairs_to_halves() -> None:
    assert to_halves(np.array(NEIGHBOURS), num_heads=2).tolist() == HALVES


def test_rows_of_q_go_from_halves_to_neighbouring_pairs() -> None:
    assert to_neighbours(np.array(HALVES), num_heads=2).tolist() == NEIGHBOURS


def test_whole_rows_move() -> None:
    rows = np.arange(24).reshape(12, 2)
    assert to_neighbours(rows, num_heads=2)[:4].tolist() == [[0, 1], [6, 7], [2, 3], [8, 9]]
    assert np.array_equal(to_halves(to_neighbours(rows, 2), 2), rows)


@pytest.mark.parametrize("tied", [True, False])
def test_sizes_and_tensors_come_back_as_they_were_written(tmp_path, tied) -> None:
    config = tiny_config(tied=tied)
    tensors = random_tensors(config)
    file = GGUFFile(write_gguf(tmp_path / "tiny.gguf", config, tensors))
    read = gguf_config(file)
    assert read.rms_norm_eps == pytest.approx(config.rms_norm_eps)
    assert (read.tied, read.num_kv_heads, read.rope_theta, read.shapes()) == (tied, 3, 100_000.0, config.shapes())
    stored = GGUFTensors(file, read)
    assert set(stored) == set(tensors)
    assert all(torch.equal(stored[name], tensors[name]) for name in tensors)


def test_a_missing_tensor_is_named(tmp_path) -> None:
    config = tiny_config()
    tensors = random_tensors(config)
    del tensors["model.layers.1.mlp.up_proj.weight"]
    file = GGUFFile(write_gguf(tmp_path / "tiny.gguf", config, tensors))
    with pytest.raises(ModelError, match=r"lacks 1 of its tensors, model\.layers\.1\.mlp\.up_proj"):
        GGUFTensors(file, gguf_config(file))


def test_a_tensor_of_another_shape_is_named(tmp_path) -> None:
    config = tiny_config()
    tensors = {**random_tensors(config), "model.norm.weight": torch.ones(31)}
    file = GGUFFile(write_gguf(tmp_path / "tiny.gguf", config, tensors))
    with pytest.raises(ModelError, match=r"model\.norm\.weight has shape \[31\]; its sizes ask for \[72\]"):
        GGUFTensors(file, gguf_config(file))


def _file_with(tmp_path, **values) -> GGUFFile:
    file = GGUFFile(write_gguf(tmp_path / "tiny.gguf", tiny_config(), random_tensors(tiny_config())))
    file.metadata.update({key.replace("__", "."): value for key, value in values.items()})
    return file


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"general__architecture": "mamba"}, "'mamba' model"),
        ({"llama__expert_count": 8}, "mixture of experts"),
        ({"llama__block_count": 0}, "num_layers is 0; it has to be from 1 to 256"),
        ({"llama__block_count": "many"}, "block_count as 'many'"),
        ({"llama__attention__head_count_kv": 2}, "9 heads cannot be shared by 2 KV heads"),
        ({"llama__attention__head_count": 0}, "num_heads is 0"),
        ({"llama__rope__dimension_count": 4}, "only a part of each head"),
        ({"llama__rope__scaling__type": "yarn"}, "'yarn'"),
        ({"llama__attention__layer_norm_rms_epsilon": float("nan")}, "have to be above 0"),
    ],
)
def test_a_model_that_cannot_be_run_is_refused_in_a_sentence(tmp_path, values, message) -> None:
    with pytest.raises(ModelError, match=message):
        gguf_config(_file_with(tmp_path, **values))


def test_linear_stretching_divides_every_frequency(tmp_path) -> None:
    values = {"llama__rope__scaling__type": "linear", "llama__rope__scaling__factor": 4.0}
    assert gguf_config(_file_with(tmp_path, **values)).rope_factors == (4.0, 4.0, 4.0, 4.0)


def test_factors_of_llama_3_come_from_their_tensor(tmp_path) -> None:
    path = tmp_path / "tiny.gguf"
    config = tiny_config()
    writer_tensors = random_tensors(config)
    original = gguf.GGUFWriter.write_header_to_file

    def with_factors(writer, *args, **kwargs):
        writer.add_tensor("rope_freqs.weight", np.array([1, 1, 2, 8], np.float32))
        original(writer, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf.GGUFWriter, "write_header_to_file", with_factors)
        file = GGUFFile(write_gguf(path, config, writer_tensors))
    assert gguf_config(file).rope_factors == (1.0, 1.0, 2.0, 8.0)
    assert set(GGUFTensors(file, gguf_config(file))) == set(writer_tensors)
