"""What several tests of the command line need."""

import sys
from types import ModuleType

import pytest

from tests.scenarios.parrot import Parrot, load


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Parrot:
    model = Parrot()
    module = ModuleType("engine.executor.loaded_model")
    module.load_model = lambda path=None, **options: load(model, path)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return model
