"""Pairs get numbers in order of first appearance, whatever the cuts between the calls."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.trace.key_numbers import KeyNumbers

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40)


def test_the_first_pair_is_number_zero():
    numbers, new = KeyNumbers().number(np.array([[7, 0], [7, 1], [3, 0], [7, 0]], np.int32))
    assert numbers.tolist() == [0, 1, 2, 0]
    assert new.tolist() == [[7, 0], [7, 1], [3, 0]]


@given(PAIRS, st.integers(0, 40))
def test_two_calls_number_like_a_dictionary(pairs, cut):
    expected: dict[tuple[int, int], int] = {}
    for pair in pairs:
        expected.setdefault(pair, len(expected))
    key_numbers, numbers, new = KeyNumbers(), [], []
    for part in (pairs[:cut], pairs[cut:]):
        some, fresh = key_numbers.number(np.array(part, np.int32).reshape(-1, 2))
        numbers += some.tolist()
        new += [tuple(pair) for pair in fresh.tolist()]
    assert numbers == [expected[pair] for pair in pairs]
    assert new == list(expected)
