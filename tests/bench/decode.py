"""256 running sequences, 100 prompt and 100 output tokens each: the cost of a decoded token and of a request."""

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

NUM_RUNNING = 256
NUM_REQUESTS = 10 * NUM_RUNNING
NUM_TOKENS = 100
REPEATS = 7
SETTINGS = Settings(
    hardware="H100-80GB", model="Llama-3-8B", block_size=16, num_blocks=25_600, max_num_seqs=NUM_RUNNING
)
AIM_PER_TOKEN = 0.35e-6
AIM_RATIO = 1.5


def requests() -> list[Request]:
    """Ten full batches, all there from the start; every seat is refilled as soon as it is empty."""
    return [
        Request(f"r{i}", 0.0, Prompt.of_length(NUM_TOKENS, i), SamplingParams(1, NUM_TOKENS))
        for i in range(NUM_REQUESTS)
    ]


def report() -> Iterator[str]:
    """Lines of the table."""
    given = requests()

    def silent() -> Engine:
        engine = Engine(SETTINGS, SILENT)
        engine.run(ListWorkload(given))
        return engine

    def recorded() -> Recorder:
        recorder = Recorder(trace_header(SETTINGS, "decode"))
        Engine(SETTINGS, recorder).run(ListWorkload(given))
        return recorder

    times, results = alternate({"no recorder": silent, "recorder": recorded}, REPEATS)
    freeze, trace = timed(results["recorder"].trace)
    packing, blob = timed(lambda: wire(trace, title="decode"))
    decoded = _num_decoded(trace)
    yield (
        f"{NUM_RUNNING} running sequences, {NUM_REQUESTS:,} requests of {NUM_TOKENS} + {NUM_TOKENS} tokens, "
        f"{trace.num_steps:,} steps, {decoded:,} decoded tokens; median of {REPEATS} alternated repeats"
    )
    yield f"{'':14}{'us a decoded token':>22}{'us a request':>16}{'ratio':>22}{'spread':>14}"
    base = times["no recorder"]
    for name, measured in times.items():
        yield (
            f"{name:14}{measured.median / decoded * 1e6:>22.3f}{measured.median / NUM_REQUESTS * 1e6:>16.1f}"
            f"{ratio_of(measured, base):>22}{measured.spread:>14}"
        )
    yield f"aim: under {AIM_PER_TOKEN * 1e6:.2f} us a decoded token without recorder, recorder under {AIM_RATIO} x"
    yield (
        f"wire: {len(blob):,} bytes, {len(blob) / NUM_REQUESTS:.1f} bytes a request; "
        f"freezing {freeze * 1e3:.0f} ms, packing {packing * 1e3:.0f} ms"
    )


def _num_decoded(trace: Trace) -> int:
    """Output tokens after the first one of each request, which the prefill samples."""
    return int(trace.steps["num_emitted"].sum()) - NUM_REQUESTS
