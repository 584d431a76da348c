"""The worked numbers of the lecture texts, and what a step costs in general."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.executor.cost_model import HARDWARE, MODELS, CostModel, attention_pairs, kv_capacity_tokens
from engine.settings import Settings, SettingsError

opt_13b = CostModel.of(Settings())
counts = st.integers(0, 10**6)


@pytest.mark.parametrize(
    ("name", "kv_bytes"),
    [
        ("OPT-13B", 2 * 40 * 5_120 * 2),
        ("GPT-3-175B", 2 * 96 * 12_288 * 2),
        ("LLaMA-2-7B", 2 * 32 * 4_096 * 2),
        ("LLaMA-2-70B", 2 * 80 * 1_024 * 2),
        ("Llama-3-8B", 128 * 1_024),
        ("SmolLM2-135M", 2 * 30 * 192 * 2),
    ],
)
def test_the_kv_of_a_token_is_two_vectors_of_two_byte_values_per_layer(name, kv_bytes):
    assert MODELS[name].kv_bytes_per_token == kv_bytes


def test_grouped_query_attention_makes_the_kv_of_llama_2_70b_eight_times_smaller():
    shape = MODELS["LLaMA-2-70B"]
    assert 2 * shape.num_layers * shape.hidden_size * 2 == 8 * shape.kv_bytes_per_token


def test_names_are_those_of_the_dictionaries():
    assert all(card.name == name for name, card in HARDWARE.items())
    assert all(shape.name == name for name, shape in MODELS.items())


def test_a_single_decode_with_little_context_takes_18_2_ms():
    assert round(1e3 * opt_13b.step_time(1, 1, 1), 1) == 18.2


def test_a_decode_step_reads_the_weights_once_and_the_kv_of_every_sequence():
    sixteen = opt_13b.step_time(16, 16 * 512, 16 * 512)
    assert sixteen == pytest.approx((26e9 + 16 * 512 * 819_200) / 1.555e12 + 1.5e-3)
    assert round(1e3 * sixteen, 2) == 22.54


def test_a_prefill_of_512_tokens_is_bound_by_compute_and_counts_causal_attention():
    assert attention_pairs(0, 512) == 131_328
    assert round(1e3 * opt_13b.step_time(512, 512, attention_pairs(0, 512)), 2) == 73.19


def test_a_chunk_attends_to_the_chunks_before_it():
    assert attention_pairs(start=4, num_tokens=3) == 5 + 6 + 7
    assert attention_pairs(0, 10) == attention_pairs(0, 6) + attention_pairs(6, 4)


def test_ten_cards_divide_weights_kv_and_computation():
    one = CostModel.of(Settings(model="GPT-3-175B"))
    ten = CostModel.of(Settings(model="GPT-3-175B", num_devices=10))
    for work in ((1, 100, 100), (4_096, 4_096, attention_pairs(0, 4_096))):
        assert ten.step_time(*work) - 1.5e-3 == pytest.approx((one.step_time(*work) - 1.5e-3) / 10)
    assert round(1e3 * ten.step_time(1, 0, 0), 1) == 24.0


def test_the_ridge_point_of_the_a100_is_about_120():
    assert HARDWARE["A100-40GB"].ridge_point == pytest.approx(120.4, abs=0.05)


def test_a_fixed_step_time_replaces_the_roofline():
    assert CostModel.of(Settings(step_time=1.0)).step_time(5_000, 10**6, 10**9) == 1.0


@given(counts, counts, counts, counts)
def test_more_work_never_takes_less_time(tokens, kv_read, pairs, more):
    time = opt_13b.step_time(tokens, kv_read, pairs)
    assert time >= 18.2e-3
    assert opt_13b.step_time(tokens + more, kv_read, pairs) >= time
    assert opt_13b.step_time(tokens, kv_read + more, pairs) >= time
    assert opt_13b.step_time(tokens, kv_read, pairs + more) >= time


def test_12207_tokens_fit_beside_opt_13b():
    assert kv_capacity_tokens("A100-40GB", "OPT-13B") == 12_207


def test_a_larger_workspace_leaves_fewer_tokens():
    assert kv_capacity_tokens("A100-40GB", "OPT-13B", workspace=0.25) == 4_882  # (30 - 26) GB / 819,200 B


def test_gpt_3_needs_ten_cards_of_40_gb():
    with pytest.raises(SettingsError, match=r"GPT-3-175B needs 350 GB .* 9 x A100-40GB leave 324 GB .*num_devices"):
        kv_capacity_tokens("A100-40GB", "GPT-3-175B", num_devices=9)
    assert kv_capacity_tokens("A100-40GB", "GPT-3-175B", num_devices=10) == int(10e9 // 4_718_592)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (Settings(hardware="B9"), "hardware is 'B9'; choose one of A100-40GB, H100-80GB."),
        (Settings(model="GPT-9"), "model is 'GPT-9'; choose one of OPT-13B, .*SmolLM2-135M."),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(settings, sentence):
    with pytest.raises(SettingsError, match=sentence):
        CostModel.of(settings)
