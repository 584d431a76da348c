"""Chunks change no logits."""

import pytest

pytest.importorskip("torch", reason="the live engine needs torch")

from engine.executor import paged_torch
from engine.executor.attention_torch import TorchAttention
from engine.executor.chunk_check import largest_difference


def test_fifty_tokens_one_by_one_in_sevens_and_at_once_have_the_same_logits() -> None:
    steps, far = largest_difference(50, (1, 7, 50))
    # 50, 8 and 1 steps for the prompt, the last of which samples, then 3 for the other tokens
    assert steps == [53, 11, 4]
    assert far < 1e-12


def test_a_chunk_that_does_not_see_the_earlier_ones_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(TorchAttention):
        def __call__(self, layer, q, k, v):
            return super().__call__(layer, q, k, v) if len(q) != 7 else v.repeat_interleave(3, dim=1)

    monkeypatch.setattr(paged_torch, "attention_for", lambda device: Forgetful)
    assert largest_difference(50, (7,))[1] > 1e-3
