"""Which running request makes room when memory is short. Whole requests leave, never single samples.

A victim is chosen among the running sequences, given in order of admission, that still have something to compute.
"""

from collections.abc import Callable, Iterable

from engine.sequence import Sequence, SequenceGroup
from engine.settings import Settings

VictimRule = Callable[[dict[int, Sequence]], SequenceGroup]


def last_admitted(running: dict[int, Sequence]) -> SequenceGroup:
    """vLLM: the request that came last loses least."""
    return next(seq.group for seq in reversed(running.values()) if seq.num_missing_tokens)


def fewest_outputs(running: dict[int, Sequence]) -> SequenceGroup:
    """SGLang: the fewest output tokens, then the longest prompt."""
    groups = dict.fromkeys(seq.group for seq in running.values() if seq.num_missing_tokens)
    return min(groups, key=lambda group: (max(s.num_output_tokens for s in group.sequences), -group.prompt_len))


def lowest_priority(running: dict[int, Sequence]) -> SequenceGroup:
    """vLLM with priorities: the least important (the largest number), then the latest arrival, then the first admitted."""
    return _least_important(running.values())


def lowest_priority_in_parts(running: dict[int, Sequence]) -> SequenceGroup:
    """The same where a prompt may enter without room for all of it, but of equal ones the last admitted.

    There the first would come back behind the other with a part of its tokens and take the memory back, in turn for ever.
    Now the first in this order is nobody's victim while somebody else runs, so it runs to its end, and then the next one.
    """
    return _least_important(reversed(running.values()))


def _least_important(sequences: Iterable[Sequence]) -> SequenceGroup:
    groups = dict.fromkeys(seq.group for seq in sequences if seq.num_missing_tokens)
    return max(groups, key=lambda group: (group.request.priority, group.request.arrival_time))


VICTIMS: dict[str, VictimRule] = {
    "last_admitted": last_admitted,
    "fewest_outputs": fewest_outputs,
    "lowest_priority": lowest_priority,
}


def victim_rule(settings: Settings) -> VictimRule:
    """The rule that these settings choose."""
    if settings.victim == "lowest_priority" and settings.policy == "chunked" and not settings.admit_full_prompt:
        return lowest_priority_in_parts
    return VICTIMS[settings.victim]
