"""A Llama of a few thousand random weights, and answers from it without any paging: the reference of the live engine.

`answer` computes the whole sequence again for every token, so there is no KV cache that could be wrong.
"""

from dataclasses import dataclass, field

import torch
from torch.nn.functional import embedding, linear, silu, softmax

from engine.decoding.sampling import Draw, sample_token
from engine.request import SamplingParams

VOCABULARY = 97


@dataclass(frozen=True)
class TinyShape:
    num_layers: int = 2
    num_heads: int = 6
    num_kv_heads: int = 2
    head_dim: int = 8

    @property
    def width(self) -> int:
        return self.num_heads * self.head_dim


@dataclass
class TinyLlama:
    """What the executor needs of a model; the same seed gives the same weights."""

    config: TinyShape = field(default_factory=TinyShape)
    dtype: torch.dtype = torch.float32
    seed: int = 0
    num_computed_tokens: int = 0
    """Tokens that went through `forward` so far."""

    device = torch.device("cpu")

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(self.seed)
        shape, width = self.config, self.config.width

        def weights(*size: int) -> torch.Tensor:
            return torch.randn(*size, generator=generator, dtype=torch.float64).to(self.dtype) / size[-1] ** 0.5

        self.embedding = weights(VOCABULARY, width) * 3
        self.head = weights(VOCABULARY, width) * 3
        self.qkv = [
            weights((shape.num_heads + 2 * shape.num_kv_heads) * shape.head_dim, width) for _ in range(shape.num_layers)
        ]
        self.out = [weights(width, width) for _ in range(shape.num_layers)]
        self.gate_up = [weights(4 * width, width) for _ in range(shape.num_layers)]
        self.down = [weights(width, 2 * width) for _ in range(shape.num_layers)]

    def forward(self, token_ids, positions, attend, last):
        self.num_computed_tokens += len(token_ids)
        shape = self.config
        heads = (shape.num_heads, shape.num_kv_heads, shape.num_kv_heads)
        x = embedding(token_ids, self.embedding)
        for layer in range(shape.num_layers):
            qkv = linear(_norm(x), self.qkv[layer]).view(len(x), -1, shape.head_dim)
            q, k, v = qkv.split(heads, dim=1)
            attended = attend(layer, _turn(q, positions), _turn(k, positions), v)
            x = x + linear(attended.reshape(len(x), -1), self.out[layer])
            gate, up = linear(_norm(x), self.gate_up[layer]).chunk(2, dim=-1)
            x = x + linear(silu(gate) * up, self.down[layer])
        return linear(_norm(x[last]), self.head)


def dense_attention(layer, q, k, v):
    """Causal attention of one whole sequence, written as the formula stands: q [T, Hq, D], k and v [T, Hkv, D]."""
    repeats = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(repeats, dim=1), v.repeat_interleave(repeats, dim=1)
    scores = torch.einsum("ihd,jhd->hij", q, k) / q.shape[-1] ** 0.5
    ahead = torch.ones(len(q), len(q), dtype=torch.bool).triu(1)
    return torch.einsum("hij,jhd->ihd", softmax(scores.masked_fill(ahead, float("-inf")), -1), v)


def all_logits(model, token_ids) -> torch.Tensor:
    """Logits [T, vocabulary] after each token of one sequence."""
    places = torch.arange(len(token_ids))
    return model.forward(torch.tensor(token_ids), places, dense_attention, places)


def answer(model, prompt, params: SamplingParams, sample: int = 0) -> list[int]:
    """Tokens after `prompt`, every one from scratch."""
    ids = list(prompt)
    while len(ids) < len(prompt) + params.max_tokens:
        logits = all_logits(model, ids)[-1].float().numpy()
        ids.append(sample_token(logits, Draw(params, sample, len(ids))))
    return ids[len(prompt) :]


def _norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


def _turn(x, positions):
    """Rotary embedding: pairs (i, i + D/2) turn by position / 10000^(2i/D)."""
    half = x.shape[-1] // 2
    angles = positions.to(x.dtype)[:, None] * 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    left, right = x[..., :half], x[..., half:]
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)
