"""The cost model of this machine, from the steps that a live run has measured.

Three things take time in a step: the matrix products of its tokens, reading the KV of its sequences, and attending to
pairs of positions. Reading and attending have a price each. What the products take is a curve over the number of tokens
(all weights are read for the first one; further ones are almost free until computing takes longer than reading), a
straight line between the powers of two, which never goes down. All of it is fitted at once, without negative prices and
without being moved by steps that something else held up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from engine.executor.cost_model import Hardware, ModelShape
from engine.executor.non_negative import robust_fit

THIS_MACHINE = "this machine"
FEWEST_STEPS = 8


class MeasuredStep(NamedTuple):
    """The sums over the rows of one step, as in `Batch`, and the seconds that it took."""

    num_tokens: int
    num_kv_read: int
    num_attention_pairs: int
    duration: float


class CalibrationError(ValueError):
    """Too little was measured; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Step times as a curve and two prices, in seconds. `knots` are numbers of tokens, `products` what their matrix
    products take, with everything that a step costs anyway; `errors` are by measured step (predicted - measured) /
    measured."""

    knots: tuple[int, ...]
    products: tuple[float, ...]
    kv_read_per_token: float
    compute_per_pair: float
    errors: tuple[float, ...]

    @classmethod
    def of(cls, steps: Sequence[MeasuredStep]) -> "Calibration":
        """Raises CalibrationError for fewer than `FEWEST_STEPS` steps, or times that are none."""
        if len(steps) < FEWEST_STEPS:
            raise CalibrationError(f"There are {len(steps)} measured steps; a calibration needs {FEWEST_STEPS}.")
        table = np.array(steps, float)
        tokens, kv_read, pairs, duration = table.T
        if not np.all(np.isfinite(table)) or not np.all(duration > 0):
            raise CalibrationError("A measured step took no time, or a time that is no number.")
        knots = _knots(tokens)
        matrix = np.column_stack((_ramps(tokens, knots), kv_read, pairs))
        *rises, kv_price, pair_price = robust_fit(matrix, duration)
        products = np.cumsum(rises)
        fitted = cls(tuple(knots), tuple(map(float, products)), float(kv_price), float(pair_price), ())
        predicted = [fitted.step_time(*step[:3]) for step in steps]
        errors = (np.array(predicted) - duration) / duration
        return cls(fitted.knots, fitted.products, fitted.kv_read_per_token, fitted.compute_per_pair, tuple(errors))

    def step_time(self, num_tokens: int, num_kv_read: int, num_attention_pairs: int) -> float:
        """Seconds of a step, as `CostModel.step_time`. Beyond the largest measured step the products go on at the price
        that a token has on average."""
        products = float(np.interp(num_tokens, self.knots, self.products))
        products += max(num_tokens - self.knots[-1], 0) * self.compute_per_token
        return products + num_kv_read * self.kv_read_per_token + num_attention_pairs * self.compute_per_pair

    @property
    def compute_per_token(self) -> float:
        """Seconds that one token more takes in a large step."""
        rise = self.products[-1] - self.products[0]
        return rise / (self.knots[-1] - self.knots[0]) if rise else self.products[-1] / self.knots[-1]

    @property
    def median_error(self) -> float:
        """The error that half of the measured steps stay below, as a fraction."""
        return float(np.median(np.abs(self.errors)))

    def hardware(self, model: ModelShape, memory: float) -> Hardware:
        """This machine as a card of the cost model: the bandwidth at which a step with one token reads the weights, and the
        FLOP/s at which a token more is computed. `memory` in bytes. Raises CalibrationError where one of them took no
        time."""
        if not (self.products[0] > 0 and self.compute_per_token > 0):
            raise CalibrationError("By these steps the matrix products take no time, which no card can do.")
        flops = 2 * model.num_params / self.compute_per_token
        return Hardware(THIS_MACHINE, memory, model.weights_bytes / self.products[0], flops, compute_efficiency=1.0)


def _knots(tokens: np.ndarray) -> list[int]:
    """The smallest and the largest number of tokens, and powers of two between which something was measured."""
    low, high = int(tokens.min()), int(tokens.max())
    knots = [low]
    power = 1
    while power < high:
        power *= 2
        if knots[-1] < power < high and np.any((tokens > knots[-1]) & (tokens <= power)):
            knots.append(power)
    return [*knots, high] if high > low else knots


def _ramps(tokens: np.ndarray, knots: list[int]) -> np.ndarray:
    """[steps, knots]: 1, and for each piece of the curve how much of it lies below the number of tokens, 0 to 1."""
    pieces = [np.clip((tokens - low) / (high - low), 0.0, 1.0) for low, high in pairwise(knots)]
    return np.column_stack([np.ones_like(tokens), *pieces])
