"""What the blocks of a sequence hold: the tokens of each full block as a value that can be compared.

Tokens with ids are their ids. Tokens without ids are runs (content, start, length), joined where they continue each
other, so that equal tokens are equal values however a prompt was written down. What a sequence produces is its own
content, unless the ids are known: from its script or from a model.
"""

from typing import TYPE_CHECKING

from engine.request import TokenRun

if TYPE_CHECKING:
    from engine.sequence import Sequence

Tokens = tuple[object, ...]
"""The tokens of a block: ids, or runs as tuples."""


def joined(runs: tuple[TokenRun, ...]) -> list[TokenRun]:
    """The same tokens in as few runs as possible: (7, 0, 4), (7, 4, 4) becomes (7, 0, 8)."""
    whole: list[TokenRun] = []
    for content, start, length in runs:
        if whole and whole[-1][0] == content and whole[-1][1] + whole[-1][2] == start:
            whole[-1] = (content, whole[-1][1], whole[-1][2] + length)
        elif length:
            whole.append((content, start, length))
    return whole


class BlockContent:
    """The full blocks of one sequence, asked for in ascending order."""

    __slots__ = ("_at", "_ids", "_runs", "_seq", "_size")

    def __init__(self, seq: "Sequence", block_size: int) -> None:
        prompt = seq.group.request.prompt
        self._seq = seq
        self._size = block_size
        self._ids = prompt.token_ids
        self._runs: list[TokenRun] | None = None
        self._at = (0, 0)

    def blocks(self, first: int, end: int) -> list[Tokens]:
        """The tokens of blocks `first` .. `end` - 1."""
        size, ids = self._size, self._ids
        if ids is not None and end * size <= len(ids):
            return [ids[start : start + size] for start in range(first * size, end * size, size)]
        return [self.block(index) for index in range(first, end)]

    def block(self, index: int) -> Tokens:
        """The tokens of block `index`, all of which have to be known."""
        start = index * self._size
        end, prompt_len = start + self._size, self._seq.group.prompt_len
        if end <= prompt_len:
            return self._prompt(start, end)
        if start >= prompt_len:
            return self._output(start - prompt_len, end - prompt_len)
        return self._prompt(start, prompt_len) + self._output(0, end - prompt_len)

    def _prompt(self, start: int, end: int) -> Tokens:
        if self._ids is not None:
            return self._ids[start:end]
        if self._runs is None:
            self._runs = joined(self._seq.group.request.prompt.runs)
        place, passed = self._at if self._at[1] <= start else (0, 0)
        parts: list[TokenRun] = []
        while start < end:
            content, first, length = self._runs[place]
            if passed + length <= start:
                place, passed = place + 1, passed + length
                continue
            taken = min(end, passed + length) - start
            parts.append((content, first + start - passed, taken))
            start += taken
        self._at = (place, passed)
        return tuple(parts)

    def _output(self, start: int, end: int) -> Tokens:
        seq = self._seq
        if len(seq.output_token_ids) >= end:
            return tuple(seq.output_token_ids[start:end])
        script = seq.group.request.output_script
        if script is not None and len(script[seq.sample]) >= end:
            return tuple(script[seq.sample][start:end])
        return (("output", seq.index, start, end - start),)
