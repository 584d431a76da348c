"""Which block comes next: four orders, each as its engine has it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kv.free_list import FreeList

ORDERS = ["fifo", "stack", "left", "uncached_first"]


@pytest.mark.parametrize(
    ("order", "first", "after_return"),
    [
        ("fifo", [0, 1, 2], [3, 4, 5, 2, 1, 0]),
        ("stack", [5, 4, 3], [5, 4, 3, 2, 1, 0]),
        ("left", [0, 1, 2], [2, 1, 0, 3, 4, 5]),
        ("uncached_first", [0, 1, 2], [2, 1, 0, 3, 4, 5]),
    ],
)
def test_three_blocks_taken_and_returned_last_first(order, first, after_return):
    free = FreeList(order, 0, 6)
    assert free.take(3) == first
    free.put(reversed(first))
    assert free.ids() == after_return
    assert free.take(6) == after_return


def test_a_script_names_the_first_blocks_and_the_order_the_rest():
    free = FreeList("fifo", 0, 8, script=(7, 2, 5))
    assert free.take(4) == [7, 2, 5, 0]
    assert free.ids() == [1, 3, 4, 6]


def test_a_pool_of_sixteen_million_blocks_is_not_spelled_out():
    free = FreeList("fifo", 1, 16_777_217)
    assert free.ids(limit=3) == [1, 2, 3]
    assert len(free) == 16_777_216


@given(st.sampled_from(ORDERS), st.integers(1, 12), st.lists(st.tuples(st.booleans(), st.integers(1, 5)), max_size=40))
def test_the_list_is_the_queue_of_what_comes_next(order, size, steps):
    free, taken = FreeList(order, 0, size), []
    for takes, count in steps:
        if takes and count <= len(free):
            expected = free.ids()[:count]
            assert free.take(count) == expected
            taken += expected
        elif not takes and taken:
            back, taken = taken[-count:], taken[:-count]
            free.put(reversed(back))
        assert len(free) == len(free.ids())
        assert sorted(free.ids() + taken) == list(range(size))
