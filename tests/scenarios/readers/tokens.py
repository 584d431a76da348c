"""What two prompts share, counted token by token: the plain meaning of runs, for small prompts."""

from engine.request import Prompt


def tokens(prompt: Prompt) -> list[tuple[int, int]]:
    """Every token as (content, position); equal pairs are equal tokens."""
    return [(content, start + i) for content, start, length in prompt.runs for i in range(length)]


def shared(a: Prompt, b: Prompt) -> int:
    """Number of equal leading tokens."""
    pairs = zip(tokens(a), tokens(b), strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(a.num_tokens, b.num_tokens))
