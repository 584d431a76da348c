"""The decoder against transformers on the same random weights."""

import pytest
import torch

from engine.executor.llama import Llama
from engine.executor.weight_matrix import PackedMatrix, PlainMatrix, can_pack
from tests.engine.executor.tiny_checkpoint import DenseAttention, greedy, random_tensors, reference, tiny_config

PROMPT = [5, 200, 17, 17, 90, 3, 250]


def _logits(model: Llama, ids: list[int]) -> torch.Tensor:
    return model.forward(torch.tensor(ids), torch.arange(len(ids)), DenseAttention())


@torch.inference_mode()
def _reference_logits(model, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids])).logits[0]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kv_heads", [1, 3, 9])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    # transformers takes the norms of a float64 model in float32
    [(torch.float32, 1e-5), (torch.float64, 1e-6), (torch.bfloat16, 0.05)],
)
def test_logits_are_those_of_transformers(tied, kv_heads, dtype, tolerance) -> None:
    config = tiny_config(tied=tied, num_kv_heads=kv_heads)
    tensors = random_tensors(config)
    expected = _reference_logits(reference(config, tensors, dtype), PROMPT)
    logits = _logits(Llama(config, tensors, dtype), PROMPT)
    assert logits.dtype == dtype and logits.shape == (len(PROMPT), config.vocab_size)
    assert (logits - expected).abs().max() <= tolerance * expected.abs().max()


@pytest.mark.parametrize("seed", range(3))
def test_greedy_tokens_are_those_of_transformers(seed) -> None:
    config = tiny_config()
    tensors = random_tensors(config, seed)
    prompt = torch.tensor([PROMPT])
    expected = reference(config, tensors).generate(prompt, max_new_tokens=24, do_sample=False, pad_token_id=0)
    assert greedy(Llama(config, tensors), PROMPT, 24) == expected[0, len(PROMPT) :].tolist()


def test_stretched_positions_are_those_of_transformers() -> None:
    config = tiny_config(rope_factors=(4.0,) * 4)
    tensors = random_tensors(config)
    model = reference(config, tensors, rope_type="linear", factor=4.0)
    expected = _reference_logits(model, PROMPT)
    assert torch.allclose(_logits(Llama(config, tensors), PROMPT), expected, atol=1e-4)
    assert not torch.allclose(_logits(Llama(tiny_config(), tensors), PROMPT), expected, atol=1e-1)


def test_a_prompt_in_two_chunks_gives_the_logits_of_one() -> None:
    config = tiny_config()
    model = Llama(config, random_tensors(config), torch.float64)
    attend = DenseAttention()
    parts = [
        model.forward(torch.tensor(PROMPT[begin:end]), torch.arange(begin, end), attend)
        for begin, end in ((0, 3), (3, 7))
    ]
    assert torch.allclose(torch.cat(parts), _logits(model, PROMPT), atol=1e-12)


def test_rows_of_a_ragged_batch_do_not_mix() -> None:
    config = tiny_config()
    model = Llama(config, random_tensors(config), torch.float64)
    first, second = DenseAttention(), DenseAttention()

    def attend(layer, q, k, v):
        return torch.cat((first(layer, q[:3], k[:3], v[:3]), second(layer, q[3:], k[3:], v[3:])))

    ids, positions = torch.tensor(PROMPT), torch.tensor([0, 1, 2, 0, 1, 2, 3])
    together = model.forward(ids, positions, attend)
    alone = torch.cat((_logits(model, PROMPT[:3]), _logits(model, PROMPT[3:])))
    assert torch.allclose(together, alone, atol=1e-12)


@pytest.mark.parametrize("rows", [[], [6], [2, 6]])
def test_logits_come_for_the_rows_that_were_asked_for(rows) -> None:
    config = tiny_config()
    model = Llama(config, random_tensors(config))
    last = torch.tensor(rows, dtype=torch.int64)
    some = model.forward(torch.tensor(PROMPT), torch.arange(len(PROMPT)), DenseAttention(), last)
    assert some.shape == (len(rows), config.vocab_size)
    assert torch.allclose(some, _logits(model, PROMPT)[rows], atol=1e-5)


def test_positions_beyond_the_first_table_are_computed_when_they_come(monkeypatch) -> None:
    config = tiny_config()
    tensors = random_tensors(config)
    expected = _logits(Llama(config, tensors), PROMPT)
    monkeypatch.setattr("engine.executor.rotary.FIRST_SIZE", 2)
    model = Llama(config, tensors)
    assert len(model.rotary.cos) == 2
    assert torch.equal(_logits(model, PROMPT), expected)
    assert len(model.rotary.cos) == 12  # twice the furthest position


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("num_rows", [0, 1, 3, 40])
def test_a_packed_matrix_multiplies_like_its_rows(dtype, num_rows) -> None:
    if not can_pack(dtype, torch.device("cpu")):
        pytest.skip(f"oneDNN of this machine has no {dtype}")
    generator = torch.Generator().manual_seed(num_rows)
    weight = torch.randn(50, 24, generator=generator).to(dtype)
    rows = torch.randn(num_rows, 48, generator=generator).to(dtype)[:, :24]  # not contiguous
    packed, plain = PackedMatrix(weight)(rows), PlainMatrix(weight)(rows)
    tolerance = 0.1 if dtype == torch.bfloat16 else 1e-5
    assert packed.shape == (num_rows, 50)
    assert torch.allclose(packed, plain, rtol=tolerance / 10, atol=tolerance)
