"""Least squares in which no coefficient is below zero: nothing takes negative time.

The active-set method of Lawson and Hanson (Solving Least Squares Problems, chapter 23), for a handful of columns; and a
fit around it that outliers do not move: rows that are far off count less, the further the less (Huber's weights, with
the median of the residuals as the yardstick).
"""

import numpy as np

TURNS = 20


def non_negative_least_squares(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """x >= 0 that minimises |matrix x - target|; matrix [rows, columns], target [rows]."""
    num_columns = matrix.shape[1]
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    scaled = matrix / scale
    x, used = np.zeros(num_columns), np.zeros(num_columns, bool)
    tolerance = 1e-10 * max(float(np.abs(scaled.T @ target).max(initial=0.0)), 1e-300)
    for _ in range(10 * num_columns):
        gradient = np.where(used, -np.inf, scaled.T @ (target - scaled @ x))
        best = int(gradient.argmax())
        if gradient[best] <= tolerance:
            break
        used[best] = True
        x = _without_negative(scaled, target, x, used)
    return x / scale


def _without_negative(matrix: np.ndarray, target: np.ndarray, x: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The best fit of the `used` columns, from which those leave that would go below zero."""
    while used.any():
        wanted = np.zeros_like(x)
        wanted[used] = np.linalg.lstsq(matrix[:, used], target, rcond=None)[0]
        below = used & (wanted <= 0)
        if not below.any():
            return wanted
        step = float(np.min(x[below] / np.maximum(x[below] - wanted[below], 1e-300)))
        x = np.where(used, x + step * (wanted - x), 0.0)
        used &= ~(below & (x <= 1e-12 * max(float(x.max()), 1e-300)))
        x[~used] = 0.0
    return np.zeros_like(x)


def robust_fit(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """x >= 0 so that matrix x is close to `target` (> 0) in proportion, for most rows."""
    rows, ones = matrix / target[:, None], np.ones(len(target))
    weights = ones
    x = np.zeros(matrix.shape[1])
    for _ in range(TURNS):
        root = np.sqrt(weights)
        x = non_negative_least_squares(rows * root[:, None], ones * root)
        distance = np.abs(rows @ x - 1.0)
        yardstick = max(1.5 * 1.4826 * float(np.median(distance)), 1e-9)
        weights = np.minimum(1.0, yardstick / np.maximum(distance, 1e-12))
    return x
