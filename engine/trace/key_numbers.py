"""Numbers for the two-part keys of a ragged track, in order of first appearance.

Rows are recorded with their pairs (sequence, index) and numbered many at a time, so that recording one costs nothing.
"""

import numpy as np


class KeyNumbers:
    """Remembers every pair that it has numbered; pairs are two int32."""

    def __init__(self) -> None:
        self._known = np.zeros(0, np.int64)
        self._numbers = np.zeros(0, np.int32)

    def number(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs [n, 2] -> their numbers [n] and the pairs that are new [m, 2], in the order of their numbers."""
        packed = pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]
        distinct, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
        place = np.searchsorted(self._known, distinct)
        is_new = np.ones(len(distinct), bool)
        inside = place < len(self._known)
        is_new[inside] = self._known[place[inside]] != distinct[inside]
        numbers = np.empty(len(distinct), np.int32)
        numbers[~is_new] = self._numbers[place[~is_new]]
        new = np.flatnonzero(is_new)
        new = new[np.argsort(first[new], kind="stable")]
        numbers[new] = len(self._known) + np.arange(len(new), dtype=np.int32)
        self._numbers = np.insert(self._numbers, place[is_new], numbers[is_new])
        self._known = np.insert(self._known, place[is_new], distinct[is_new])
        return numbers[inverse], pairs[first[new]]
