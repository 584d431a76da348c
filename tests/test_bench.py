"""The bench itself works. Its runs are so small here that no figure of time means anything."""

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.batch import Batch, StepOutput
from tests.bench import cache_sizes, caches, decode, long_run
from tests.bench.cache_sizes import FullCache, Shape
from tests.bench.figures import FIGURE, WHAT, Row, Spread, percentile, times
from tests.browser.chromium import find

ROOT = Path(__file__).parent.parent


def test_five_of_a_hundred_times_lie_above_the_95th_percentile() -> None:
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([7.0], 0.95) == 7.0
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 3.0)


def test_a_ratio_is_that_of_the_medians() -> None:
    assert times(Spread(10, 99), Spread(300, 300)) == "30 x"


def test_a_row_says_whether_its_aim_is_met() -> None:
    assert str(Row("L: step", "20 ms", "<= 16 ms", False)).endswith("<= 16 ms" + 24 * " " + "MISSED")
    assert str(Row("L: wire", "1 kB")).split() == ["L:", "wire", "1", "kB"]


def test_the_engine_parts_run_on_a_few_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "NUM_REQUESTS", 4)
    monkeypatch.setattr(decode, "REPEATS", 1)
    for name, value in {"NUM_REQUESTS": 4, "REPEATS": 1, "LEAST_RUNNING": 4, "NUM_CUTS": 2}.items():
        monkeypatch.setattr(long_run, name, value)
    decoded, *_ = decode.report()
    assert "4 requests of 100 + 100 tokens, 100 steps, 396 decoded tokens" in decoded
    assert "to 4 running from step" in next(long_run.report())


def test_the_part_of_the_caches_has_a_row_for_every_workload_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    small = tuple(replace(shape, sizes=shape.sizes[:1]) for shape in caches.SHAPES)
    values = {"REPEATS": 1, "NUM_CONVERSATIONS": 20, "ROUNDS": 1, "NUM_REQUESTS": 5, "SHAPES": small}
    for name, value in values.items():
        monkeypatch.setattr(caches, name, value)
    rows = {line[:WHAT].strip(): line[WHAT:] for line in caches.report()}
    assert sum(what.startswith("W") for what in rows) == 4 + 2 * 2 + 2
    assert "hit 16" in rows["radix tree, 100 nodes, silent"]
    assert "hit 128" in rows["hashed, 1,000 blocks, recorded"]
    assert "hit 128" in rows["hashed, one queue, 1,000 blocks, silent"]


@pytest.mark.parametrize("shape", cache_sizes.SHAPES, ids=lambda shape: shape.name)
def test_a_full_cache_has_its_size_and_keeps_it(shape: Shape) -> None:
    size = shape.sizes[0]
    cache = FullCache(shape, size)
    before = cache.num_stored
    assert (before, cache.kv.pool.num_used) == (cache.kv.pool.size, 0)
    assert cache.serve(cache.prompts(200))[1] == 200 * shape.head_len
    assert cache.num_stored == before
    cache.kv.check([])


@pytest.mark.slow
def test_the_live_part_measures_everything_on_a_tiny_model() -> None:
    pytest.importorskip("torch", reason="the live engine needs torch")
    pytest.importorskip("transformers", reason="it is compared with transformers")
    done = _run("live", "--tiny")
    assert done.returncode == 0, done.stderr[-2000:]
    for dtype in ("float32", "bfloat16"):
        for what in ("batch 32", "a decode step", "3 requests of 8-256 tokens", "predicted step times"):
            assert f"{dtype}: {what}" in done.stdout
    assert "nan" not in done.stdout


def test_a_noisy_machine_that_is_held_up_now_and_then_is_predicted_on_another_stream() -> None:
    pytest.importorskip("torch", reason="the streams are those of the live engine")
    from tests.bench.fidelity import fidelity_of
    from tests.bench.live_streams import mixed

    draw = random.Random(5)

    class Machine:
        """40 ms for the weights, 0.5 ms a token, 2 us a token of KV, 5 % of noise; one step in twenty takes ten times that."""

        def execute(self, batch: Batch) -> StepOutput:
            ideal = 0.04 + 0.0005 * batch.num_tokens + 2e-6 * batch.num_kv_read
            return StepOutput(ideal * draw.uniform(0.95, 1.05) * (10 if draw.random() < 0.05 else 1), _tokens(batch))

    found = fidelity_of(lambda settings: Machine(), mixed(12, 97, seed=1), mixed(12, 97, seed=2))
    assert found.num_steps > 100
    assert found.median < 0.03


def _tokens(batch: Batch) -> list[list[int]]:
    return [[1] * row.num_samples for row in batch.rows]


def test_without_a_gpu_the_bench_of_the_gpu_says_so_and_exits_with_2() -> None:
    torch = pytest.importorskip("torch", reason="the live engine needs torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    done = _run_module("tests.bench.gpu")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "There is no GPU that torch can use here; run `make bench-gpu` on a machine with CUDA.\n"


@pytest.mark.slow
def test_the_bench_of_the_gpu_works_under_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the live engine needs torch")
    pytest.importorskip("triton", reason="the kernels need triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    done = _run_module("tests.bench.gpu", "--tiny")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("met") == 2
    assert "MISSED" not in done.stdout
    assert "float16: batch 3" in done.stdout


@pytest.mark.slow
@pytest.mark.browser
def test_the_player_part_measures_everything_on_a_tiny_run() -> None:
    if find() is None:
        pytest.skip("no Chromium found: install one, or name its path in KVSCOPE_CHROMIUM")
    done = _run("player", "--tiny")
    assert done.returncode == 0, done.stderr[-2000:]
    rows = {line[:WHAT].strip(): line[WHAT : WHAT + FIGURE].strip() for line in done.stdout.splitlines()}
    assert rows["T: states equal to Python's"] == "61/61"
    assert rows["T: bytes, server time per step"].startswith("0 B")
    assert rows["T: offline file, opened"].endswith("0 other requests")
    assert rows["T, 3 panes: play"].endswith("0 steps apart")
    assert rows["T: step by Streamlit rerun"].endswith("the player's")
    assert rows["errors of scripts"] == "0"
    assert "nan" not in done.stdout


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _run_module("tests.bench", *arguments)


def _run_module(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], check=False, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
