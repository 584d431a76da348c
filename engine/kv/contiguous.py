"""Contiguous KV as engines had it before paging: one strip of slots for each sequence, reserved at admission.

How much is reserved is the policy (Orca's three, as the vLLM paper compares them in section 6.1): `max` the longest
possible request, `pow2` the prompt plus the output rounded up to a power of two, `oracle` exactly what will be used.
Strips are placed by first fit; neighbouring holes merge. Knowing the output length is the simulator's privilege.
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

from engine.kv.manager import NOTHING, Allocation, KVError, Need
from engine.sequence import Sequence, SequenceGroup
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener

UNLIMITED = 2**31 - 1


def next_power_of_two(number: int) -> int:
    """The smallest power of two that is not below `number`."""
    return 1 << (number - 1).bit_length() if number > 0 else 1


def reserve_max(group: SequenceGroup, settings: Settings) -> int:
    return settings.max_model_len or UNLIMITED


def reserve_pow2(group: SequenceGroup, settings: Settings) -> int:
    if settings.pow2_of == "total":
        return next_power_of_two(group.prompt_len + group.max_tokens)
    return group.prompt_len + next_power_of_two(group.max_tokens)


def reserve_oracle(group: SequenceGroup, settings: Settings) -> int:
    return group.prompt_len + group.max_tokens


RESERVATIONS: dict[str, Callable[[SequenceGroup, Settings], int]] = {
    "max": reserve_max,
    "pow2": reserve_pow2,
    "oracle": reserve_oracle,
}
"""Slots that one sample of a request reserves."""


class FirstFit:
    """A line of slots with holes, kept in order of address."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._starts = [0]
        self._sizes = [size]

    @property
    def num_free(self) -> int:
        return sum(self._sizes)

    @property
    def largest_hole(self) -> int:
        return max(self._sizes, default=0)

    @property
    def holes(self) -> list[tuple[int, int]]:
        """(start, size) of every hole, by address."""
        return list(zip(self._starts, self._sizes, strict=True))

    def take(self, size: int) -> int | None:
        """Start of a strip in the first hole that is large enough, or None."""
        for i, hole in enumerate(self._sizes):
            if hole >= size:
                start = self._starts[i]
                if hole == size:
                    del self._starts[i], self._sizes[i]
                else:
                    self._starts[i] += size
                    self._sizes[i] -= size
                return start
        return None

    def put(self, start: int, size: int) -> None:
        """Give a strip back; it merges with the holes beside it."""
        i = bisect_left(self._starts, start)
        self._starts.insert(i, start)
        self._sizes.insert(i, size)
        if i + 1 < len(self._starts) and start + size == self._starts[i + 1]:
            self._sizes[i] += self._sizes[i + 1]
            del self._starts[i + 1], self._sizes[i + 1]
        if i > 0 and self._starts[i - 1] + self._sizes[i - 1] == start:
            self._sizes[i - 1] += self._sizes[i]
            del self._starts[i], self._sizes[i]


class ContiguousKV:
    """A strip for each sample of each admitted request; all samples get theirs at once or none does."""

    resource = "slots"
    is_reserved = True

    def __init__(self, settings: Settings, recorder: Listener = SILENT) -> None:
        self._settings = settings
        self._reserve = RESERVATIONS[settings.kv_manager]
        self.space = FirstFit(UNLIMITED if settings.pool_tokens is None else settings.pool_tokens)
        self.strips: dict[int, tuple[int, int]] = {}
        self._recorder = recorder

    @property
    def num_free(self) -> int:
        return self.space.num_free

    @property
    def num_used(self) -> int:
        return self.space.size - self.space.num_free

    def watermark(self) -> int:
        return int(self._settings.watermark * self.space.size)

    def never_fits(self, group: SequenceGroup, prompt_only: bool = False) -> Need | None:
        """What is reserved is taken at the admission already."""
        size = self._reserve(group, self._settings)
        needed = max(size, group.prompt_len + group.max_tokens - 1) * len(group.sequences)
        return Need(needed, self.space.size, "slots") if needed > self.space.size else None

    def fits(self, seq: Sequence, num_new_tokens: int, keep_free: int = 0) -> Need | None:
        """`available` is the largest hole: free memory in total does not help a strip."""
        if seq.index in self.strips:
            return None
        taken = self._place(seq.group, keep_free)
        if taken is None:
            size = self._reserve(seq.group, self._settings)
            return Need(size * len(self._without_strip(seq.group)), self.space.largest_hole, "slots")
        for start, size in taken:
            self.space.put(start, size)
        return None

    def allocate(self, seq: Sequence, num_new_tokens: int, lookahead: int = 0, keep_free: int = 0) -> Allocation | None:
        if seq.index in self.strips:
            return NOTHING if self.room(seq) >= num_new_tokens else None
        taken = self._place(seq.group, keep_free)
        if taken is None:
            return None
        for sample, (start, size) in zip(self._without_strip(seq.group), taken, strict=True):
            self.strips[sample.index] = (start, size)
            self._recorder.reserved(sample, start, size)
        return NOTHING

    def room(self, seq: Sequence) -> int:
        strip = self.strips.get(seq.index)
        return strip[1] - seq.num_computed_tokens if strip else 0

    def fork(self, parent: Sequence, child: Sequence) -> None:
        """The child's strip gets its own copy of what the parent stored; contiguous memory cannot share."""
        if child.num_computed_tokens:
            raise KVError(f"sequence {child.index} has computed tokens; only an empty one can be forked.")
        child.follow(parent)
        self._recorder.forked(parent, child)

    def free(self, seq: Sequence) -> int:
        strip = self.strips.pop(seq.index, None)
        if strip is None:
            return 0
        self.space.put(*strip)
        self._recorder.unreserved(seq, strip[1])
        return strip[1]

    def move_out(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        """Contiguous engines did not swap."""
        return None

    def move_in(self, group: SequenceGroup) -> list[tuple[int, int]] | None:
        return None

    def check(self, sequences: list[Sequence]) -> None:
        spans = sorted([*self.strips.values(), *self.space.holes])
        assert sum(size for _, size in spans) == self.space.size, "strips and holes are not the whole memory"
        for (start, size), (following, _) in pairwise(spans):
            assert start + size == following, "strips or holes overlap"
        holders = {seq.index: seq for seq in sequences if seq.index in self.strips}
        assert len(holders) == len(self.strips), "a strip has no sequence"
        for index, seq in holders.items():
            assert seq.num_computed_tokens <= self.strips[index][1], "more tokens than the strip has slots"

    def _without_strip(self, group: SequenceGroup) -> list[Sequence]:
        return [seq for seq in group.unfinished if seq.index not in self.strips]

    def _place(self, group: SequenceGroup, keep_free: int) -> list[tuple[int, int]] | None:
        """A strip for every sample, or None and nothing taken."""
        size, samples = self._reserve(group, self._settings), self._without_strip(group)
        if keep_free and self.space.num_free < size * len(samples) + keep_free:
            return None
        taken: list[tuple[int, int]] = []
        for _ in samples:
            start = self.space.take(size)
            if start is None:
                for strip in taken:
                    self.space.put(*strip)
                return None
            taken.append((start, size))
        return taken
