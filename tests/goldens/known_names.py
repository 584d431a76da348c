"""Names for what a prefix cache knows: h0, h1, ... in order of first appearance, one for each different content."""

from engine.kv.prefix_cache import Prefix


class KnownNames:
    """Names are by content, so that a prefix that was forgotten gets its old name when it comes back."""

    def __init__(self) -> None:
        self._names: dict[tuple[object, ...], str] = {}

    def of(self, prefix: Prefix) -> str:
        return self._names.setdefault(all_tokens(prefix), f"h{len(self._names)}")


def all_tokens(prefix: Prefix | None) -> tuple[object, ...]:
    """The tokens from the start of the sequence to the end of the prefix."""
    tokens: tuple[object, ...] = ()
    while prefix is not None:
        tokens = prefix.tokens + tokens
        prefix = prefix.parent
    return tokens
