"""A model in memory: what it refuses, and a live run on real weights that its script repeats."""

import importlib
import sys
from pathlib import Path

import pytest

from engine.executor.calibration import Calibration
from engine.executor.model_error import ModelError
from engine.request import FinishReason, SamplingParams
from engine.script import replay
from engine.settings import Settings

pytest.importorskip("torch")

from engine.executor import loaded_model
from engine.executor.loaded_model import LoadedModel, load_model
from engine.executor.model_files import present_model

PROMPTS = ("What is the capital of France?", "What is the capital of Italy?", "Name three colours.", "Say hello 😀")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtype": "int8"}, "dtype is 'int8'; choose one of float32, bfloat16."),
        ({"device": "mps"}, "device is 'mps'; this machine has cpu"),
        ({"path": Path("nowhere.gguf")}, "There is no model at 'nowhere.gguf'"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_read(options: dict, words: str) -> None:
    with pytest.raises(ModelError) as problem:
        load_model(**options)
    assert words in str(problem.value)


def test_a_device_that_torch_does_not_know_costs_a_sentence() -> None:
    with pytest.raises(ModelError, match="device is 'toaster'; this machine has cpu"):
        load_model(device="toaster")


@pytest.mark.parametrize("package", ["torch", "tokenizers"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for name in [name for name in sys.modules if name.startswith("engine.executor")]:
        if name not in ("engine.executor", "engine.executor.model_error"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelError, match=f"needs the package '{package}', which is not installed"):
        importlib.import_module("engine.executor.loaded_model")
    monkeypatch.setattr(importlib.import_module("engine.executor"), "loaded_model", loaded_model)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            ImportError("libtorch_cpu.so: failed to map segment\nfrom shared object"),
            "failed to map segment from shared",
        ),
        (OSError("cannot allocate memory in static TLS block"), "cannot allocate memory"),
        (MemoryError(), "no memory"),
    ],
)
def test_packages_that_do_not_fit_into_memory_cost_a_sentence(
    monkeypatch: pytest.MonkeyPatch, problem: Exception, words: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("engine.executor")]:
        if name not in ("engine.executor", "engine.executor.model_error"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(sys, "meta_path", [_Fails(problem), *sys.meta_path])
    with pytest.raises(ModelError, match=rf"cannot be loaded \(.*{words}.*\); where memory is short, close other"):
        importlib.import_module("engine.executor.loaded_model")
    monkeypatch.setattr(importlib.import_module("engine.executor"), "loaded_model", loaded_model)


class _Fails:
    """Finds torch, and fails."""

    def __init__(self, problem: Exception) -> None:
        self._problem = problem

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "torch":
            raise self._problem


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    path = present_model()
    if path is None:
        pytest.skip("the model is not on this machine; KVSCOPE_MODEL names one")
    return load_model(path, device="cpu")


@pytest.mark.slow
def test_the_context_of_a_run_is_not_longer_than_that_of_the_model(model: LoadedModel) -> None:
    assert model.settings(Settings()).max_model_len == model.context
    assert model.settings(Settings(max_model_len=10**6)).max_model_len == model.context
    assert model.settings(Settings(max_model_len=100)).max_model_len == 100


@pytest.mark.slow
@pytest.mark.parametrize("cache", [{"prefix_caching": True}, {"kv_manager": "radix"}])
def test_a_run_on_real_weights_is_repeated_by_its_script(model: LoadedModel, cache: dict) -> None:
    """24 blocks of 8 for four prompts: hits, copies, one that is taken back, one that comes late."""
    live = model.engine(
        Settings.of({"policy": "chunked", "block_size": 8, "num_blocks": 24, "max_num_batched_tokens": 32, **cache})
    )
    stops = model.stop_token_ids
    for n, prompt in enumerate(PROMPTS[:3], 1):
        live.submit(model.encode(prompt), SamplingParams(n, 12, stop_token_ids=stops))
    for _ in range(4):
        live.step()
    late = live.submit(model.encode(PROMPTS[3]), SamplingParams(1, 12, stop_token_ids=stops))
    live.abort("r1")
    while live.has_work:
        live.step()
        live.engine.check()
    assert {seq.finish_reason for seq in live.engine.groups[1].sequences} == {FinishReason.ABORT}
    assert "Paris" in model.decode(live.engine.groups[0].sequences[0].output_token_ids)
    assert late.sequences[0].output_token_ids
    assert replay(live.script()).run_id == live.trace().run_id
    assert Calibration.of(live.measured).step_time(1, 1, 1) > 0
