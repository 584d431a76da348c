"""Moving a request to host memory and back: block ids by hand, then what no sequence of moves may break."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kv.paged import PagedKV
from engine.loop import trace_header
from engine.presets import PRESETS
from engine.sequence import SequenceGroup
from engine.settings import CHOICES, Settings
from engine.trace.recorder import Recorder
from tests.engine.kv.sequences import group_of, store


def manager(preset: str, **own) -> PagedKV:
    chosen = {"num_blocks": 8, "num_host_blocks": 8, "block_size": 4, **own}
    return PagedKV(Settings.of({**PRESETS[preset].settings, **chosen}))


def two_samples(kv: PagedKV) -> SequenceGroup:
    """Six tokens, then one token more for each of two samples: one block shared, one block each."""
    group = group_of(6, n=2)
    lead, child = group.sequences
    store(kv, lead, 6)
    kv.fork(lead, child)
    store(kv, lead, 1)
    store(kv, child, 1)
    return group


def tables(group: SequenceGroup) -> list[list[int]]:
    return [list(seq.block_table) for seq in group.sequences]


def test_manager_v1_moves_a_shared_block_once_and_it_is_still_shared():
    """A stack on both sides: 7, 6, 5 leave for 15, 14, 13; the device gets 5, 7, 6 back and hands out 6 first."""
    kv = manager("vllm-v0-v1")
    group = two_samples(kv)
    assert tables(group) == [[7, 5], [7, 6]]
    assert kv.move_out(group) == [(7, 15), (5, 14), (6, 13)]
    assert tables(group) == [[15, 14], [15, 13]]
    assert kv.host.used == {15: 2, 14: 1, 13: 1}
    assert (kv.num_used, kv.host.num_free) == (0, 5)
    assert kv.move_in(group) == [(15, 6), (14, 7), (13, 5)]
    assert tables(group) == [[6, 7], [6, 5]]
    kv.check(group.sequences)


def test_manager_v2_moves_a_shared_block_once_for_each_reader():
    """A returned block goes to the left on both sides: 2 is back first, then 0, then 1, which is the next one."""
    kv = manager("vllm-v0-v2")
    group = two_samples(kv)
    assert tables(group) == [[0, 2], [0, 1]]
    assert kv.move_out(group) == [(0, 8), (2, 9), (0, 10), (1, 11)]
    assert tables(group) == [[8, 9], [10, 11]]
    assert kv.host.used == {8: 1, 9: 1, 10: 1, 11: 1}
    assert kv.move_in(group) == [(8, 1), (9, 0), (10, 2), (11, 3)]
    assert tables(group) == [[1, 0], [2, 3]]
    kv.check(group.sequences)


def test_who_loses_sharing_needs_a_host_block_for_each_table_entry():
    kept, lost = manager("vllm-v0-v1", num_host_blocks=3), manager("vllm-v0-v2", num_host_blocks=3)
    assert kept.move_out(two_samples(kept)) == [(7, 10), (5, 9), (6, 8)]
    group = two_samples(lost)
    before = tables(group)
    assert lost.move_out(group) is None
    assert tables(group) == before
    assert (lost.num_used, lost.host.num_used) == (3, 0)
    lost.check(group.sequences)


def test_moving_in_leaves_the_watermark_free():
    kv = manager("vllm-v0-v1", watermark=0.25)
    group, other = two_samples(kv), group_of(12, index=1)
    kv.move_out(group)
    store(kv, other.lead, 16)
    assert kv.num_free == 4
    assert kv.move_in(group) is None
    kv.free(other.lead)
    assert kv.move_in(group) == [(15, 6), (14, 7), (13, 5)]


def test_after_a_move_with_sharing_the_last_writer_still_needs_no_copy():
    kv, group = manager("vllm-v0-v1"), group_of(6, n=2)
    lead, child = group.sequences
    store(kv, lead, 6)
    kv.fork(lead, child)
    kv.move_out(group)
    kv.move_in(group)
    assert len(store(kv, lead, 1).copies) == 1
    assert not store(kv, child, 1).copies


@pytest.mark.parametrize("preset", ["vllm-v0-v1", "vllm-v0-v2"])
def test_the_recorded_trace_of_a_move_says_where_the_blocks_are_and_who_reads_them(preset: str):
    chosen = Settings.of({**PRESETS[preset].settings, "num_blocks": 8, "num_host_blocks": 8, "block_size": 4})
    recorder = Recorder(trace_header(chosen, "swap"))
    kv, group = PagedKV(chosen, recorder), group_of(6, n=2)
    recorder.arrived(group)
    lead, child = group.sequences
    store(kv, lead, 6)
    kv.fork(lead, child)
    recorder.close()
    kv.move_out(group)
    recorder.close()
    trace = recorder.trace()
    frame = trace.cut(event=trace.num_events)
    counts = frame.tracks["blocks"]["ref_count"]
    assert {block: int(count) for block, count in enumerate(counts) if count} == kv.host.used
    assert [frame.table(seq.index) for seq in group.sequences] == tables(group)


MOVES = st.lists(st.tuples(st.sampled_from("wfoid"), st.integers(0, 5)), max_size=60)


@pytest.mark.parametrize("sharing", CHOICES["swap_sharing"])
@pytest.mark.parametrize("order", CHOICES["free_list"])
@given(moves=MOVES, num_host_blocks=st.integers(0, 12), watermark=st.sampled_from([0.0, 0.2]))
@settings(deadline=None, max_examples=40)
def test_moves_are_whole_or_nothing_and_lose_no_block(
    sharing: str, order: str, moves: list[tuple[str, int]], num_host_blocks: int, watermark: float
):
    """w writes a token, f forks, o moves out, i moves in, d drops; two groups of three samples in blocks of 2."""
    own = {"num_blocks": 10, "num_host_blocks": num_host_blocks, "block_size": 2, "watermark": watermark}
    kv = PagedKV(Settings.of({"free_list": order, "swap_sharing": sharing, **own}))
    groups = [group_of(3, n=3, index=i) for i in range(2)]
    sequences = [seq for group in groups for seq in group.sequences]
    on_host: set[int] = set()
    for verb, number in moves:
        seq = sequences[number]
        group = seq.group
        before = tables(groups[0]) + tables(groups[1])
        if verb in "oi" and any(tables(group)) and (group.index in on_host) == (verb == "i"):
            shared = Counter(block for table in tables(group) for block in table)
            target = kv.pool if verb == "i" else kv.host
            free, keep = target.num_free, kv.watermark() if verb == "i" else 0
            moved = kv.move_in(group) if verb == "i" else kv.move_out(group)
            needed = len(shared) if sharing == "kept" else shared.total()
            assert (moved is None) == (needed + keep > free)
            if moved is None:
                assert tables(groups[0]) + tables(groups[1]) == before
            else:
                assert len(moved) == needed
                assert target.num_free == free - needed
                _same_sharing(before[3 * group.index :][:3], tables(group), sharing)
                (on_host.discard if verb == "i" else on_host.add)(group.index)
        elif verb == "w" and group.index not in on_host:
            store(kv, seq, 1)
        elif verb == "f" and group.index not in on_host and not seq.block_table and group.lead.block_table:
            kv.fork(group.lead, seq)
        elif verb == "d":
            kv.free(seq)
            seq.reset()
            if not any(tables(group)):
                on_host.discard(group.index)
        kv.check(sequences)
        assert kv.num_free + kv.num_used == 10
        assert kv.host.num_free + kv.host.num_used == num_host_blocks
    for seq in sequences:
        kv.free(seq)
    assert (kv.num_free, kv.host.num_free) == (10, num_host_blocks)


def _same_sharing(before: list[list[int]], after: list[list[int]], sharing: str) -> None:
    """Two entries that named one block name one block still, or nobody shares anything."""
    assert [len(table) for table in before] == [len(table) for table in after]
    old = [block for table in before for block in table]
    new = [block for table in after for block in table]
    if sharing == "lost":
        assert len(set(new)) == len(new)
    else:
        assert len(set(zip(old, new, strict=True))) == len(set(old)) == len(set(new))
