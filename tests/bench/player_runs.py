"""The runs that the browser part of the bench looks at, made by the engine and laid down as files.

For each size `<name>-0.wire` holds what the player gets and `<name>.trace` what a rerun of Streamlit reads; the panes of
a comparison are `panes-<i>.wire`, one run for each policy of the same size; `tree-0.wire` is a run that fills a radix tree.
"""

import random
import struct
from dataclasses import dataclass
from pathlib import Path

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.trace.codec import MAGIC
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from tests.bench.long_run import LEAST_RUNNING, SETTINGS
from tests.browser.radix_runs import alive, many_prefixes
from viz.export import offline_page
from viz.player.difference import pane_differences
from viz.player.wire import in_comparison, wire

PANES = "panes"
TREE = "tree"
POLICIES = ("continuous", "chunked", "static")


@dataclass(frozen=True, slots=True)
class Size:
    """A pool, a number of steps, and requests whose prompts and outputs have `lengths` tokens, more than fit in."""

    name: str
    num_blocks: int
    num_steps: int
    max_num_seqs: int
    num_requests: int
    lengths: tuple[int, int]

    @property
    def title(self) -> str:
        return f"{self.name}: {self.num_blocks:,} blocks x {self.num_steps:,} steps"

    @property
    def middle(self) -> int:
        """A step at which the batch has long been full."""
        return self.num_steps // 3


SMALL = Size("S", 64, 200, 8, 120, (16, 96))
MEDIUM = Size("M", 1_024, 2_000, 64, 900, (64, 256))
LARGE = Size("L", 25_600, 10_000, 256, 5_600, (256, 768))
TINY = Size("T", 16, 60, 4, 60, (8, 40))


@dataclass(frozen=True, slots=True)
class Made:
    """A run that lies in the folder: how many sequences ran at its middle and at most, and its sizes in bytes."""

    size: Size
    running: tuple[int, int]
    num_wire: int
    num_raw: int
    num_offline: int


def make(folder: Path, size: Size) -> Made:
    """Run one size with chunked prefill, and write its files. Raises RuntimeError for a run that is not of that size."""
    trace = _run(size, "chunked")
    running = trace.steps["num_running"]
    if trace.num_steps != size.num_steps:
        raise RuntimeError(f"The run {size.title} ended after {trace.num_steps} steps; it needs more requests.")
    if size is LARGE and running[size.middle] < LEAST_RUNNING:
        raise RuntimeError(f"Only {running[size.middle]} sequences run in {size.title}, not {LEAST_RUNNING}.")
    blob = wire(trace, title=f"Bench {size.name}")
    (folder / f"{size.name}-0.wire").write_bytes(blob)
    trace.save(folder / f"{size.name}.trace")
    page = offline_page([blob], title=size.title)
    (folder / f"{size.name}.html").write_text(page, encoding="utf-8")
    counts = int(running[size.middle]), int(running.max())
    return Made(size, counts, len(blob), _num_raw(blob), len(page.encode()))


def make_panes(folder: Path, size: Size) -> None:
    """The same requests under three policies, as the panes of one comparison on the clock of steps."""
    traces = [_run(size, policy) for policy in POLICIES]
    differences = pane_differences(traces, POLICIES)
    for i, (trace, name, difference) in enumerate(zip(traces, POLICIES, differences, strict=True)):
        blob = wire(trace, title=f"Bench {size.name}", run_name=name)
        pane = in_comparison(blob, run_name=name, clock="steps", difference=difference)
        (folder / f"{PANES}-{i}.wire").write_bytes(pane)


def make_tree(folder: Path, num_requests: int) -> tuple[int, int]:
    """A run whose tree only grows, as a file; its number of steps and of nodes at the end."""
    trace = many_prefixes(num_requests, 5 * num_requests)
    (folder / f"{TREE}-0.wire").write_bytes(wire(trace, title="Bench tree"))
    return trace.num_steps, len(alive(trace, str(trace.num_steps - 1)))


def _run(size: Size, policy: str) -> Trace:
    settings = SETTINGS.with_(
        num_blocks=size.num_blocks, max_num_seqs=size.max_num_seqs, max_steps=size.num_steps, policy=policy
    )
    return simulate(settings, ListWorkload(_requests(size)), f"{size.name} {policy}")


def _requests(size: Size, seed: int = 0) -> list[Request]:
    """All waiting from the start, so that every seat is refilled as soon as it is empty."""
    rng = random.Random(seed)
    return [
        Request(
            f"r{i}", 0.0, Prompt.of_length(rng.randint(*size.lengths), i), SamplingParams(1, rng.randint(*size.lengths))
        )
        for i in range(size.num_requests)
    ]


def _num_raw(blob: bytes) -> int:
    """Bytes of all parts of a container once they are inflated."""
    at, total = len(MAGIC), 0
    while at < len(blob):
        num_raw, num_packed = struct.unpack_from("<II", blob, at)
        total += num_raw
        at += 8 + num_packed
    return total
