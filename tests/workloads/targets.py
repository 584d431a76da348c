"""Every known workload by name, and the counts that the engines themselves have on it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from engine.presets import MINI_SGLANG, NANO_VLLM, SGLANG, VLLM_V1
from tests.workloads.blocks import w1_cached, w1a, w1d
from tests.workloads.radix import w2
from tests.workloads.steps import w3

WORKLOADS: dict[str, Callable[[], dict[str, Any]]] = {
    "W1a": w1a,
    "W1b": partial(w1_cached, "unique"),
    "W1c": partial(w1_cached, "shared"),
    "W1d": w1d,
    "W2 sglang page 1": partial(w2, SGLANG, 1),
    "W2 sglang page 16": partial(w2, SGLANG, 16),
    "W2 mini-sglang page 1": partial(w2, MINI_SGLANG, 1),
    "W2 mini-sglang page 16": partial(w2, MINI_SGLANG, 16),
    "W3 vllm-v1": partial(w3, VLLM_V1),
    "W3 nano-vllm": partial(w3, NANO_VLLM),
}
TARGETS: dict[str, dict[str, float]] = {
    "W1c": {"hit_rate": 0.8448},
    "W2 sglang page 1": {"hit_rate": 0.8380, "evicted_tokens": 800_776, "evict_calls": 8_163, "nodes": 585},
    "W2 sglang page 16": {"hit_rate": 0.8022, "evicted_tokens": 847_344, "evict_calls": 8_258, "nodes": 570},
    "W2 mini-sglang page 1": {"hit_rate": 0.8401, "evicted_tokens": 793_516, "evict_calls": 8_150},
    "W2 mini-sglang page 16": {"hit_rate": 0.8050, "evicted_tokens": 837_680, "evict_calls": 8_248},
    "W3 vllm-v1": {"steps": 448, "scheduled_tokens": 95_303},
    "W3 nano-vllm": {"steps": 585},
}
"""Shares are given to four places."""


def misses(results: dict[str, dict[str, Any]]) -> list[str]:
    """One sentence for every count that is not the engine's."""
    return [
        f"{name}: {key} is {_rounded(results[name][key])}, the engine has {target}."
        for name, targets in TARGETS.items()
        for key, target in targets.items()
        if name in results and _rounded(results[name][key]) != target
    ]


def _rounded(value: float) -> float:
    return round(value, 4) if isinstance(value, float) else value
