"""One attention layer that writes tokens, with a KV cache and without: what the cache saves, and that it changes nothing.

Without a cache every new token makes all earlier ones go through the four projections and attend again, n^2 pairs for n
tokens. With it only the newest does, over n pairs. Multiplications are counted where they happen.
"""

import numpy as np


class OneLayer:
    """Random weights of the given width; `num_multiplications` grows with every call."""

    def __init__(self, width: int = 64, vocabulary: int = 100, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        self.width = width
        self.embedding = draw.standard_normal((vocabulary, width))
        self.query, self.key, self.value, self.output = draw.standard_normal((4, width, width)) / np.sqrt(width)
        self.num_multiplications = 0

    def generate(self, prompt: list[int], num_tokens: int, keeps_kv: bool) -> list[int]:
        """The next `num_tokens` tokens, each the best one."""
        tokens, keys, values = list(prompt), np.empty((0, self.width)), np.empty((0, self.width))
        for _ in range(num_tokens):
            if not keeps_kv:
                keys, values = keys[:0], values[:0]
            new = self.embedding[tokens[len(keys) :]]
            keys = np.concatenate((keys, self._times(new, self.key)))
            values = np.concatenate((values, self._times(new, self.value)))
            attended = self._attend(self._times(new, self.query), keys, values)
            answer = self._times(attended, self.output)[-1]
            tokens.append(int((self.embedding @ answer).argmax()))
        return tokens[len(prompt) :]

    def _attend(self, queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        scores = self._times(queries, keys.T) / np.sqrt(self.width)
        places = np.arange(len(keys))
        scores[places > places[-len(queries) :, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return self._times(weights / weights.sum(axis=1, keepdims=True), values)

    def _times(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        self.num_multiplications += left.shape[0] * left.shape[1] * right.shape[1]
        return left @ right


def work_ratio(num_tokens: int, width: int = 64) -> tuple[bool, float]:
    """Whether the tokens are the same with and without the cache, and how many times the work is without it."""
    layer = OneLayer(width)
    without = layer.generate([1], num_tokens, keeps_kv=False)
    work_without, layer.num_multiplications = layer.num_multiplications, 0
    with_cache = layer.generate([1], num_tokens, keeps_kv=True)
    return without == with_cache, work_without / layer.num_multiplications
