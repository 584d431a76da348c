"""Strips, holes and the three reservations."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kv.contiguous import RESERVATIONS, ContiguousKV, FirstFit, next_power_of_two
from engine.kv.manager import Need
from engine.settings import Settings
from tests.engine.kv.sequences import group_of, store


def contiguous(kv_manager: str, tokens: int, **more) -> ContiguousKV:
    return ContiguousKV(Settings.of({"kv_manager": kv_manager, "kv_capacity_tokens": tokens, **more}))


def test_the_next_power_of_two_of_a_power_of_two_is_itself():
    assert [next_power_of_two(n) for n in (1, 2, 3, 1000, 1024, 1025)] == [1, 2, 4, 1024, 1024, 2048]


@pytest.mark.parametrize(
    ("name", "more", "slots"),
    [
        ("max", {"max_model_len": 2048}, 2048),
        ("pow2", {}, 900 + 128),
        ("pow2", {"pow2_of": "total"}, 1024),
        ("oracle", {}, 1000),
    ],
)
def test_what_900_prompt_and_100_output_tokens_reserve(name, more, slots):
    assert RESERVATIONS[name](group_of(900, max_tokens=100), Settings.of({"kv_manager": name, **more})) == slots


def test_first_fit_takes_the_first_hole_and_merges_neighbours():
    space = FirstFit(100)
    a, b, c = space.take(30), space.take(30), space.take(30)
    assert (a, b, c) == (0, 30, 60)
    space.put(0, 30)
    space.put(60, 30)
    assert space.holes == [(0, 30), (60, 40)]
    assert space.take(35) == 60
    assert space.take(50) is None
    space.put(30, 30)
    assert space.holes == [(0, 60), (95, 5)]


def test_enough_memory_in_total_but_no_hole_is_refused_with_the_largest_hole():
    kv = contiguous("oracle", 100)
    groups = [group_of(20, max_tokens=10, index=i) for i in range(3)]
    for group in groups:
        store(kv, group.lead, 20)
    kv.free(groups[1].lead)
    late = group_of(25, max_tokens=10, index=9)
    assert kv.num_free == 40
    assert kv.fits(late.lead, 25) == Need(35, 30, "slots")
    assert kv.allocate(late.lead, 25) is None
    kv.check([g.lead for g in groups])


def test_all_samples_get_their_strip_or_none_does():
    kv, group = contiguous("oracle", 70), group_of(20, max_tokens=10, n=3)
    assert kv.allocate(group.lead, 20) is None
    assert kv.num_used == 0
    assert kv.never_fits(group) == Need(90, 70, "slots")


def test_a_forked_sample_has_its_own_copy_of_the_prompt():
    kv, group = contiguous("oracle", 100), group_of(20, max_tokens=10, n=2)
    lead, child = group.sequences
    store(kv, lead, 20)
    kv.fork(lead, child)
    assert child.num_computed_tokens == 20
    assert kv.num_used == 60
    assert kv.room(child) == 10


@given(st.integers(1, 60), st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=40))
def test_strips_and_holes_are_always_the_whole_memory(size, steps):
    space, strips = FirstFit(size), []
    for takes, number in steps:
        if takes:
            before = space.holes
            start = space.take(number)
            if start is None:
                assert space.holes == before
                assert number > space.largest_hole
            else:
                strips.append((start, number))
        elif strips:
            space.put(*strips.pop(number % len(strips)))
        spans = sorted(space.holes + strips)
        assert spans[0][0] == 0
        assert sum(length for _, length in spans) == size
        assert all(a + length == b for (a, length), (b, _) in pairwise(spans))
        ends = {start + length for start, length in space.holes}
        assert not ends & {start for start, _ in space.holes}
