"""How many token slots a step takes: packed row by row, or padded to a rectangle.

Iteration-level batching flattens all tokens of a step (Orca's selective batching), so prompts of 100, 10 and 10 tokens
take 120 slots. A padded batch takes number of prompts x longest prompt: 300 slots, 180 of them padding.
"""

from collections.abc import Callable, Sequence


def packed_tokens(prompt_lens: Sequence[int]) -> int:
    """Slots of a flattened batch: one a token."""
    return sum(prompt_lens)


def padded_tokens(prompt_lens: Sequence[int]) -> int:
    """Slots of a batch in which every prompt is as long as the longest."""
    return len(prompt_lens) * max(prompt_lens, default=0)


def num_admitted(prompt_lens: Sequence[int], budget: int, slots: Callable[[Sequence[int]], int]) -> int:
    """How many prompts, taken strictly in order, a budget of slots lets into one step."""
    for count in range(len(prompt_lens), 0, -1):
        if slots(prompt_lens[:count]) <= budget:
            return count
    return 0
