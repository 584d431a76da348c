"""A Llama decoder out of a GGUF file: its sizes from the metadata, its tensors under Hugging Face's names.

llama.cpp turns neighbouring pairs (0, 1), (2, 3), ... where Hugging Face turns (i, i + head_dim / 2), so its converter
reorders the rows of q and k within each head. Head of 4 rows:

    Hugging Face  a0 a1 b0 b1   (pairs: a0 b0, a1 b1)      GGUF  a0 b0 a1 b1

Reading undoes that. A file without an output matrix uses the embedding for it ("tied").
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from engine.executor.gguf_file import GGUFFile
from engine.executor.llama_config import LIMITS, LlamaConfig
from engine.executor.model_error import ModelError

OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ROPE_FACTORS = "rope_freqs.weight"


def gguf_config(file: GGUFFile) -> LlamaConfig:
    """The sizes of the decoder in a GGUF file. Raises ModelError for another architecture or odd values."""
    metadata = file.metadata
    architecture = metadata.get("general.architecture")
    if architecture != "llama":
        raise ModelError(f"{file.path.name} holds a {architecture!r:.40} model; only Llama models can be run.")
    if metadata.get("llama.expert_count", 0):
        raise ModelError(f"{file.path.name} is a mixture of experts; only dense Llama models can be run.")

    def number(key: str, default: Any = None, kind: type = int) -> Any:
        value = metadata.get(f"llama.{key}", default)
        if type(value) is not kind:
            raise ModelError(f"{file.path.name} gives llama.{key} as {value!r:.40}; it has to be a number.")
        return value

    hidden, heads = number("embedding_length"), number("attention.head_count")
    head_dim = number("attention.key_length", hidden // max(1, heads))
    if number("rope.dimension_count", head_dim) != head_dim:
        raise ModelError(f"{file.path.name} turns only a part of each head; all of it has to be.")
    embedding = file.tensors.get("token_embd.weight")
    return LlamaConfig(
        vocab_size=embedding.shape[0] if embedding else 0,
        hidden_size=hidden,
        intermediate_size=number("feed_forward_length"),
        num_layers=number("block_count"),
        num_heads=heads,
        num_kv_heads=number("attention.head_count_kv", heads),
        head_dim=head_dim,
        max_position=number("context_length"),
        rope_theta=number("rope.freq_base", 10_000.0, float),
        rms_norm_eps=number("attention.layer_norm_rms_epsilon", kind=float),
        tied="output.weight" not in file.tensors,
        rope_factors=_rope_factors(file, head_dim),
    )


class GGUFTensors(Mapping[str, torch.Tensor]):
    """The tensors of the file by Hugging Face name, float32; each is dequantised when it is asked for."""

    def __init__(self, file: GGUFFile, config: LlamaConfig) -> None:
        """Raises ModelError unless the file holds the tensors of the decoder, each of its shape."""
        self._file = file
        self._config = config
        self._stored = {_name(stored): stored for stored in file.tensors if stored != ROPE_FACTORS}
        config.check({name: file.tensors[stored].shape for name, stored in self._stored.items()})

    def __getitem__(self, name: str) -> torch.Tensor:
        values = self._file.read(self._stored[name])
        if name.endswith("q_proj.weight"):
            values = to_halves(values, self._config.num_heads)
        elif name.endswith("k_proj.weight"):
            values = to_halves(values, self._config.num_kv_heads)
        return torch.from_numpy(values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def to_halves(rows: np.ndarray, num_heads: int) -> np.ndarray:
    """Rows [num_heads * head_dim, ...] from GGUF's neighbouring pairs to Hugging Face's two halves."""
    pairs = rows.reshape(num_heads, -1, 2, *rows.shape[1:])
    return pairs.swapaxes(1, 2).reshape(rows.shape)


def to_neighbours(rows: np.ndarray, num_heads: int) -> np.ndarray:
    """The way back: what a converter to GGUF does to q and k."""
    halves = rows.reshape(num_heads, 2, -1, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def _rope_factors(file: GGUFFile, head_dim: int) -> tuple[float, ...]:
    """The factors that stretch the rotary frequencies; Llama 3 files store them as a tensor."""
    scaling = file.metadata.get("llama.rope.scaling.type", "none")
    if scaling == "linear":
        factor = file.metadata.get("llama.rope.scaling.factor")
        if not isinstance(factor, float):
            raise ModelError(f"{file.path.name} gives llama.rope.scaling.factor as {factor!r:.40}, not a number.")
        return (factor,) * (min(head_dim, LIMITS["head_dim"]) // 2)
    if scaling != "none":
        raise ModelError(f"{file.path.name} stretches its context by {scaling!r:.40}; linear and llama3 can be run.")
    stored = file.tensors.get(ROPE_FACTORS)
    if stored is None:
        return ()
    if stored.shape != (head_dim // 2,):
        raise ModelError(f"{file.path.name} holds {stored.shape} rotary factors; it needs {head_dim // 2}.")
    return tuple(file.read(ROPE_FACTORS).tolist())


def _name(stored: str) -> str:
    """Hugging Face's name of a tensor; one that has none keeps its own and is refused by the check."""
    if stored in OUTER:
        return OUTER[stored]
    match stored.split("."):
        case ["blk", layer, part, "weight"] if part in INNER:
            return f"model.layers.{layer}.{INNER[part]}.weight"
    return stored
