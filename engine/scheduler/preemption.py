"""Which running request makes room when memory is short. Whole requests leave, never single samples."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.sequence import SequenceGroup

if TYPE_CHECKING:
    from engine.batch.running_batch import RunningBatch


def candidates(batch: "RunningBatch") -> list[SequenceGroup]:
    """Running requests in order of admission that still have something to compute."""
    groups = dict.fromkeys(seq.group for seq in batch.running.values() if seq.num_missing_tokens)
    return list(groups)


def last_admitted(batch: "RunningBatch") -> SequenceGroup:
    """vLLM: the request that came last loses least."""
    for seq in reversed(batch.running.values()):
        if seq.num_missing_tokens:
            return seq.group
    raise AssertionError("a sequence asked for memory, so one is running")


def fewest_outputs(batch: "RunningBatch") -> SequenceGroup:
    """SGLang: the fewest output tokens, then the longest prompt."""
    groups = candidates(batch)
    return min(groups, key=lambda group: (max(s.num_output_tokens for s in group.sequences), -group.prompt_len))


VICTIMS: dict[str, Callable[["RunningBatch"], SequenceGroup]] = {
    "last_admitted": last_admitted,
    "fewest_outputs": fewest_outputs,
}
