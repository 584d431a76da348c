"""Block tables, sharing and copy-on-write with numbers that one can check by hand."""

import pytest

from engine.kv.manager import KVError, Need
from engine.kv.paged import PagedKV, last_block_fill, num_blocks_for, num_new_blocks
from engine.settings import Settings
from tests.engine.kv.sequences import group_of, store


def paged(num_blocks: int = 8, block_size: int = 4, **more) -> PagedKV:
    return PagedKV(Settings.of({"num_blocks": num_blocks, "block_size": block_size, **more}))


def test_a_block_is_taken_when_its_first_token_is_stored():
    kv, seq = paged(), group_of(6).lead
    assert store(kv, seq, 6).new_blocks == [0, 1]
    assert kv.room(seq) == 2
    assert not store(kv, seq, 2).new_blocks
    assert store(kv, seq, 1).new_blocks == [2]


def test_the_last_block_of_a_whole_number_of_blocks_is_full():
    assert [last_block_fill(n, 4) for n in (0, 1, 3, 4, 5, 8)] == [0, 1, 3, 4, 1, 4]
    assert [num_blocks_for(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert num_new_blocks(13, 19, 8) == 2


def test_a_refused_allocation_changes_nothing():
    kv, a, b = paged(num_blocks=3), group_of(8).lead, group_of(8, index=1).lead
    store(kv, a, 8)
    assert kv.fits(b, 8) == Need(2, 1, "blocks")
    assert kv.allocate(b, 8) is None
    assert b.block_table == []
    assert kv.num_free == 1
    kv.check([a, b])


def test_exercise_5_four_samples_take_22_blocks_and_three_copies():
    kv, group = paged(num_blocks=64, block_size=16), group_of(100, max_tokens=51, n=4)
    lead, *children = group.sequences
    store(kv, lead, 100)
    for child in children:
        kv.fork(lead, child)
    copies = []
    for _ in range(50):
        for seq in group.sequences:
            copies += store(kv, seq, 1).copies
    assert kv.num_used == 22
    assert [source for source, _ in copies] == [6, 6, 6]
    assert children[-1].block_table[6] == 6
    kv.check(group.sequences)


def test_a_full_block_is_shared_and_never_copied():
    kv, group = paged(num_blocks=10), group_of(8, n=2)
    lead, child = group.sequences
    store(kv, lead, 8)
    kv.fork(lead, child)
    assert not store(kv, lead, 1).copies
    assert not store(kv, child, 1).copies
    assert lead.block_table == [0, 1, 2]
    assert child.block_table == [0, 1, 3]


def test_a_sharer_has_no_room_before_it_asks_and_the_last_writes_in_place():
    kv, group = paged(), group_of(6, n=2)
    lead, child = group.sequences
    store(kv, lead, 6)
    kv.fork(lead, child)
    assert kv.room(lead) == kv.room(child) == 0
    assert store(kv, lead, 1).copies == [(1, 2)]
    assert kv.room(child) == 2
    assert not store(kv, child, 1).copies


def test_a_block_allocated_ahead_belongs_to_the_parent_alone():
    kv, group = paged(), group_of(4, n=2)
    lead, child = group.sequences
    kv.allocate(lead, 4, lookahead=1)
    lead.advance(4)
    kv.fork(lead, child)
    assert lead.block_table == [0, 1]
    assert child.block_table == [0]


def test_a_sequence_that_has_blocks_cannot_become_a_child():
    kv, group = paged(), group_of(4, n=2)
    lead, child = group.sequences
    store(kv, lead, 4)
    store(kv, child, 4)
    with pytest.raises(KVError, match="has 1 blocks"):
        kv.fork(lead, child)


def test_freeing_twice_frees_once():
    kv, seq = paged(), group_of(6).lead
    store(kv, seq, 6)
    assert kv.free(seq) == 2
    assert kv.free(seq) == 0
    assert kv.num_free == 8


def test_never_fits_counts_shared_prompt_blocks_once():
    kv = paged(num_blocks=22, block_size=16)
    assert kv.never_fits(group_of(100, max_tokens=50, n=4)) is None
    assert kv.never_fits(group_of(100, max_tokens=52 + 16, n=4)) == Need(6 + 4 * 5, 22, "blocks")


def test_swapping_keeps_sharing_and_comes_back():
    kv, group = paged(num_host_blocks=8), group_of(6, n=2)
    lead, child = group.sequences
    store(kv, lead, 6)
    kv.fork(lead, child)
    store(kv, lead, 1)
    before = (lead.block_table.copy(), child.block_table.copy())
    assert kv.move_out(group) == [(0, 8), (2, 9), (1, 10)]
    assert kv.num_used == 0
    assert lead.block_table == [8, 9]
    assert child.block_table == [8, 10]
    kv.check(group.sequences)
    assert len(kv.move_in(group)) == 3
    assert [len(before[0]), len(before[1])] == [2, 2]
    assert lead.block_table[0] == child.block_table[0]
    kv.check(group.sequences)


def test_a_move_that_does_not_fit_changes_nothing():
    kv, group = paged(num_host_blocks=1), group_of(6)
    store(kv, group.lead, 6)
    assert kv.move_out(group) is None
    assert group.lead.block_table == [0, 1]
    kv.check(group.sequences)
    with pytest.raises(KVError, match="'r0'"):
        kv.move_in(group)


def test_an_unlimited_pool_gives_ascending_blocks():
    kv, seq = PagedKV(Settings(block_size=4)), group_of(9).lead
    assert store(kv, seq, 9).new_blocks == [0, 1, 2]
    kv.check([seq])


def test_a_parent_in_host_memory_cannot_be_forked():
    kv, group = paged(num_host_blocks=4), group_of(6, n=2)
    lead, child = group.sequences
    store(kv, lead, 6)
    kv.move_out(group)
    with pytest.raises(KVError, match="host memory"):
        kv.fork(lead, child)
    assert child.block_table == []
