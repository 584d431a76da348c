"""Which running request makes room when memory is short. Whole requests leave, never single samples.

A victim is chosen among the running sequences, given in order of admission, that still have something to compute.
"""

from collections.abc import Callable

from engine.sequence import Sequence, SequenceGroup

VictimRule = Callable[[dict[int, Sequence]], SequenceGroup]


def last_admitted(running: dict[int, Sequence]) -> SequenceGroup:
    """vLLM: the request that came last loses least."""
    return next(seq.group for seq in reversed(running.values()) if seq.num_missing_tokens)


def fewest_outputs(running: dict[int, Sequence]) -> SequenceGroup:
    """SGLang: the fewest output tokens, then the longest prompt."""
    groups = dict.fromkeys(seq.group for seq in running.values() if seq.num_missing_tokens)
    return min(groups, key=lambda group: (max(s.num_output_tokens for s in group.sequences), -group.prompt_len))


def lowest_priority(running: dict[int, Sequence]) -> SequenceGroup:
    """vLLM with priorities: the least important (the largest number), then the latest arrival."""
    groups = dict.fromkeys(seq.group for seq in running.values() if seq.num_missing_tokens)
    return max(groups, key=lambda group: (group.request.priority, group.request.arrival_time))


VICTIMS: dict[str, VictimRule] = {
    "last_admitted": last_admitted,
    "fewest_outputs": fewest_outputs,
    "lowest_priority": lowest_priority,
}
