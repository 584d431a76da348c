"""What a request met in the hash-block cache: by hand, and against the cache itself at every admission of random runs."""

from random import Random

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.doctor import diagnose
from engine.trace.hash_cache import STATES, met_blocks
from engine.workload import ListWorkload
from tests.engine.trace.plain_doctor import examined, random_requests, random_settings

UNIT = Settings(block_size=4, num_blocks=16, step_time=1.0, prefix_caching=True)
A = tuple(range(100, 116))


def _met(trace, request, number=0):
    return met_blocks(trace, diagnose(trace)[request][number])


def test_two_blocks_are_found_and_the_third_was_never_known() -> None:
    prompts = (A[:12], (*A[:8], 1, 2, 3, 4, 5))
    requests = [Request(f"r{i}", 5.0 * i, Prompt.of_ids(ids), SamplingParams(1, 1)) for i, ids in enumerate(prompts)]
    met = _met(simulate(UNIT, ListWorkload(requests)), 1)
    assert [(each.index, each.prefix, each.block, each.state, each.is_found) for each in met] == [
        (0, 0, 0, "cached", True),
        (1, 1, 1, "cached", True),
        (2, -1, -1, "never", False),
    ]
    assert met[2].tokens == (1, 2, 3, 4)


def test_a_block_that_somebody_reads_counts_its_readers() -> None:
    requests = [Request(f"r{i}", float(i), Prompt.of_ids(A[:9]), SamplingParams(1, 20)) for i in range(3)]
    assert [each.readers for each in _met(simulate(UNIT, ListWorkload(requests)), 2)] == [2, 2]


def test_at_every_admission_it_knows_the_blocks_that_the_cache_knows() -> None:
    states = set()
    for seed in range(150):
        rng = Random(seed)
        settings = random_settings(rng, "hashed")
        trace, plain = examined(settings, random_requests(rng))
        for (request, number), blocks in plain.blocks.items():
            met = _met(trace, request, number)
            assert [each.block for each in met] == blocks, f"seed {seed}"
            assert sum(each.is_found for each in met) * settings.block_size == plain.findings[request, number].hit
            states |= {each.state for each in met}
    assert states == set(STATES)


def test_a_run_without_hashed_blocks_has_nothing_to_show() -> None:
    requests = [Request("a", 0.0, Prompt.of_ids(A), SamplingParams(1, 1))]
    for settings in (UNIT.with_(prefix_caching=False), UNIT.with_(prefix_caching=False, kv_manager="radix")):
        assert _met(simulate(settings, ListWorkload(requests)), 0) == []
