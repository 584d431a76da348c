"""Rotary positions (RoPE): each pair of numbers of a head is turned by an angle that grows with the position.

The pair of dimension i is (i, i + head_dim / 2), as Hugging Face lays them out, and turns by position / theta^(2i / head_dim).
With the sine's sign folded in, turning is two products: x * cos + (x with its halves swapped) * sin.
"""

import torch

from engine.executor.llama_config import LlamaConfig

FIRST_SIZE = 1 << 15


class Rotary:
    """Cosines and sines by position: all that the model knows, or as many as were needed so far."""

    def __init__(self, config: LlamaConfig, dtype: torch.dtype, device: torch.device) -> None:
        self.config = config
        self.dtype = dtype
        self.device = device
        self.cos, self.sin = self._tables(min(FIRST_SIZE, config.max_position))

    def at(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines [T, 1, head_dim] of these positions, each below the model's `max_position`."""
        if len(self.cos) < self.config.max_position:  # asking a GPU for the furthest makes it wait
            furthest = int(positions.max())
            if furthest >= len(self.cos):
                self.cos, self.sin = self._tables(min(2 * furthest, self.config.max_position))
        return self.cos[positions], self.sin[positions]

    def _tables(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Angles in float32 whatever the dtype of the model, as in the models' reference code."""
        config = self.config
        exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float32, device=self.device) / config.head_dim
        frequencies = 1.0 / (config.rope_theta**exponents)
        if config.rope_factors:
            frequencies = frequencies / torch.tensor(config.rope_factors, dtype=torch.float32, device=self.device)
        angles = torch.outer(torch.arange(size, dtype=torch.float32, device=self.device), frequencies)
        cos, sin = angles.cos(), angles.sin()
        return (
            torch.cat((cos, cos), dim=-1).to(self.dtype).unsqueeze(1),
            torch.cat((-sin, sin), dim=-1).to(self.dtype).unsqueeze(1),
        )


def turn(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Heads [T, H, D] turned by the angles of their rows."""
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, -1), sin)
