"""Paged attention on the CPU: slots, groups of like length, and the same sums as without blocks."""

import pytest

torch = pytest.importorskip("torch", reason="the live engine needs torch")

from engine.executor import attention_torch
from engine.executor.attention import AttentionPlan
from engine.executor.attention_torch import TorchAttention, groups_of_like_length
from engine.executor.kv_tensors import KVTensors
from engine.settings import Settings
from tests.engine.executor.tiny_llama import TinyShape, dense_attention

SHAPE = TinyShape()


def decodes(*lengths: int, block_size: int = 16) -> AttentionPlan:
    return AttentionPlan.of([(n - 1, 1, list(range(-(-n // block_size)))) for n in lengths], block_size)


def test_a_token_finds_its_slot_through_the_block_table():
    plan = AttentionPlan.of([(8, 2, [7, 2, 5]), (0, 3, [3])], 4)
    assert plan.slot_mapping.tolist() == [20, 21, 12, 13, 14]
    assert plan.positions.tolist() == [8, 9, 0, 1, 2]
    assert (plan.query_start, plan.lengths) == ([0, 2, 5], [10, 3])


def test_blocks_behind_the_context_are_not_read():
    assert AttentionPlan.of([(3, 1, [7, 2, 5])], 4).block_tables == [[7]]


def test_a_row_without_blocks_for_its_tokens_is_refused():
    with pytest.raises(ValueError, match=r"a row of 9 tokens has 2 blocks of 4"):
        AttentionPlan.of([(8, 1, [7, 2])], 4)


def test_neighbours_of_like_length_are_read_together():
    assert groups_of_like_length(decodes(64, 60, 50), 256, 10_000) == [range(3)]


def test_a_short_sequence_is_not_padded_to_a_long_one():
    # 1008 slots, 16, 16: the first alone, as the second would be padded by 992
    assert groups_of_like_length(decodes(1000, 16, 9), 256, 10_000) == [range(1), range(1, 3)]


def test_padding_adds_up_over_a_group():
    # 160, 48, 32: padding 112, then 112 + 128
    assert groups_of_like_length(decodes(160, 48, 32), 240, 10_000) == [range(3)]
    assert groups_of_like_length(decodes(160, 48, 32), 239, 10_000) == [range(2), range(2, 3)]


def test_a_group_of_several_rows_gathers_no_more_than_the_cache_holds():
    assert groups_of_like_length(decodes(64, 64, 64), 256, 128) == [range(2), range(2, 3)]
    assert groups_of_like_length(decodes(640), 256, 128) == [range(1)]


def test_a_prompt_between_decodes_parts_them():
    plan = AttentionPlan.of([(9, 1, [0]), (0, 5, [1]), (9, 1, [2])], 16)
    assert groups_of_like_length(plan, 256, 10_000) == [range(1), range(2, 3)]


@pytest.mark.parametrize("block_size", [1, 4, 16, 64])
@pytest.mark.parametrize("parts", [(45,), (44, 1), (1, 44), (16, 16, 13), (20, 7, 18)])
def test_45_tokens_in_scattered_blocks_computed_in_parts_equal_dense_attention(parts, block_size):
    check_parts(parts, block_size)


def check_parts(parts: tuple[int, ...], block_size: int) -> None:
    """Attention over 45 tokens that come in so many steps, against the formula."""
    generator = torch.Generator().manual_seed(5)
    num_blocks = -(-45 // block_size)
    table = torch.randperm(2 * num_blocks, generator=generator)[:num_blocks].tolist()
    kv = KVTensors(SHAPE, Settings(num_blocks=2 * num_blocks, block_size=block_size), torch.float64, "cpu")
    q = torch.randn(45, SHAPE.num_heads, SHAPE.head_dim, generator=generator, dtype=torch.float64)
    k, v = torch.randn(2, 45, SHAPE.num_kv_heads, SHAPE.head_dim, generator=generator, dtype=torch.float64)
    outputs, start = [], 0
    for num_tokens in parts:
        plan = AttentionPlan.of([(start, num_tokens, table)], block_size)
        here = slice(start, start + num_tokens)
        outputs.append(TorchAttention(kv, plan)(1, q[here], k[here], v[here]))
        start += num_tokens
    assert (torch.cat(outputs) - dense_attention(0, q, k, v)).abs().max() < 2e-15


@pytest.mark.parametrize("parts", [(1, 44), (16, 20, 9), (5, 40)])
def test_a_chunk_is_answered_in_parts_that_bound_its_mask(parts, monkeypatch):
    monkeypatch.setattr(attention_torch, "MAX_QUERIES", 8)
    check_parts(parts, 4)


def test_200_random_cases_of_45_tokens_in_three_blocks_stay_within_1e_15():
    generator = torch.Generator().manual_seed(0)
    shape = TinyShape(num_layers=1, num_heads=1, num_kv_heads=1, head_dim=64)
    kv = KVTensors(shape, Settings(num_blocks=8, block_size=16), torch.float64, "cpu")
    worst = 0.0
    for _ in range(200):
        table = torch.randperm(8, generator=generator)[:3].tolist()
        k, v = torch.randn(2, 45, 1, 64, generator=generator, dtype=torch.float64)
        q = torch.randn(1, 1, 64, generator=generator, dtype=torch.float64)
        TorchAttention(kv, AttentionPlan.of([(0, 44, table)], 16))(0, k[:44], k[:44], v[:44])
        paged = TorchAttention(kv, AttentionPlan.of([(44, 1, table)], 16))(0, q, k[44:], v[44:])
        contiguous = dense_attention(0, torch.cat((k[:44], q)), k, v)[-1]
        worst = max(worst, float((paged[0] - contiguous).abs().max()))
    assert worst < 1e-15


def test_rows_do_not_see_each_other():
    generator = torch.Generator().manual_seed(1)
    rows = [(40, 1, [0, 3, 8]), (17, 1, [1, 6]), (0, 20, [2, 4]), (16, 9, [5, 7])]
    kv = KVTensors(SHAPE, Settings(num_blocks=9, block_size=16), torch.float64, "cpu")
    kv.layers[0].copy_(torch.randn(kv.layers[0].shape, generator=generator, dtype=torch.float64))
    before = kv.layers[0].clone()
    plan = AttentionPlan.of(rows, 16)
    q = torch.randn(31, SHAPE.num_heads, SHAPE.head_dim, generator=generator, dtype=torch.float64)
    k, v = torch.randn(2, 31, SHAPE.num_kv_heads, SHAPE.head_dim, generator=generator, dtype=torch.float64)
    together = TorchAttention(kv, plan)(0, q, k, v)
    for row, first, end in zip(rows, plan.query_start, plan.query_start[1:], strict=False):
        kv.layers[0].copy_(before)
        alone = TorchAttention(kv, AttentionPlan.of([row], 16))(0, q[first:end], k[first:end], v[first:end])
        assert (alone - together[first:end]).abs().max() < 2e-15
