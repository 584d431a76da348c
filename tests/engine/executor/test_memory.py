"""How much memory is free, told by files of the system that a test writes itself."""

import pytest

from engine.executor import memory
from engine.executor.model_error import ModelError


def _group(tmp_path, limit: str, used: int) -> tuple[tuple[str, str]]:
    (tmp_path / "max").write_text(limit)
    (tmp_path / "current").write_text(f"{used}\n")
    return ((str(tmp_path / "max"), str(tmp_path / "current")),)


def test_a_control_group_leaves_what_it_has_not_used(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory, "CONTROL_GROUPS", _group(tmp_path, "5000000\n", 2_000_000))
    assert memory.free_memory() == 3_000_000


def test_a_group_without_a_limit_leaves_what_the_host_has(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory, "_host", lambda: 7_000_000)
    monkeypatch.setattr(memory, "CONTROL_GROUPS", _group(tmp_path, "max\n", 2_000_000))
    assert memory.free_memory() == 7_000_000


def test_a_system_that_says_nothing_refuses_nothing(monkeypatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    memory.require_memory(1 << 60, "The KV cache", "choose fewer blocks")


def test_too_much_is_refused_with_need_and_limit(monkeypatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2_000_000)
    memory.require_memory(2_000_000, "The KV cache", "choose fewer blocks")
    with pytest.raises(
        ModelError, match=r"^The KV cache needs 3 MB, but 2 MB of memory are free; choose fewer blocks\.$"
    ):
        memory.require_memory(3_000_000, "The KV cache", "choose fewer blocks")
