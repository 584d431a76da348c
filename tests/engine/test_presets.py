"""Presets are data: every one can be used, says what it covers, and keeps the contract of managers and runs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kv.eviction import policy_of
from engine.kv.radix_tree import RadixTree
from engine.loop import Engine
from engine.presets import PRESETS, Preset, settings_of, with_preset
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.scheduler.order import QueueOrder
from engine.settings import Settings, SettingsError
from engine.workload import ListWorkload
from tests.engine.test_contracts import SHAPES, STEPS, Memory

EVERY_PRESET = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())
WITH_A_TREE = [preset for preset in PRESETS.values() if preset.tree]


@EVERY_PRESET
def test_a_preset_names_its_settings_and_describes_itself_in_one_paragraph(preset: Preset):
    chosen = settings_of(preset.name, num_blocks=64)
    assert {name: getattr(chosen, name) for name in preset.settings} == preset.settings
    assert preset.covers and set(preset.covers) <= {"manager", "queue", "step"}
    assert preset.version and "\n" not in preset.description
    assert "Not covered" in preset.description or "Everything else" in preset.description
    assert PRESETS[preset.name] is preset


@EVERY_PRESET
def test_a_preset_leaves_the_size_of_the_pool_to_its_user(preset: Preset):
    sizes = {"num_blocks", "kv_capacity_tokens", "num_host_blocks", "max_model_len", "hardware", "model", "seed"}
    assert not sizes & preset.settings.keys()


@pytest.mark.parametrize("preset", WITH_A_TREE, ids=[preset.name for preset in WITH_A_TREE])
def test_the_tree_of_a_preset_can_be_grown(preset: Preset):
    tree = RadixTree(preset.tree["page_size"], policy_of(preset.tree["evict"]), preset.tree["split_age"])
    tree.insert([1, 2, 3])
    assert tree.match_prefix([1, 2, 9]).num_tokens == 2
    tree.check()


def test_the_queue_of_sglang_falls_back_beyond_128_requests():
    order = QueueOrder("longest_prefix_first", **PRESETS["sglang"].queue)
    assert [order.active(num_waiting) for num_waiting in (128, 129)] == ["longest_prefix_first", "fcfs"]


def test_the_managers_of_vllm_v0_differ_in_two_settings():
    first, second = PRESETS["vllm-v0-v1"].settings, PRESETS["vllm-v0-v2"].settings
    assert {name for name in first if first[name] != second[name]} == {"free_list", "swap_sharing"}
    assert first.keys() == second.keys()


def test_the_older_vllm_v1_differs_in_its_free_list_only():
    now, before = PRESETS["vllm-v1"].settings, PRESETS["vllm-v1-before-0.23"].settings
    assert {name for name in now if now[name] != before[name]} == {"free_list"}


def test_a_preset_comes_first_and_named_settings_override_it():
    chosen = Settings.of(with_preset({"watermark": 0.5, "preset": "vllm-v0-v1", "num_blocks": "8"}))
    assert (chosen.free_list, chosen.watermark, chosen.num_blocks) == ("stack", 0.5, 8)
    assert settings_of("vllm-v0-v2", num_blocks=8).watermark == 0.01


def test_without_a_preset_the_values_stay_as_they_are():
    values = {"num_blocks": 8}
    assert with_preset(values) == values


@pytest.mark.parametrize("name", ["orca", "", None, 3, ["vllm-v1"], "x" * 100_000])
def test_an_unknown_preset_is_refused_with_the_known_names(name: object):
    with pytest.raises(SettingsError, match=r"^there is no preset .{1,60}; known are vllm-v1, .*, mini-sglang\.$"):
        with_preset({"preset": name})


@EVERY_PRESET
@given(shapes=SHAPES, steps=STEPS)
@settings(deadline=None, max_examples=40)
def test_with_every_preset_a_refused_operation_changes_nothing_and_no_block_is_lost(
    preset: Preset, shapes: list[tuple[int, int, int]], steps: list[tuple[int, int, int]]
):
    num_host_blocks = 0 if preset.settings.get("kv_manager") == "radix" else 6
    own = {"num_blocks": 12, "num_host_blocks": num_host_blocks, "max_model_len": 24, "block_size": 4}
    memory = Memory(settings_of(preset.name, **own), shapes)
    for verb, target, amount in steps:
        before = memory.state()
        if not memory.operate(verb, target, amount):
            assert memory.state() == before
        memory.kv.check(memory.sequences)
        assert memory.kv.num_free + memory.kv.num_used == memory.total
    for seq in memory.sequences:
        memory.kv.free(seq)
    assert memory.kv.num_free == memory.total


ARRIVALS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 12), st.integers(1, 8), st.integers(0, 2)), min_size=1, max_size=8
)


@EVERY_PRESET
@given(arrivals=ARRIVALS)
@settings(deadline=None, max_examples=25)
def test_with_every_preset_a_run_ends_and_returns_all_memory(preset: Preset, arrivals: list[tuple[int, int, int, int]]):
    """Prompts of two contents and one of its own, on twelve blocks of 4; each request fits alone."""
    own = {"num_blocks": 12, "block_size": 4, "max_model_len": 40, "max_num_batched_tokens": 24}
    requests = [
        Request(f"r{i}", float(arrival), Prompt.of_length(prompt_len, content or 10 + i), SamplingParams(1, output))
        for i, (arrival, prompt_len, output, content) in enumerate(arrivals)
    ]
    engine = Engine(settings_of(preset.name, step_time=1.0, max_steps=2_000, **own))
    engine.run(ListWorkload(requests))
    engine.check()
    assert all(group.status is SequenceStatus.FINISHED for group in engine.groups)
    assert engine.kv.num_used == 0
