"""What attention needs to know about a step, and what an implementation of it promises.

All tokens of a step stand behind each other in one ragged batch. A row of it is the part of one sequence: with block
size 4, a context of 10 tokens and block table [7, 2, 5], token 9 is stored in slot 5 x 4 + 1 = 21. The plan is made once
a step and serves all layers. How the sums are done is the business of `attention_torch` and `attention_triton`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import torch

    from engine.executor.kv_tensors import KVTensors


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """Rows of one step: row r has the queries query_start[r] .. query_start[r + 1] - 1 of T tokens.

    lengths       tokens of context of each row, its own new ones included
    block_tables  the blocks that hold this context, row by row
    positions     [T] place of each token in its sequence
    slot_mapping  [T] slot in which its key and value are stored: block x block size + offset
    """

    block_size: int
    query_start: list[int]
    lengths: list[int]
    block_tables: list[list[int]]
    positions: np.ndarray
    slot_mapping: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, list[int]]], block_size: int) -> "AttentionPlan":
        """From rows (start, num_tokens, block table): tokens start .. start + num_tokens - 1 are new."""
        query_start, lengths, tables = [0], [], []
        positions: list[np.ndarray] = []
        slots: list[np.ndarray] = []
        for start, num_tokens, table in rows:
            end = start + num_tokens
            held = table[: -(-end // block_size)]
            if len(held) * block_size < end:
                raise ValueError(f"a row of {end} tokens has {len(held)} blocks of {block_size}; allocate them first.")
            places = np.arange(start, end)
            query_start.append(query_start[-1] + num_tokens)
            lengths.append(end)
            tables.append(held)
            positions.append(places)
            slots.append(np.asarray(held)[places // block_size] * block_size + places % block_size)
        return cls(block_size, query_start, lengths, tables, np.concatenate(positions), np.concatenate(slots))

    @property
    def num_rows(self) -> int:
        return len(self.lengths)

    @property
    def num_tokens(self) -> int:
        return self.query_start[-1]

    def num_queries(self, row: int) -> int:
        return self.query_start[row + 1] - self.query_start[row]


class PagedAttention(Protocol):
    """Attention of one step, made from the KV tensors and a plan."""

    def __init__(self, kv: "KVTensors", plan: AttentionPlan) -> None: ...

    def __call__(self, layer: int, q: "torch.Tensor", k: "torch.Tensor", v: "torch.Tensor") -> "torch.Tensor":
        """Store `k`, `v` [T, Hkv, D] of the new tokens in the blocks of `layer`, then let each of the queries
        `q` [T, Hq, D] attend to its sequence up to its own place. Returns [T, Hq, D]; query head h reads the
        KV head h // (Hq / Hkv)."""


def attention_for(device: str) -> type[PagedAttention]:
    """The implementation for a device: Triton kernels on CUDA, torch elsewhere."""
    if device.startswith("cuda"):
        from engine.executor.attention_triton import TritonAttention

        return TritonAttention
    from engine.executor.attention_torch import TorchAttention

    return TorchAttention
