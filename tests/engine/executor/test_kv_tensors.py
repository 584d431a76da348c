"""The memory behind the block ids."""

import pytest

torch = pytest.importorskip("torch", reason="the live engine needs torch")

from engine.executor import kv_tensors
from engine.executor.kv_tensors import KVTensors
from engine.settings import Settings, SettingsError
from tests.engine.executor.tiny_llama import TinyShape


def tensors(**settings) -> KVTensors:
    return KVTensors(TinyShape(), Settings(block_size=4, **settings), torch.float32, "cpu")


def test_each_layer_has_keys_and_values_of_all_blocks():
    kv = tensors(num_blocks=10)
    assert [tuple(layer.shape) for layer in kv.layers] == [(2, 10, 4, 2, 8)] * 2
    # 2 layers x 2 x 4 tokens x 2 heads x 8 numbers x 4 bytes = 1024 bytes a block
    assert kv.num_bytes == 10 * 1024


def test_with_a_null_block_ids_begin_at_1_and_the_last_one_has_a_row():
    assert tensors(num_blocks=10, null_block=True).layers[0].shape[1] == 11


def test_copies_are_made_one_after_the_other_in_all_layers():
    kv = tensors(num_blocks=10)
    for layer in kv.layers:
        layer[:, 3] = 1
        layer[:, 5] = 2
    kv.copy([(3, 7), (5, 3), (7, 9)])
    for layer in kv.layers:
        assert [float(layer[1, block].mean()) for block in (3, 5, 7, 9)] == [2, 2, 1, 1]


def test_host_blocks_come_after_those_of_the_device_and_bring_content_back():
    kv = tensors(num_blocks=10, num_host_blocks=4)
    kv.layers[1][:, 3] = 1
    kv.copy([(3, 12), (4, 3), (12, 6)])
    assert [float(kv.layers[1][0, block].mean()) for block in (3, 6)] == [0, 1]
    assert kv.num_bytes == 14 * 1024


def test_more_than_there_is_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(kv_tensors, "free_memory", lambda: 500_000_000)
    with pytest.raises(SettingsError) as error:
        tensors(num_blocks=1_000_000)
    assert str(error.value) == (
        "1000000 KV blocks of 4 tokens need 1.0 GB of memory and 0.5 GB are free; set a smaller num_blocks."
    )


def test_where_nobody_knows_what_is_free_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(kv_tensors, "free_memory", lambda: None)
    assert tensors(num_blocks=10).num_bytes == 10_240


def test_a_pool_without_a_size_is_refused():
    with pytest.raises(SettingsError, match="set num_blocks"):
        tensors()


def test_memory_without_blocks_is_refused():
    with pytest.raises(SettingsError, match="kv_manager 'oracle' has no blocks; choose 'paged' or 'radix'"):
        tensors(kv_manager="oracle", num_blocks=10)
