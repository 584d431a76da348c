"""The caches: rates of the known workloads without and with a recorder, and what a request costs as a cache grows.

Silent and recorded runs alternate, and so do the sizes, so that the ratios hold on a machine that others use as well.
"""

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from engine.loop import trace_header
from engine.presets import MINI_SGLANG, NANO_VLLM, SGLANG, VLLM_V1
from engine.settings import Settings
from engine.trace.listener import SILENT
from engine.trace.recorder import Recorder
from tests.bench.cache_sizes import SHAPES, FullCache, Shape
from tests.bench.figures import Row
from tests.bench.stopwatch import Times, ratio_of
from tests.workloads.blocks import SETTINGS, w1_cached, w1a, w1d
from tests.workloads.radix import CAPACITY, conversations, w2
from tests.workloads.steps import settings_of, w3

REPEATS = 5
NUM_CONVERSATIONS = 10_000
ROUNDS = 9
NUM_REQUESTS = 300
FLAT = 2.0
"""A cache a thousand times as large may cost so many times as much: the data of a small one lie near the processor."""
AIMS = {"W1a": 60_000, "W1c": 20_000, "W2": 1e6 / 60, "W3 vllm-v1": 13_000}
"""Per second, silent."""

Workload = Callable[..., dict[str, Any]]


def report() -> Iterator[str]:
    """Lines of the table."""
    yield f"known workloads, silent and recorded in turn; median of {REPEATS} repeats (and the spread)"
    yield from map(str, _rates())
    yield ""
    yield (
        f"us a request in full caches, which evict as much as they store: median of {ROUNDS} rounds of {NUM_REQUESTS} "
        "requests, all sizes in turn"
    )
    for shape in SHAPES:
        yield from map(str, _growth(shape))


def _rates() -> Iterator[Row]:
    for name, unit, settings, workload in _workloads():
        times = {"silent": Times(), "recorded": Times()}
        for _ in range(REPEATS):
            for kind, measured in times.items():
                recorder = SILENT if kind == "silent" else Recorder(trace_header(settings, name))
                gc.collect()
                measured.seconds.append(1 / workload(recorder=recorder)[f"{unit}s_per_s"])
        silent, recorded = times["silent"], times["recorded"]
        rate, aim = 1 / silent.median, next((AIMS[start] for start in AIMS if name.startswith(start)), None)
        figure = f"{rate:,.0f}/s ({silent.spread}), recorded {ratio_of(recorded, silent)} x"
        what = f"{name}: {silent.median * 1e6:,.1f} us a {unit}"
        yield Row(what, figure) if aim is None else Row(what, figure, f"> {aim:,.0f}/s", rate > aim)


def _workloads() -> Iterator[tuple[str, str, Settings, Workload]]:
    """Name, what it counts, the settings that a recorder is told, and the workload itself."""
    yield "W1a", "request", SETTINGS, w1a
    yield "W1b", "request", SETTINGS, partial(w1_cached, "unique")
    yield "W1c", "request", SETTINGS, partial(w1_cached, "shared")
    yield "W1d", "token", SETTINGS, w1d
    given = conversations(NUM_CONVERSATIONS)
    for preset in (SGLANG, MINI_SGLANG):
        for page_size in (1, 16):
            pool = {"block_size": page_size, "num_blocks": CAPACITY // page_size}
            settings = Settings.of({**preset.settings, **pool})
            yield f"W2 {preset.name} page {page_size}", "request", settings, partial(w2, preset, page_size, given)
    for preset in (VLLM_V1, NANO_VLLM):
        yield f"W3 {preset.name}", "step", settings_of(preset), partial(w3, preset)


def _growth(shape: Shape) -> Iterator[Row]:
    """Silent and recorded caches of all sizes are there at once and take turns; nobody collects them meanwhile."""
    recorders = {size: Recorder(trace_header(shape.settings_of(size), shape.name)) for size in shape.sizes}
    caches = {("silent", size): FullCache(shape, size) for size in shape.sizes}
    caches |= {("recorded", size): FullCache(shape, size, recorder) for size, recorder in recorders.items()}
    times = {place: Times() for place in caches}
    num_hit = dict.fromkeys(caches, 0)
    gc.collect()
    gc.freeze()
    for _ in range(ROUNDS):
        for (kind, size), cache in caches.items():
            prompts = cache.prompts(NUM_REQUESTS)
            recorders[size].drain()
            seconds, found = cache.serve(prompts)
            times[kind, size].seconds.append(seconds / NUM_REQUESTS)
            num_hit[kind, size] += found
    gc.unfreeze()
    for (kind, size), measured in times.items():
        base = times[kind, shape.sizes[0]]
        hit = num_hit[kind, size] / (ROUNDS * NUM_REQUESTS)
        figure = f"{measured.median * 1e6:.1f} us, {ratio_of(measured, base)} x the smallest; hit {hit:.0f}"
        what = f"{shape.name}, {size:,} {shape.unit}, {kind}"
        yield Row(what, figure, f"<= {FLAT:g} x the smallest", measured.median <= FLAT * base.median)
