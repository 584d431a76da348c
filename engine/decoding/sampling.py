"""From logits to token ids: greedy, temperature, top-k, top-p.

Each draw has its own random number, made from the seed of the request, the number of the sample and the place of the
token. So a sampled answer is the same whoever else is in the batch, and the same again after a preemption. The number
cuts the distribution in the order of the token ids, which hardly minds that another batch rounds logits differently.
"""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from engine.request import SamplingParams


class Draw(NamedTuple):
    """One token to be sampled: how, for which sample of the request, at which place of the sequence."""

    params: SamplingParams
    sample: int
    position: int


def uniform(seed: int, sample: int, position: int) -> float:
    """The random number in [0, 1) of one draw."""
    digest = blake2b(f"{seed},{sample},{position}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


def sample_token(logits: np.ndarray, draw: Draw) -> int:
    """The token of one draw from the logits [vocabulary] of its row."""
    params = draw.params
    if params.temperature == 0:
        return int(logits.argmax())
    ids = _best(logits, params.top_k)
    weights = _weights(logits if ids is None else logits[ids], params.temperature)
    if params.top_p < 1:
        kept = _nucleus(weights, params.top_p)
        ids, weights = kept if ids is None else ids[kept], weights[kept]
    chosen = cut(weights, uniform(params.seed, draw.sample, draw.position))
    return chosen if ids is None else int(ids[chosen])


def cut(weights: np.ndarray, number: float) -> int:
    """Where `number` in [0, 1) falls when weights 1, 2, 1 mean [0, 1/4), [1/4, 3/4), [3/4, 1)."""
    ends = np.cumsum(weights, dtype=np.float64)
    return int(ends.searchsorted(min(number * ends[-1], np.nextafter(ends[-1], 0.0)), side="right"))


def _weights(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities up to a common factor; the best token has weight 1."""
    with np.errstate(over="ignore"):
        return np.exp((logits - logits.max()) / np.float32(max(temperature, 1e-6)))


def _best(logits: np.ndarray, top_k: int) -> np.ndarray | None:
    """Ids of the `top_k` best tokens, ascending; None means all."""
    if not 0 < top_k < len(logits):
        return None
    return np.sort(np.argpartition(logits, len(logits) - top_k)[-top_k:])


def _nucleus(weights: np.ndarray, top_p: float) -> np.ndarray:
    """Places of the fewest weights, largest first, that make up `top_p` of the sum; ascending."""
    total = weights.sum(dtype=np.float64)
    # all weights below this bound together are less than the rest of the sum, so only those above have to be sorted
    likely = np.flatnonzero(weights >= (1 - top_p) * total / len(weights))
    likely = likely[np.argsort(-weights[likely], kind="stable")]
    mass = np.cumsum(weights[likely], dtype=np.float64)
    return np.sort(likely[: int(mass.searchsorted(top_p * total)) + 1])
