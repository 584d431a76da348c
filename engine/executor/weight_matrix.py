"""A weight matrix laid out once for the products that every step makes with it.

A decode step multiplies few rows by all weights, so it is bound by reading them. On a CPU oneDNN reads its own blocked
layout about twice as fast as rows ([out, in]), and for some rows at once hardly slower than for one; it is what torch's
compiler packs weights into as well. Elsewhere, and for float64, the rows stay as they are.
"""

from typing import Protocol

import torch
from torch.nn.functional import linear

PACKED_TYPES = (torch.float32, torch.bfloat16)
PACKED_ROWS = 32
"""Rows of a typical step, for which oneDNN picks its layout; other numbers work as well."""


class WeightMatrix(Protocol):
    """A matrix [out, in] that rows can be multiplied with."""

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows [T, in] times the transposed matrix: [T, out]."""


class PlainMatrix:
    """Kept row by row; works for each dtype and device."""

    def __init__(self, weight: torch.Tensor) -> None:
        self._weight = weight

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return linear(rows, self._weight)


class PackedMatrix:
    """Kept in oneDNN's layout; the weight it was made of can be freed."""

    def __init__(self, weight: torch.Tensor) -> None:
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, PACKED_ROWS)
        self._multiply = torch.ops.mkldnn._linear_pointwise.default

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return self._multiply(rows, self._weight, None, "none", [], "")


def weight_matrix(weight: torch.Tensor) -> WeightMatrix:
    """The faster of the two that can hold this weight [out, in]."""
    return PackedMatrix(weight) if can_pack(weight.dtype, weight.device) else PlainMatrix(weight)


def can_pack(dtype: torch.dtype, device: torch.device) -> bool:
    """Whether oneDNN is there for this dtype and device."""
    return (
        device.type == "cpu"
        and dtype in PACKED_TYPES
        and torch.backends.mkldnn.is_available()
        and (dtype == torch.float32 or torch.ops.mkldnn._is_mkldnn_bf16_supported())
    )
