"""A folder as Hugging Face saves a model: config.json, tokenizer.json, and weights in one or several safetensors files.

Safetensors hold numbers and nothing else. The older `pytorch_model.bin` is a pickle, which runs code when it is read, so
it never is. Tensors are read one by one, when they are asked for.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from engine.executor.llama_config import LIMITS, LlamaConfig
from engine.executor.model_error import ModelError

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
MAX_JSON = 64 << 20
MAX_SHARDS = 1000
MAX_NUMBER = 1e30
"""Numbers of a config.json lie below it and, where one divides by them, above its reciprocal."""
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


class FolderTensors(Mapping[str, torch.Tensor]):
    """The tensors of a folder by name, in the dtype in which they are stored."""

    def __init__(self, folder: Path, config: LlamaConfig) -> None:
        """Raises ModelError unless the files hold the tensors of the decoder, each of its shape."""
        self._open: dict[str, Any] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        for shard in _shards(folder):
            try:
                file = safe_open(shard, framework="pt")
                names = list(file.keys())
                shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in names}
            except (SafetensorError, OSError) as problem:
                raise ModelError(f"{shard.name} is damaged or cannot be read: {str(problem)[:120]}.") from None
            self._open |= dict.fromkeys(names, file)
        for name in shapes.copy():
            if name.endswith("rotary_emb.inv_freq") or (config.tied and name == "lm_head.weight"):
                del shapes[name], self._open[name]  # computed from the config; the embedding once more
        config.check(shapes)

    def __getitem__(self, name: str) -> torch.Tensor:
        try:
            tensor = self._open[name].get_tensor(name)
        except SafetensorError as problem:
            raise ModelError(f"{name} cannot be read: {str(problem)[:120]}.") from None
        if tensor.dtype not in FLOATS:
            raise ModelError(f"{name} is stored as {tensor.dtype}; convert the model to float32, float16 or bfloat16.")
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)


def folder_config(folder: Path) -> LlamaConfig:
    """The sizes in config.json. Raises ModelError for another kind of model or odd values."""
    values = read_json(folder / "config.json")
    kind = values.get("model_type")
    if kind != "llama":
        raise ModelError(f"config.json describes a {kind!r:.40} model; only 'llama' can be run.")
    if values.get("attention_bias") or values.get("mlp_bias") or values.get("hidden_act", "silu") != "silu":
        raise ModelError("config.json asks for biases or another activation than 'silu', which a plain Llama has not.")

    def number(key: str, default: Any = None) -> Any:
        value = values.get(key)
        value = default if value is None else value
        if type(value) is not int:
            raise ModelError(f"config.json gives {key} as {value!r:.40}; it has to be a number.")
        return value

    hidden, heads = number("hidden_size"), number("num_attention_heads")
    head_dim = number("head_dim", hidden // max(1, heads))
    rope = values.get("rope_parameters") or values.get("rope_scaling") or {}
    if not isinstance(rope, dict):
        raise ModelError(f"config.json gives rope_scaling as {rope!r:.40}; it has to be an object.")
    rope = {"rope_theta": values.get("rope_theta"), **rope}

    def real(key: str, value: Any, default: float) -> float:
        value = default if value is None else value
        if type(value) not in (int, float) or not abs(value) < MAX_NUMBER:
            raise ModelError(f"config.json gives {key} as {value!r:.40}; it has to be a number below {MAX_NUMBER:g}.")
        return float(value)

    return LlamaConfig(
        vocab_size=number("vocab_size"),
        hidden_size=hidden,
        intermediate_size=number("intermediate_size"),
        num_layers=number("num_hidden_layers"),
        num_heads=heads,
        num_kv_heads=number("num_key_value_heads", heads),
        head_dim=head_dim,
        max_position=number("max_position_embeddings"),
        rope_theta=real("rope_theta", rope.get("rope_theta"), 10_000.0),
        rms_norm_eps=real("rms_norm_eps", values.get("rms_norm_eps"), 1e-6),
        tied=values.get("tie_word_embeddings", False) is True,
        rope_factors=rope_factors(rope, min(head_dim, LIMITS["head_dim"])),
    )


def rope_factors(rope: Mapping[str, Any], head_dim: int) -> tuple[float, ...]:
    """What divides each rotary frequency: one number for "linear"; for "llama3" long waves are stretched, short ones stay.

    Raises ModelError for another kind of stretching.
    """
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return ()
    kinds = {"linear": ("factor",), "llama3": ("factor", "low_freq_factor", "high_freq_factor")}
    keys = kinds.get(kind) if isinstance(kind, str) else None
    if keys is None:
        raise ModelError(f"config.json stretches the context by {kind!r:.40}; default, linear and llama3 can be run.")
    numbers: list[Any] = [rope.get(key) for key in (*keys, "rope_theta")]
    if not all(type(number) in (int, float) and 1 / MAX_NUMBER < number < MAX_NUMBER for number in numbers):
        given = ", ".join(f"{number!r:.40}" for number in numbers)
        raise ModelError(
            f"config.json gives {', '.join(keys)} and rope_theta as {given}; numbers above 0 are needed, at most "
            f"{MAX_NUMBER:g}."
        )
    if kind == "linear":
        return (float(numbers[0]),) * (head_dim // 2)
    factor, low, high, theta = (float(number) for number in numbers)
    context = rope.get("original_max_position_embeddings")
    if type(context) is not int or not 1 <= context <= LIMITS["max_position"] or high <= low:
        raise ModelError(
            "config.json describes llama3 rotary positions with crossed bounds, or original_max_position_embeddings "
            f"is no whole number from 1 to {LIMITS['max_position']}."
        )
    factors = []
    for pair in range(head_dim // 2):
        waves = context * theta ** (-2 * pair / head_dim) / (2 * torch.pi)
        kept = min(1.0, max(0.0, (waves - low) / (high - low)))
        factors.append(1 / ((1 - kept) / factor + kept))
    return tuple(factors)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file. Raises ModelError."""
    try:
        if path.stat().st_size > MAX_JSON:
            raise ModelError(f"{path.name} has {path.stat().st_size} bytes; at most {MAX_JSON} can be read.")
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        if isinstance(problem, ModelError):
            raise
        reason = problem.strerror.lower() if isinstance(problem, OSError) and problem.strerror else "it is not JSON"
        raise ModelError(f"{path.name} cannot be read: {reason}.") from None
    if not isinstance(values, dict):
        raise ModelError(f"{path.name} has to be a JSON object.")
    return values


def _shards(folder: Path) -> list[Path]:
    """The files with weights, as the index lists them or the only one."""
    if (folder / INDEX).is_file():
        listed = read_json(folder / INDEX).get("weight_map")
        names = set(listed.values()) if isinstance(listed, dict) and all(map(_is_text, listed.values())) else set()
        if not 0 < len(names) <= MAX_SHARDS or any(name in ("", "..") or Path(name).name != name for name in names):
            raise ModelError(f"{INDEX} has to name files beside it, at most {MAX_SHARDS}.")
        files = sorted(folder / name for name in names)
    else:
        files = [folder / SINGLE]
    for file in files:
        if not file.is_file():
            raise ModelError(
                f"{folder.name} lacks {file.name}; weights are read from safetensors files only, never a pickle."
            )
    return files


def _is_text(value: object) -> bool:
    return isinstance(value, str)
