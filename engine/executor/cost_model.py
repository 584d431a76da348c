"""How long a step takes and how much KV fits: a roofline over a few cards and model shapes.

A step moves all weights and the KV of its sequences once, and computes its tokens; the slower of the two decides, plus a
fixed overhead. The fixed part and the achievable share of the peak are calibrated to OPT-13B on an A100-40GB, where one
decode with little context takes 18.2 ms. The KV of a token is a key and a value, per layer and KV head, of two bytes each.
Shapes and cards are data: a new one is an entry in `MODELS` or `HARDWARE`.
"""

from dataclasses import dataclass
from math import floor

from engine.settings import Settings, SettingsError

BYTES_PER_VALUE = 2  # FP16 or BF16
STEP_OVERHEAD = 1.5e-3


@dataclass(frozen=True, slots=True)
class Hardware:
    """One card: memory in bytes, bandwidth in bytes/s, dense FP16 peak in FLOP/s."""

    name: str
    memory: float
    bandwidth: float
    peak_flops: float
    compute_efficiency: float = 0.6

    @property
    def achievable_flops(self) -> float:
        """FLOP/s that large matrix products reach."""
        return self.compute_efficiency * self.peak_flops

    @property
    def ridge_point(self) -> float:
        """FLOPs per byte from which on a step is bound by compute instead of bandwidth."""
        return self.achievable_flops / self.bandwidth


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder: parameters, bytes of its weights, and the shape of its attention."""

    name: str
    num_params: float
    weights_bytes: float
    num_layers: int
    hidden_size: int
    num_kv_heads: int
    head_dim: int

    @property
    def kv_bytes_per_token(self) -> int:
        return 2 * self.num_layers * self.num_kv_heads * self.head_dim * BYTES_PER_VALUE


HARDWARE: dict[str, Hardware] = {
    card.name: card
    for card in (
        Hardware("A100-40GB", memory=40e9, bandwidth=1.555e12, peak_flops=312e12),
        Hardware("H100-80GB", memory=80e9, bandwidth=3.35e12, peak_flops=989e12),
    )
}

MODELS: dict[str, ModelShape] = {
    shape.name: shape
    for shape in (
        ModelShape("OPT-13B", 13e9, 26e9, num_layers=40, hidden_size=5_120, num_kv_heads=40, head_dim=128),
        ModelShape("GPT-3-175B", 175e9, 350e9, num_layers=96, hidden_size=12_288, num_kv_heads=96, head_dim=128),
        ModelShape("LLaMA-2-7B", 6.75e9, 13.5e9, num_layers=32, hidden_size=4_096, num_kv_heads=32, head_dim=128),
        ModelShape("LLaMA-2-70B", 69e9, 138e9, num_layers=80, hidden_size=8_192, num_kv_heads=8, head_dim=128),
        ModelShape("Llama-3-8B", 8e9, 16e9, num_layers=32, hidden_size=4_096, num_kv_heads=8, head_dim=128),
        ModelShape("SmolLM2-135M", 134.5e6, 269e6, num_layers=30, hidden_size=576, num_kv_heads=3, head_dim=64),
    )
}


@dataclass(frozen=True, slots=True)
class CostModel:
    """Step times as five prices in seconds: reading all weights, reading the KV of one token, the matrix products of one
    token, one attended pair of positions, and the overhead of a step."""

    weights_read: float
    kv_read_per_token: float
    compute_per_token: float
    compute_per_pair: float
    overhead: float

    @classmethod
    def of(cls, settings: Settings) -> "CostModel":
        """The prices on `num_devices` cards, which share weights, KV and computation evenly.

        Raises SettingsError for a card or a model that is not known.
        """
        if settings.step_time is not None:
            return cls(0.0, 0.0, 0.0, 0.0, overhead=settings.step_time)
        card, shape, cards = hardware(settings.hardware), model(settings.model), settings.num_devices
        return cls(
            weights_read=shape.weights_bytes / (cards * card.bandwidth),
            kv_read_per_token=shape.kv_bytes_per_token / (cards * card.bandwidth),
            compute_per_token=2 * shape.num_params / (cards * card.achievable_flops),
            compute_per_pair=4 * shape.num_layers * shape.hidden_size / (cards * card.achievable_flops),
            overhead=STEP_OVERHEAD,
        )

    def step_time(self, num_tokens: int, num_kv_read: int, num_attention_pairs: int) -> float:
        """Seconds of a step that computes `num_tokens`, reads the KV of `num_kv_read` tokens and attends to
        `num_attention_pairs` pairs of positions.

        A row that computes n tokens from position `start` on reads start + n tokens; see `attention_pairs`.
        """
        return (
            max(
                self.weights_read + num_kv_read * self.kv_read_per_token,
                num_tokens * self.compute_per_token + num_attention_pairs * self.compute_per_pair,
            )
            + self.overhead
        )


def attention_pairs(start: int, num_tokens: int) -> int:
    """Pairs of a causal row: token number i (from 1) attends to i tokens, for i = start + 1 .. start + num_tokens."""
    return num_tokens * start + num_tokens * (num_tokens + 1) // 2


def kv_capacity_tokens(hardware_name: str, model_name: str, workspace: float = 0.10, num_devices: int = 1) -> int:
    """Tokens whose KV fits beside the weights when `workspace` of the memory stays for everything else.

    Raises SettingsError when not even the weights fit.
    """
    card, shape = hardware(hardware_name), model(model_name)
    usable = num_devices * card.memory * (1 - workspace)
    if usable <= shape.weights_bytes:
        raise SettingsError(
            f"{model_name} needs {shape.weights_bytes / 1e9:g} GB for its weights, but {num_devices} x {hardware_name} "
            f"leave {usable / 1e9:g} GB beside a workspace of {workspace:.0%}; raise num_devices."
        )
    return floor((usable - shape.weights_bytes) / shape.kv_bytes_per_token)


def hardware(name: str) -> Hardware:
    """The card of this name. Raises SettingsError."""
    if name not in HARDWARE:
        raise SettingsError(f"hardware is {name!r}; choose one of {', '.join(HARDWARE)}.")
    return HARDWARE[name]


def model(name: str) -> ModelShape:
    """The model shape of this name. Raises SettingsError."""
    if name not in MODELS:
        raise SettingsError(f"model is {name!r}; choose one of {', '.join(MODELS)}.")
    return MODELS[name]
