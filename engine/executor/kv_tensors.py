"""The memory behind the block ids: one KV tensor a layer, allocated once, and a smaller one in host memory for swaps.

Block ids are those of the KV manager: the pool of the device first (block 0 included, even where nobody gets it), then
the pool of the host. Whoever holds which block is not known here.
"""

from collections.abc import Sequence
from typing import Protocol

import torch

from engine.executor.memory import free_memory
from engine.settings import Settings, SettingsError


class KVShape(Protocol):
    """What a model says about its keys and values."""

    @property
    def num_layers(self) -> int: ...

    @property
    def num_kv_heads(self) -> int: ...

    @property
    def head_dim(self) -> int: ...


class KVTensors:
    """`layers[i]` is [2, num_blocks, block_size, num_kv_heads, head_dim]: keys, then values, of the device pool."""

    def __init__(self, shape: KVShape, settings: Settings, dtype: torch.dtype, device: torch.device | str) -> None:
        if not settings.has_blocks:
            raise SettingsError(f"kv_manager {settings.kv_manager!r} has no blocks; choose 'paged' or 'radix'.")
        if settings.pool_blocks is None:
            raise SettingsError("the pool of a live engine is real memory and needs a size; set num_blocks.")
        self.block_size = settings.block_size
        self.num_blocks = settings.block_range[1]
        per_block = (shape.num_layers, 2, settings.block_size, shape.num_kv_heads, shape.head_dim)
        block_bytes = torch.Size(per_block).numel() * dtype.itemsize
        self.num_bytes = (self.num_blocks + settings.num_host_blocks) * block_bytes
        device = torch.device(device)
        on_host = settings.num_host_blocks + (self.num_blocks if device.type == "cpu" else 0)
        _check(on_host * block_bytes, free_memory(), "of memory", settings)
        if device.type == "cuda":
            _check(self.num_blocks * block_bytes, torch.cuda.mem_get_info(device)[0], "on the GPU", settings)
        self._device = self._allocate(per_block, self.num_blocks, dtype, device)
        self._host = self._allocate(per_block, settings.num_host_blocks, dtype, torch.device("cpu"))
        self.layers = list(self._device)

    def copy(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Copy whole blocks (source, target) in all layers, one pair after the other; either pool at either end."""
        for source, target in pairs:
            self._block(target).copy_(self._block(source))

    def _block(self, block: int) -> torch.Tensor:
        if block < self.num_blocks:
            return self._device[:, :, block]
        return self._host[:, :, block - self.num_blocks]

    @staticmethod
    def _allocate(
        per_block: tuple[int, ...], num_blocks: int, dtype: torch.dtype, device: torch.device
    ) -> torch.Tensor:
        num_layers, two, *block = per_block
        return torch.zeros(num_layers, two, num_blocks, *block, dtype=dtype, device=device)


def _check(wanted: int, there: int | None, where: str, settings: Settings) -> None:
    if there is not None and wanted > there:
        raise SettingsError(
            f"{settings.block_range[1] + settings.num_host_blocks} KV blocks of {settings.block_size} tokens need "
            f"{_size(wanted)} {where} and {_size(there)} are free; set a smaller num_blocks."
        )


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 1e8 else f"{num_bytes / 1e6:.1f} MB"
