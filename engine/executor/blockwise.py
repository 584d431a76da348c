"""Attention block by block, as the formula of PagedAttention stands (vLLM paper, section 4.1).

45 tokens in blocks of 16 lie in three blocks anywhere in memory. Each block gives its part of the sum and its largest
score; the parts are put together with the running maximum (online softmax). The result is that of attention over one
contiguous stretch: paging moves tokens, it changes no answer. The live engine does the same on whole batches.
"""

import numpy as np


def attend_blockwise(
    query: np.ndarray, keys: np.ndarray, values: np.ndarray, block_table: list[int], num_tokens: int
) -> np.ndarray:
    """One query [D] over the first `num_tokens` tokens; keys and values are pools [num_blocks, block_size, D]."""
    block_size = keys.shape[1]
    best, total, attended = -np.inf, 0.0, np.zeros(values.shape[-1])
    for index, block in enumerate(block_table):
        filled = min(block_size, num_tokens - index * block_size)
        scores = keys[block, :filled] @ query / np.sqrt(len(query))
        higher = max(best, scores.max())
        weights = np.exp(scores - higher)
        fade = np.exp(best - higher)
        total = total * fade + weights.sum()
        attended = attended * fade + weights @ values[block, :filled]
        best = higher
    return attended / total


def attend(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """One query [D] over keys and values [num_tokens, D] that lie behind each other."""
    scores = keys @ query / np.sqrt(len(query))
    weights = np.exp(scores - scores.max())
    return weights @ values / weights.sum()


def largest_difference(num_tokens: int, block_size: int, head_dim: int, seed: int) -> float:
    """How far block-wise attention over randomly scattered blocks is from contiguous attention, in float64."""
    draw = np.random.default_rng(seed)
    num_blocks = -(-num_tokens // block_size)
    keys, values = draw.standard_normal((2, 2 * num_blocks, block_size, head_dim))
    query = draw.standard_normal(head_dim)
    table = draw.permutation(2 * num_blocks)[:num_blocks].tolist()
    contiguous = [pool[table].reshape(-1, head_dim)[:num_tokens] for pool in (keys, values)]
    paged = attend_blockwise(query, keys, values, table, num_tokens)
    return float(np.abs(paged - attend(query, *contiguous)).max())
