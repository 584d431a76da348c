"""What was really written into each block, noted from the rows of the batches, beside what a prefix cache says.

It knows nothing of prefixes or hashes: a slot holds the last token that a row with its table put there.
"""

from typing import Any

from engine.batch import Batch
from engine.kv.hashed import HashedKV
from engine.kv.prefix_cache import Prefix
from engine.sequence import Sequence

Token = Any


class WrittenSlots:
    """Slot by slot the token that lies there."""

    def __init__(self, block_size: int) -> None:
        self._size = block_size
        self._slots: dict[tuple[int, int], Token] = {}

    def note(self, batch: Batch) -> None:
        """The copies of a batch, then its rows."""
        for source, target in batch.copies:
            for offset in range(self._size):
                if (source, offset) in self._slots:
                    self._slots[target, offset] = self._slots[source, offset]
        for row in batch.rows:
            for position in range(row.start, row.start + row.num_tokens):
                block = row.sequence.block_table[position // self._size]
                self._slots[block, position % self._size] = token_at(row.sequence, position)

    def difference(self, kv: HashedKV) -> str | None:
        """The first block that is known under other tokens than were written into it."""
        for block, prefix in kv.known.held.items():
            written = [self._slots.get((block, offset)) for offset in range(self._size)]
            if written != spelled(prefix):
                return f"block {block} is known as {spelled(prefix)} and holds {written}"
        return None


def token_at(seq: Sequence, position: int) -> Token:
    """The id of a token, or what makes it unlike all others."""
    prompt = seq.group.request.prompt
    if position >= seq.group.prompt_len:
        return ("output", seq.index, position - seq.group.prompt_len)
    if prompt.token_ids is not None:
        return prompt.token_ids[position]
    for content, start, length in prompt.runs:
        if position < length:
            return (content, start + position)
        position -= length
    raise IndexError(position)


def spelled(prefix: Prefix) -> list[Token]:
    """The tokens of the last block of a prefix, one by one."""
    tokens: list[Token] = []
    for part in prefix.tokens:
        if not isinstance(part, tuple):
            tokens.append(part)
        elif part[0] == "output":
            tokens += [("output", part[1], part[2] + i) for i in range(part[3])]
        else:
            tokens += [(part[0], part[1] + i) for i in range(part[2])]
    return tokens
