"""A number for every token, so that a radix tree can compare them and a trace can keep them.

Tokens with ids are their ids, from 0 on. A token without one is known by its content and its place in it; it gets a
number below 0, the same one wherever that content comes up again. What a sequence produces is its own content, unless
the ids are known: from its script or from a model.
"""

from collections.abc import Hashable

from engine.request import Prompt
from engine.sequence import Sequence

SEGMENT = 256
"""Numbers are given to so many tokens of a content at once; neighbours have neighbouring numbers."""


class TokenIds:
    """The numbers of one engine, given in order of first appearance."""

    def __init__(self) -> None:
        self._segments: dict[tuple[Hashable, int], int] = {}

    def of_prompt(self, prompt: Prompt) -> tuple[int, ...]:
        """A number for each token of a prompt."""
        if prompt.token_ids is not None:
            return prompt.token_ids
        return tuple(number for run in prompt.runs for number in self._of_run(*run))

    def of(self, seq: Sequence, num_tokens: int) -> tuple[int, ...]:
        """Numbers of the first `num_tokens` tokens of a sequence, prompt and output."""
        prompt = self.of_prompt(seq.group.request.prompt)
        num_output = num_tokens - len(prompt)
        if num_output <= 0:
            return prompt[:num_tokens]
        script = seq.group.request.output_script
        known = tuple(seq.output_token_ids or (script[seq.sample] if script else ()))[:num_output]
        rest = num_output - len(known)
        return prompt + known + tuple(self._of_run(("output", seq.index), len(known), rest))

    def _of_run(self, content: Hashable, start: int, length: int) -> list[int]:
        numbers: list[int] = []
        end = start + length
        while start < end:
            segment, offset = divmod(start, SEGMENT)
            taken = min(end - start, SEGMENT - offset)
            base = self._segments.setdefault((content, segment), len(self._segments)) * SEGMENT
            numbers += range(-1 - base - offset, -1 - base - offset - taken, -1)
            start += taken
        return numbers
