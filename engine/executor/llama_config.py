"""The shape of a Llama decoder and the numbers its layers need; which file they came from is no concern of it.

Names are those of Hugging Face's config.json. The parameters are listed by name and shape, so that every reader of a
file checks the same thing: each tensor is there, has its shape, and none is left over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.executor.model_error import ModelError

LIMITS = {
    "vocab_size": 1 << 20,
    "hidden_size": 1 << 15,
    "intermediate_size": 1 << 17,
    "num_layers": 256,
    "num_heads": 512,
    "num_kv_heads": 512,
    "head_dim": 512,
    "max_position": 1 << 24,
}
"""Largest values that are taken from a file, each well above any model that one machine can hold."""


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Sizes of a decoder with grouped-query attention, rotary positions and RMSNorm.

    `rope_factors` divides the rotary frequencies one by one (head_dim / 2 numbers, empty for 1): the form to which all
    fixed ways of stretching the context come down. `tied` means that the embedding is the output matrix too.
    Raises ModelError for sizes out of range.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    max_position: int
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-5
    tied: bool = True
    rope_factors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if not 1 <= value <= limit:
                raise ModelError(f"The model's {name} is {value}; it has to be from 1 to {limit}.")
        if self.num_heads % self.num_kv_heads:
            raise ModelError(f"The model's {self.num_heads} heads cannot be shared by {self.num_kv_heads} KV heads.")
        if self.head_dim % 2:
            raise ModelError(f"The model's head_dim is {self.head_dim}; rotary positions need an even one.")
        if len(self.rope_factors) not in (0, self.head_dim // 2):
            raise ModelError(
                f"The model has {len(self.rope_factors)} rotary factors for {self.head_dim // 2} frequencies."
            )
        if not (self.rope_theta > 0 and self.rms_norm_eps > 0 and all(factor > 0 for factor in self.rope_factors)):
            raise ModelError("The model's rope_theta, rms_norm_eps and rotary factors have to be above 0.")

    @property
    def num_parameters(self) -> int:
        """Weights of the decoder, a tied embedding counted once."""
        return sum(rows * (columns or 1) for _, (rows, columns) in self._sizes())

    def kv_bytes_per_token(self, itemsize: int) -> int:
        """Bytes of one token's keys and values in all layers, `itemsize` bytes a number."""
        return 2 * self.num_layers * self.num_kv_heads * self.head_dim * itemsize

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Every parameter by its Hugging Face name with its shape (a matrix is [out, in])."""
        return {name: (rows, columns) if columns else (rows,) for name, (rows, columns) in self._sizes()}

    def check(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Raises ModelError unless these are exactly the tensors of the model, each of its shape."""
        expected = self.shapes()
        for name, shape in shapes.items():
            if name not in expected:
                raise ModelError(f"The model holds {name!r:.80}, which a plain Llama decoder does not have.")
            if shape != expected[name]:
                raise ModelError(
                    f"The model's {name} has shape {list(shape)}; its sizes ask for {list(expected[name])}."
                )
        missing = [name for name in expected if name not in shapes]
        if missing:
            raise ModelError(f"The model lacks {len(missing)} of its tensors, {missing[0]} first.")

    def _sizes(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Names with (rows, columns); 0 columns stand for a vector."""
        hidden, inner = self.hidden_size, self.intermediate_size
        queries, keys = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        yield "model.embed_tokens.weight", (self.vocab_size, hidden)
        for layer in range(self.num_layers):
            prefix = f"model.layers.{layer}"
            yield f"{prefix}.input_layernorm.weight", (hidden, 0)
            yield f"{prefix}.self_attn.q_proj.weight", (queries, hidden)
            yield f"{prefix}.self_attn.k_proj.weight", (keys, hidden)
            yield f"{prefix}.self_attn.v_proj.weight", (keys, hidden)
            yield f"{prefix}.self_attn.o_proj.weight", (hidden, queries)
            yield f"{prefix}.post_attention_layernorm.weight", (hidden, 0)
            yield f"{prefix}.mlp.gate_proj.weight", (inner, hidden)
            yield f"{prefix}.mlp.up_proj.weight", (inner, hidden)
            yield f"{prefix}.mlp.down_proj.weight", (hidden, inner)
        yield "model.norm.weight", (hidden, 0)
        if not self.tied:
            yield "lm_head.weight", (self.vocab_size, hidden)
