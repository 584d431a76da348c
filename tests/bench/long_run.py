"""25,600 blocks, 10,000 steps, at least 128 running sequences: the largest run that a lecture shows."""

import io
import random
from collections.abc import Iterator

from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.listener import SILENT
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from tests.bench.stopwatch import alternate, ratio_of, timed
from viz.player.wire import wire

NUM_STEPS = 10_000
LEAST_RUNNING = 128
NUM_REQUESTS = 5_600
REPEATS = 3
NUM_CUTS = 200
SETTINGS = Settings(
    hardware="H100-80GB",
    model="Llama-3-8B",
    block_size=16,
    num_blocks=25_600,
    max_num_seqs=256,
    policy="chunked",
    max_num_batched_tokens=2_048,
    max_steps=NUM_STEPS,
)
AIM_WIRE = 1_500_000


def requests(seed: int = 0) -> list[Request]:
    """More work than 10,000 steps can do: prompts and outputs of 256 to 768 tokens, all waiting from the start."""
    rng = random.Random(seed)
    return [
        Request(f"r{i}", 0.0, Prompt.of_length(rng.randint(256, 768), i), SamplingParams(1, rng.randint(256, 768)))
        for i in range(NUM_REQUESTS)
    ]


def report() -> Iterator[str]:
    """Lines of the table."""
    given = requests()

    def silent() -> None:
        Engine(SETTINGS, SILENT).run(ListWorkload(given))

    def recorded() -> Recorder:
        recorder = Recorder(trace_header(SETTINGS, "long run"))
        Engine(SETTINGS, recorder).run(ListWorkload(given))
        return recorder

    times, results = alternate({"no recorder": silent, "recorder": recorded}, REPEATS)
    freeze, trace = timed(results["recorder"].trace)
    packing, blob = timed(lambda: wire(trace, title="long run"))
    saving, file = timed(lambda: _saved(trace))
    loading, _ = timed(lambda: Trace.load(file))
    cutting, _ = timed(lambda: [trace.cut(event=i * trace.num_events // NUM_CUTS) for i in range(NUM_CUTS)])
    running = trace.steps["num_running"]
    warm = next(i for i, count in enumerate(running.tolist()) if count >= LEAST_RUNNING)
    num_rows = sum(track.num_rows for track in trace.tracks.values())
    yield (
        f"{SETTINGS.num_blocks:,} blocks, {trace.num_steps:,} steps, {int(running[warm:].min())} to "
        f"{int(running.max())} running from step {warm} on, {trace.num_events:,} events, {num_rows:,} rows; "
        f"median of {REPEATS} alternated repeats"
    )
    for name, measured in times.items():
        yield f"{name:14}{measured.median:>10.2f} s{ratio_of(measured, times['no recorder']):>24}"
    yield (
        f"{'trace':14}freezing {freeze:.2f} s, saving {saving:.2f} s, loading {loading:.2f} s, "
        f"a cut {cutting / NUM_CUTS * 1e3:.2f} ms"
    )
    yield f"{'size':14}wire {len(blob):,} bytes in {packing:.2f} s, saved file {len(file):,} bytes"
    yield f"aim: wire under {AIM_WIRE:,} bytes compressed"


def _saved(trace: Trace) -> bytes:
    file = io.BytesIO()
    trace.save(file)
    return file.getvalue()
