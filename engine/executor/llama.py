"""A Llama decoder over a ragged batch: the tokens of all sequences of a step, flattened into one list of rows.

Matrix products do not care which sequence a row belongs to; only attention does. So the decoder hands the queries, keys
and values of each layer to `attend`, which knows the block tables, writes the KV and reads it back. Weights are laid out
once: q, k and v are one matrix, gate and up another.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import torch
from torch.nn.functional import rms_norm, silu

from engine.executor.llama_config import LlamaConfig
from engine.executor.rotary import Rotary, turn
from engine.executor.weight_matrix import WeightMatrix, weight_matrix


class Attend(Protocol):
    """What the decoder asks of attention, once a layer."""

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Keep k and v [T, num_kv_heads, head_dim]; q [T, num_heads, head_dim] attends; returns the shape of q."""


class Layer(NamedTuple):
    """Weights of one layer."""

    attention_norm: torch.Tensor
    qkv: WeightMatrix
    output: WeightMatrix
    mlp_norm: torch.Tensor
    gate_up: WeightMatrix
    down: WeightMatrix


class Llama:
    """The decoder with its weights in one dtype on one device."""

    def __init__(
        self,
        config: LlamaConfig,
        tensors: Mapping[str, torch.Tensor],
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> None:
        """`tensors` by Hugging Face names; each is asked for once, so a mapping may read them as they are needed."""
        self.config = config
        self.dtype = dtype
        self.device = torch.device(device)
        self.rotary = Rotary(config, dtype, self.device)

        def vector(name: str) -> torch.Tensor:
            return tensors[name].to(self.device, dtype)

        def matrix(*names: str) -> WeightMatrix:
            parts = [vector(name) for name in names]
            return weight_matrix(parts[0] if len(parts) == 1 else torch.cat(parts))

        self.layers = [_layer(vector, matrix, f"model.layers.{index}.") for index in range(config.num_layers)]
        self.norm = vector("model.norm.weight")
        self.embedding = vector("model.embed_tokens.weight")
        self.head = weight_matrix(self.embedding) if config.tied else matrix("lm_head.weight")

    @torch.inference_mode()
    def forward(
        self, token_ids: torch.Tensor, positions: torch.Tensor, attend: Attend, last: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Logits [S, vocab_size] of the rows `last` [S], of every row when it is None.

        `token_ids` and `positions` are int64 [T]; a position is the place of the token in its own sequence.
        """
        num_rows, num_heads, head_dim = len(token_ids), self.config.num_heads, self.config.head_dim
        num_turned = num_heads + self.config.num_kv_heads
        cos, sin = self.rotary.at(positions)
        x = self.embedding[token_ids]
        for index, layer in enumerate(self.layers):
            heads = layer.qkv(self._normed(x, layer.attention_norm)).view(num_rows, -1, head_dim)
            turned = turn(heads[:, :num_turned], cos, sin)
            attended = attend(index, turned[:, :num_heads], turned[:, num_heads:], heads[:, num_turned:])
            x = x + layer.output(attended.reshape(num_rows, -1))
            gate, up = layer.gate_up(self._normed(x, layer.mlp_norm)).chunk(2, dim=-1)
            x = x + layer.down(silu(gate) * up)
        if last is not None:
            x = x[last]
        return self.head(self._normed(x, self.norm))

    def _normed(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Rows scaled to a root mean square of 1, then by `weight`."""
        return rms_norm(x, weight.shape, weight, self.config.rms_norm_eps)


def _layer(vector: Callable[[str], torch.Tensor], matrix: Callable[..., WeightMatrix], prefix: str) -> Layer:
    return Layer(
        attention_norm=vector(prefix + "input_layernorm.weight"),
        qkv=matrix(*(f"{prefix}self_attn.{name}_proj.weight" for name in "qkv")),
        output=matrix(prefix + "self_attn.o_proj.weight"),
        mlp_norm=vector(prefix + "post_attention_layernorm.weight"),
        gate_up=matrix(prefix + "mlp.gate_proj.weight", prefix + "mlp.up_proj.weight"),
        down=matrix(prefix + "mlp.down_proj.weight"),
    )
