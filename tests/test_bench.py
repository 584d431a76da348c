"""The bench itself works. Its runs are so small here that no figure of time means anything."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

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
@pytest.mark.browser
def test_the_player_part_measures_everything_on_a_tiny_run() -> None:
    if find() is None:
        pytest.skip("no Chromium found: install one, or name its path in KVSCOPE_CHROMIUM")
    command = [sys.executable, "-m", "tests.bench", "player", "--tiny"]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = {line[:WHAT].strip(): line[WHAT : WHAT + FIGURE].strip() for line in done.stdout.splitlines()}
    assert rows["T: states equal to Python's"] == "61/61"
    assert rows["T: bytes, server time per step"].startswith("0 B")
    assert rows["T: offline file, opened"].endswith("0 other requests")
    assert rows["T, 3 panes: play"].endswith("0 steps apart")
    assert rows["T: step by Streamlit rerun"].endswith("the player's")
    assert rows["errors of scripts"] == "0"
    assert "nan" not in done.stdout
