"""Token ids as they come from a file: whole numbers that a trace can keep. A float or a truth value that equals one is none."""

from collections.abc import Sequence
from typing import Any

from engine.trace.check import MAX_INT
from scenarios.fields import shown


def bad_token(tokens: Sequence[Any]) -> str:
    """What is wrong with the first value that is no token id, and what would be right; empty for a good list."""
    if set(map(type, tokens)) <= {int} and (not tokens or 0 <= min(tokens) <= max(tokens) <= MAX_INT):
        return ""
    index, token = next((i, t) for i, t in enumerate(tokens) if type(t) is not int or not 0 <= t <= MAX_INT)
    return f"token {index + 1:,} is {shown(token)}; token ids are whole numbers from 0 to {MAX_INT:,}"
