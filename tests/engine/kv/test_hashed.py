"""The prefix cache by hand: what is hit, what a hit takes from the free list, what is evicted first, what is never mixed up."""

import pytest

from engine.kv.hashed import HashedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings, SettingsError
from tests.engine.kv.caches import A, cache_of, run, sequence


@pytest.mark.parametrize(("prompt_len", "hit"), [(16, 12), (15, 12), (13, 12), (12, 8), (5, 4), (4, 0), (1, 0)])
def test_a_repeated_prompt_leaves_at_least_one_token_to_compute(prompt_len: int, hit: int) -> None:
    kv = cache_of()
    run(kv, sequence(A))
    assert kv.match(sequence(A[:prompt_len], 1)) == hit


def test_the_probe_of_a_prompt_may_find_all_of_it() -> None:
    kv = cache_of()
    run(kv, sequence(A))
    assert kv.longest_known(Prompt.of_ids(A)) == 16
    assert kv.longest_known(Prompt.of_ids(A[:7])) == 4


def test_a_complete_hit_computes_its_last_block_anew_beside_the_known_one() -> None:
    kv = cache_of(on_duplicate="keep_first")
    first, second = sequence(A), sequence(A, 1)
    run(kv, first)
    run(kv, second)
    assert first.block_table == [0, 1, 2, 3]
    assert second.block_table == [0, 1, 2, 4]
    assert kv.pool.used == {0: 2, 1: 2, 2: 2, 3: 1, 4: 1}


def test_a_cached_block_is_free_and_known_at_the_same_time() -> None:
    kv = cache_of()
    seq = sequence(A[:8])
    run(kv, seq)
    assert kv.free(seq) == 2
    assert kv.num_free == 8
    assert kv.pool.free_list.cached() == [1, 0]
    assert kv.match(sequence(A[:9], 1)) == 8


@pytest.mark.parametrize(
    ("free_list", "ids"),
    [
        ("uncached_first", [3, 4, 5, 6, 7, 8, 2, 1]),
        ("all_at_tail", [4, 5, 6, 7, 8, 3, 2, 1]),
        ("fifo", [4, 5, 6, 7, 8, 3, 2, 1]),
    ],
)
def test_what_is_given_back_waits_where_the_free_list_says(free_list: str, ids: list[int]) -> None:
    kv = cache_of(null_block=True, free_list=free_list)
    seq = sequence(A[:6])
    run(kv, seq, 3)
    assert seq.block_table == [1, 2, 3]
    kv.free(seq)
    assert kv.pool.free_list.ids() == ids


def test_with_fifo_a_returned_block_without_content_still_goes_before_the_cached_ones() -> None:
    kv = cache_of(3, free_list="fifo")
    for index, prompt in enumerate((A[:4], (1, 2))):
        seq = sequence(prompt, index)
        run(kv, seq)
        kv.free(seq)
    assert kv.pool.free_list.ids() == [2, 1, 0]


def test_the_end_of_a_sequence_is_evicted_before_its_beginning() -> None:
    kv = cache_of(3)
    seq = sequence(A[:12])
    run(kv, seq)
    kv.free(seq)
    run(kv, sequence((1, 2, 3), 1))
    assert kv.match(sequence(A[:13], 2)) == 8
    assert [prefix.tokens for prefix in kv.evict(1)] == [A[4:8]]
    assert kv.match(sequence(A[:13], 2)) == 4


def test_a_hit_counts_as_use_so_the_other_one_is_evicted() -> None:
    kv = cache_of(4)
    for index, prompt in enumerate((A[:4], A[8:12])):
        seq = sequence(prompt, index)
        run(kv, seq)
        kv.free(seq)
    again = sequence(A[:5], 2)
    assert run(kv, again) == 4
    kv.free(again)
    assert [prefix.tokens for prefix in kv.evict(1)] == [A[8:12]]


def test_hits_that_are_free_need_a_free_block_each() -> None:
    """Free 5, of which 2 are hits: 4 new blocks beside them do not fit, 3 do."""
    kv = cache_of(5)
    seq = sequence(A[:8])
    run(kv, seq)
    kv.free(seq)
    large, small = sequence((*A[:8], *range(16)), 1), sequence((*A[:8], *range(12)), 2)
    before = kv.pool.free_list.ids(), dict(kv.pool.used)
    need = kv.fits(large, 16)
    assert need is not None
    assert (need.needed, need.available) == (6, 5)
    assert kv.allocate(large, 16) is None
    assert (kv.pool.free_list.ids(), dict(kv.pool.used), large.block_table) == (*before, [])
    assert kv.fits(small, 12) is None
    assert run(kv, small) == 8


def test_a_hit_that_is_in_use_needs_no_free_block() -> None:
    kv = cache_of(3)
    run(kv, sequence(A[:8]))
    assert run(kv, sequence(A[:9], 1)) == 8
    assert kv.num_free == 0


def test_the_same_step_hits_what_is_registered_when_scheduled_and_not_what_is_registered_when_over() -> None:
    for register_at, hit in (("schedule", 4), ("update", 0)):
        kv = cache_of(register_at=register_at)
        first = sequence(A[:8])
        kv.allocate(first, 8)
        assert kv.match(sequence(A[:8], 1)) == hit


def equal_blocks(on_duplicate: str) -> tuple[HashedKV, Sequence, Sequence]:
    """Two prompts of a block, computed side by side."""
    kv = cache_of(4, on_duplicate=on_duplicate)
    first, second = sequence(A[:4]), sequence(A[:4], 1)
    run(kv, first)
    run(kv, second)
    return kv, first, second


@pytest.mark.parametrize(
    ("on_duplicate", "found", "num_known"), [("one", 0, 1), ("keep_first", 0, 2), ("last_writer", 1, 2)]
)
def test_of_equal_blocks_one_is_found(on_duplicate: str, found: int, num_known: int) -> None:
    kv, _, _ = equal_blocks(on_duplicate)
    third = sequence(A[:5], 2)
    run(kv, third)
    assert third.block_table[0] == found
    assert len(kv.known.held) == num_known


def test_the_older_copy_is_found_again_only_where_all_are_kept() -> None:
    """The block that is found loses its content; is the other one found now?"""
    for on_duplicate, hit in (("one", 0), ("keep_first", 4), ("last_writer", 0)):
        kv, first, second = equal_blocks(on_duplicate)
        found = second if on_duplicate == "last_writer" else first
        kv.free(found)
        assert len(kv.evict(1)) == 1
        assert kv.match(sequence(A[:5], 2)) == hit


def test_a_block_without_its_beginning_is_not_hit_and_with_it_again_is() -> None:
    kv = cache_of()
    seq = sequence(A[:12])
    run(kv, seq)
    kv.free(seq)
    kv.known.forget([0])
    assert kv.match(sequence(A[:13], 1)) == 0
    run(kv, sequence(A[:4], 2))
    assert kv.match(sequence(A[:13], 3)) == 12


def test_a_block_is_known_when_its_last_slot_is_written_and_not_before() -> None:
    kv = cache_of()
    seq = sequence(A[:6], script=(A[6:],))
    run(kv, seq, 1)
    assert kv.longest_known(Prompt.of_ids(A)) == 4
    seq.sample_one()
    kv.allocate(seq, 1)
    assert kv.longest_known(Prompt.of_ids(A)) == 8


@pytest.mark.parametrize(("keep_unwritten", "hit"), [(False, 4), (True, 8)])
def test_blocks_of_a_step_that_does_not_come_are_forgotten_unless_asked_for(keep_unwritten: bool, hit: int) -> None:
    kv = cache_of(keep_unwritten=keep_unwritten)
    seq = sequence(A[:9])
    kv.allocate(seq, 4)
    seq.advance(4)
    kv.allocate(seq, 4)
    kv.free(seq)
    assert kv.match(sequence(A[:9], 1)) == hit


def test_a_preempted_sequence_finds_its_own_blocks_when_it_resumes() -> None:
    kv = cache_of()
    seq = sequence(A[:8], script=(A[8:],))
    run(kv, seq, 5)
    kv.free(seq)
    seq.reset()
    assert seq.num_tokens == 13
    assert run(kv, seq) == 12
    assert seq.num_cached_tokens == 12


def test_reset_forgets_everything_but_not_while_a_block_is_in_use() -> None:
    kv = cache_of(null_block=True)
    seq = sequence(A)
    run(kv, seq)
    assert not kv.reset()
    kv.free(seq)
    ids = kv.pool.free_list.ids()
    assert kv.reset()
    assert kv.pool.free_list.ids() == ids
    assert kv.match(sequence(A, 1)) == 0
    assert kv.known.num_prefixes == 0


def test_nothing_is_remembered_of_prompts_that_were_evicted() -> None:
    kv = cache_of(4)
    for index in range(50):
        seq = sequence(tuple(range(index * 20, index * 20 + 16)), index)
        run(kv, seq)
        kv.free(seq)
    assert kv.known.num_prefixes == len(kv.known.held) == 4


def test_samples_of_a_prompt_share_it_and_each_has_its_own_answer() -> None:
    kv = cache_of(16)
    request = Request("a", 0.0, Prompt.of_ids(A[:6]), SamplingParams(2, 20))
    group = SequenceGroup(request, 0, 0, 20, Ticks())
    lead, other = group.sequences
    run(kv, lead)
    kv.fork(lead, other)
    for seq in group.sequences:
        for _ in range(3):
            seq.sample_one()
            kv.allocate(seq, 1)
            seq.advance(1)
    assert lead.block_table[0] == other.block_table[0]
    assert lead.block_table[1] != other.block_table[1]
    assert len(kv.known.held) == 3
    kv.check(group.sequences)


def test_prefix_caching_is_refused_where_there_are_no_blocks() -> None:
    with pytest.raises(SettingsError, match="kv_manager 'oracle' has no blocks that could be known again"):
        Settings(kv_manager="oracle", prefix_caching=True)
