"""Block-wise attention over scattered blocks is attention."""

import numpy as np
import pytest

from engine.executor.blockwise import attend, attend_blockwise, largest_difference


def test_45_tokens_in_three_scattered_blocks_give_what_contiguous_ones_give():
    assert max(largest_difference(45, 16, 64, seed) for seed in range(200)) < 1e-15


@pytest.mark.parametrize("num_tokens", [1, 15, 16, 17, 64])
def test_any_fill_of_the_last_block_gives_the_same(num_tokens):
    assert largest_difference(num_tokens, 16, 64, seed=1) < 1e-15


def test_equal_scores_take_the_mean_of_the_values():
    keys, values = np.zeros((4, 2, 3)), np.arange(24.0).reshape(4, 2, 3)
    # blocks 3 and 1, of which the second holds one token: values 18..20, 21..23, 6..8
    assert attend_blockwise(np.ones(3), keys, values, [3, 1], 3).tolist() == [15.0, 16.0, 17.0]


def test_what_lies_behind_the_last_token_of_a_block_is_not_read():
    keys, values = np.zeros((1, 4, 2)), np.ones((1, 4, 2))
    values[0, 3] = np.nan
    assert attend_blockwise(np.ones(2), keys, values, [0], 3).tolist() == [1.0, 1.0]
    assert np.isnan(attend(np.ones(2), keys[0], values[0])).all()
