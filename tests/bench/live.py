"""The live engine on the real model, beside `generate` of transformers: same weights, dtype, threads and token counts.

Both sides take turns, so that a busy moment of the machine hits both; a ratio is the median over the pairs, with the
lowest and the highest one beside it. The bandwidth is that of summing a large array with all threads.
"""

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.executor.checkpoint import Checkpoint, load_checkpoint
from engine.executor.llama import Llama
from engine.executor.model_error import ModelError
from engine.executor.model_files import present_model
from tests.bench.fidelity import fidelity
from tests.bench.figures import Row
from tests.bench.live_streams import OUTPUT_LENGTHS, STATIC_BATCH, Asked, Served, alternated, equal, mixed, ours, theirs
from tests.engine.executor.tiny_checkpoint import random_tensors, reference, tiny_config

RATIOS = {1: 1.0, 8: 1.5, 32: 2.0}
"""Aims by batch: our tokens a second divided by theirs."""
MIXED_RATIO = 3.0
CONTROL_SHARE = 0.05
FIDELITY = 0.10
DTYPES = (torch.float32, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Pairs of each comparison, tokens of prompts and answers of equal length (those of vLLM's latency benchmark),
    requests of the mixed stream and of those for a calibration, and bytes of the array that is read."""

    pairs: int = 5
    prompt_len: int = 32
    num_tokens: int = 128
    num_mixed: int = 32
    num_fitted: int = 10
    array_bytes: int = 512_000_000


TINY = Amounts(1, 4, 3, 3, 2, 1_000_000)


@dataclass(frozen=True, slots=True)
class Pair:
    """The same weights in both."""

    decoder: Llama
    reference: torch.nn.Module
    dtype: str

    @classmethod
    def of(cls, checkpoint: Checkpoint, tensors: dict[str, torch.Tensor], dtype: torch.dtype) -> "Pair":
        model = reference(checkpoint.config, tensors, dtype)
        return cls(Llama(checkpoint.config, tensors, dtype), model, str(dtype).removeprefix("torch."))


def report(is_tiny: bool = False) -> Iterator[str]:
    """Lines of the table, each as soon as it is measured; with `is_tiny` on a model of a few thousand random weights."""
    amounts, checkpoint, tensors = Amounts(), None, {}
    if is_tiny:
        amounts, config = TINY, tiny_config(max_position=1024)
        checkpoint, tensors = Checkpoint(config, {}, None, "tiny"), random_tensors(config)  # type: ignore[arg-type]
    else:
        try:
            path = present_model()
            checkpoint = load_checkpoint(path) if path else None
        except ModelError as problem:
            yield f"The live part is left out: {problem}"
            return
        if checkpoint is None:
            yield "The live part is left out: the model is not here yet; `python -m scenarios live Hello` fetches it."
            return
        tensors = dict(checkpoint.tensors)
    yield (
        f"{checkpoint.name}, {torch.get_num_threads()} threads, transformers {_version()}, "
        f"load average {os.getloadavg()[0]:.1f}; median (lowest-highest) of {amounts.pairs} alternated pairs"
    )
    bandwidth = memory_bandwidth(amounts.array_bytes)
    yield str(Row("memory bandwidth, reading", f"{bandwidth / 1e9:.1f} GB/s"))
    for dtype in DTYPES:
        pair = Pair.of(checkpoint, tensors, dtype)
        for row in rows(pair, amounts, bandwidth):
            yield str(row)
    yield f"load average {os.getloadavg()[0]:.1f} at the end"


def rows(pair: Pair, amounts: Amounts, bandwidth: float) -> Iterator[Row]:
    """One dtype: equal lengths, the mixed stream, what a decode step reads, who else takes time, predicted times."""
    config, name = pair.decoder.config, pair.dtype
    _compare(pair, equal(2, amounts.prompt_len, 3, config.vocab_size), 2, 1)
    for batch, aim in RATIOS.items():
        asked = equal(batch, amounts.prompt_len, amounts.num_tokens, config.vocab_size)
        found = _compare(pair, asked, batch, amounts.pairs)
        yield _row(f"{name}: batch {batch}", asked, found, aim)
        runs = [served for served, _ in found]
        if batch == 1:
            yield _decode(pair, runs, amounts.prompt_len, bandwidth)
        yield _products(pair, runs, batch)
    asked = mixed(amounts.num_mixed, config.vocab_size)
    found = _compare(pair, asked, STATIC_BATCH, amounts.pairs)
    yield _row(
        f"{name}: {len(asked)} requests of {OUTPUT_LENGTHS[0]}-{OUTPUT_LENGTHS[1]} tokens", asked, found, MIXED_RATIO
    )
    yield _control(name, [served for served, _ in found])
    yield _fidelity(pair, amounts)


def memory_bandwidth(num_bytes: int) -> float:
    """Bytes a second at which all threads read an array that no cache holds: the best of five."""
    values = torch.ones(num_bytes // 4)
    return num_bytes / min(_seconds(values) for _ in range(5))


def _seconds(values: torch.Tensor) -> float:
    began = time.perf_counter()
    values.sum()
    return time.perf_counter() - began


def _compare(pair: Pair, asked: Sequence[Asked], batch: int, repeats: int) -> list[tuple[Served, float]]:
    return alternated(lambda: ours(pair.decoder, asked), lambda: theirs(pair.reference, asked, batch), repeats)


def _row(what: str, asked: Sequence[Asked], found: list[tuple[Served, float]], aim: float) -> Row:
    num_tokens = sum(one.num_tokens for one in asked)
    mine, other = (
        num_tokens / statistics.median(times) for times in ([a.seconds for a, _ in found], [b for _, b in found])
    )
    ratios = [b / a.seconds for a, b in found]
    ratio = statistics.median(ratios)
    figure = f"{mine:,.1f} against {other:,.1f} tokens/s: {ratio:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    # "equal" leaves room for the spread of a machine that others use too
    return Row(what, figure, f">= {aim:g} x", ratio >= (aim if aim > 1 else 0.95))


def _decode(pair: Pair, runs: list[Served], prompt_len: int, bandwidth: float) -> Row:
    """A step with one sequence reads every weight once, and its KV."""
    config, size = pair.decoder.config, pair.decoder.dtype.itemsize
    kv = 2 * config.num_layers * config.num_kv_heads * config.head_dim * (prompt_len + len(runs[0].live.measured) / 2)
    num_bytes = size * (config.num_parameters + kv)
    seconds = statistics.median(step.duration for run in runs for step in run.live.measured[1:])
    figure = f"{seconds * 1e3:.1f} ms for {num_bytes / 1e6:,.0f} MB: {num_bytes / seconds / 1e9:.1f} GB/s"
    return Row(f"{pair.dtype}: a decode step", f"{figure}, {num_bytes / seconds / bandwidth:.0%} of the bandwidth")


def _products(pair: Pair, runs: list[Served], batch: int) -> Row:
    """What the matrix products of a step take by themselves: no step with so many rows can be shorter."""
    layers, head = pair.decoder.layers, pair.decoder.head
    config, dtype = pair.decoder.config, pair.decoder.dtype
    rows = [torch.randn(batch, width).to(dtype) for width in (config.hidden_size, config.intermediate_size)]
    heads = torch.randn(batch, config.num_heads * config.head_dim).to(dtype)

    @torch.inference_mode()
    def multiply() -> float:
        began = time.perf_counter()
        for layer in layers:
            layer.qkv(rows[0]), layer.output(heads), layer.gate_up(rows[0]), layer.down(rows[1])
        head(rows[0])
        return time.perf_counter() - began

    seconds = statistics.median(multiply() for _ in range(7))
    step = statistics.median(step.duration for run in runs for step in run.live.measured[1:])
    rate = 2 * batch * config.num_parameters / seconds
    figure = f"{seconds * 1e3:.1f} ms of {step * 1e3:.1f} ms, {rate / 1e9:,.0f} GFLOP/s"
    return Row(f"{pair.dtype}: matrix products of {batch} row{'s' * (batch > 1)}", figure)


def _control(name: str, runs: list[Served]) -> Row:
    shares = [1 - run.computing / run.seconds for run in runs]
    share = statistics.median(shares)
    figure = f"{share:.1%} ({min(shares):.1%}-{max(shares):.1%})"
    return Row(f"{name}: scheduler and recorder, mixed stream", figure, f"< {CONTROL_SHARE:.0%}", share < CONTROL_SHARE)


def _fidelity(pair: Pair, amounts: Amounts) -> Row:
    vocabulary = pair.decoder.config.vocab_size
    found = fidelity(pair.decoder, *(mixed(amounts.num_fitted, vocabulary, seed) for seed in (1, 2)))
    figure = f"half of {found.num_steps} steps within {found.median:.1%}, all time {found.total:+.1%}"
    return Row(f"{pair.dtype}: predicted step times", figure, f"< {FIDELITY:.0%}", found.median < FIDELITY)


def _version() -> str:
    import transformers

    return transformers.__version__
