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
        self._last: tuple[Prompt, tuple[int, ...]] = (Prompt(), ())

    def of_prompt(self, prompt: Prompt) -> tuple[int, ...]:
        """A number for each token of a prompt. Those of the last one are kept, because an admission asks repeatedly."""
        if prompt.token_ids is not None:
            return prompt.token_ids
        if self._last[0] is not prompt:
            self._last = (prompt, self._of_runs(prompt, 0, prompt.num_tokens))
        return self._last[1]

    def of(self, seq: Sequence, end: int, start: int = 0) -> tuple[int, ...]:
        """Numbers of the tokens `start` .. `end` - 1 of a sequence, prompt and output."""
        prompt, prompt_len = seq.group.request.prompt, seq.group.prompt_len
        if start and prompt.token_ids is None:
            asked = self._of_runs(prompt, start, end)
        else:
            asked = self.of_prompt(prompt)[start:end]
        if end <= prompt_len:
            return asked
        script = seq.group.request.output_script
        first, num_output = max(start - prompt_len, 0), end - prompt_len
        known = tuple(seq.output_token_ids or (script[seq.sample] if script else ()))[:num_output]
        unknown = max(first, len(known))
        return asked + known[first:] + tuple(self._of_run(("output", seq.index), unknown, num_output - unknown))

    def _of_runs(self, prompt: Prompt, start: int, end: int) -> tuple[int, ...]:
        numbers: list[int] = []
        passed = 0
        for content, first, length in prompt.runs:
            skipped, taken = max(start - passed, 0), min(end - passed, length)
            if taken > skipped:
                numbers += self._of_run(content, first + skipped, taken - skipped)
            passed += length
        return tuple(numbers)

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
