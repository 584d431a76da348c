"""`python -m tests.bench.gpu`: what a card can do, in at most eight minutes. Without a card it says so and exits with 2.

First the kernels: their answers beside those of the torch path on the CPU, their time beside gathering the blocks and
attending with torch on the card, and the share of the card's bandwidth at which a decode reads keys and values. Then whole
steps: tokens a second. `--tiny` does all of it on a few numbers, on a CPU under TRITON_INTERPRET=1, where no time means
anything.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from engine.executor.attention import AttentionPlan
from engine.executor.attention_torch import TorchAttention
from engine.executor.kv_tensors import KVTensors
from engine.executor.llama import Llama
from engine.executor.llama_config import LlamaConfig
from engine.settings import Settings
from tests.bench.figures import Row
from tests.bench.live_streams import equal, ours

MOST_SECONDS = 8 * 60
PEAKS = {"H200": 4.8e12, "H100 PCIe": 2.0e12, "H100": 3.35e12, "A100-SXM4-80": 2.04e12, "A100": 1.555e12, "L4": 0.3e12}
"""Bytes a second by part of the card's name, the more exact name first; of other cards the copying speed is measured."""
SMOLLM2 = LlamaConfig(49_152, 576, 1_536, 30, 9, 3, 64, 8_192, 100_000.0)
TOLERANCES = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}
"""How far the kernels may be from the torch path, values being about 1."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The attention of one layer."""

    num_heads: int
    num_kv_heads: int
    head_dim: int
    num_layers: int = 1


@dataclass(frozen=True, slots=True)
class Sizes:
    """Shapes of attention, decoding rows and their contexts, a chunk behind other tokens, batches of whole steps."""

    heads: tuple[Heads, ...] = (Heads(9, 3, 64), Heads(32, 8, 128))
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.bfloat16)
    num_rows: int = 64
    context: int = 4_096
    chunk: tuple[int, int] = (1_024, 512)
    config: LlamaConfig = SMOLLM2
    batches: tuple[int, ...] = (1, 8, 64, 256)
    num_tokens: int = 64
    repeats: int = 20
    copied_bytes: int = 2_000_000_000


TINY = Sizes(
    heads=(Heads(6, 2, 16),),
    dtypes=(torch.float32, torch.float16),  # the interpreter cannot multiply bfloat16
    num_rows=3,
    context=40,
    chunk=(20, 9),
    config=LlamaConfig(97, 72, 96, 2, 9, 3, 8, 256, 10_000.0),
    batches=(1, 3),
    num_tokens=4,
    repeats=1,
    copied_bytes=1_000_000,
)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.gpu", description="Measure kernels and steps on a GPU."
    )
    parser.add_argument("--tiny", action="store_true", help="only whether it works, on a CPU under TRITON_INTERPRET=1")
    is_tiny = parser.parse_args().tiny
    if not is_tiny and not torch.cuda.is_available():
        print("There is no GPU that torch can use here; run `make bench-gpu` on a machine with CUDA.", file=sys.stderr)
        sys.exit(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for line in report(device, TINY if is_tiny else Sizes()):
        print(line, flush=True)


def report(device: torch.device, sizes: Sizes) -> Iterator[str]:
    """Lines of the table, each as soon as it is measured; ends early rather than take more than eight minutes."""
    began = time.monotonic()
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "a CPU"
    peak, source = bandwidth_of(name, device, sizes)
    yield f"{name}, torch {torch.__version__}; bandwidth {peak / 1e9:,.0f} GB/s ({source}); medians of {sizes.repeats}"
    for rows in (kernels(device, sizes, peak), steps(device, sizes, peak)):
        for row in rows:
            yield str(row)
            if time.monotonic() - began > 0.9 * MOST_SECONDS:
                yield f"ended after {time.monotonic() - began:.0f} s; the rest is left out."
                return
    yield f"done after {time.monotonic() - began:.0f} s"


def kernels(device: torch.device, sizes: Sizes, peak: float) -> Iterator[Row]:
    """Decodes and a chunk by the kernels, compared with the torch path and timed."""
    for heads in sizes.heads:
        for dtype in sizes.dtypes:
            tolerance = TOLERANCES[dtype]
            name = f"{heads.num_heads}/{heads.num_kv_heads} x {heads.head_dim}, {_short(dtype)}"
            decodes = [(sizes.context - 1 - row, 1) for row in range(sizes.num_rows)]
            few = [(sizes.context - 1, 1), sizes.chunk, (0, sizes.chunk[1])]
            far = Layer.of(heads, few, dtype, device).distance()
            yield Row(f"{name}: kernels - torch", f"{far:.1e}", f"< {tolerance:g}", far < tolerance)
            layer = Layer.of(heads, decodes, dtype, device)
            mine, other = (
                median(action, device, sizes.repeats) for action in (layer.by_kernels(), layer.by_gathering())
            )
            read = sum(start + 1 for start, _ in decodes) * 2 * heads.num_kv_heads * heads.head_dim * dtype.itemsize
            figure = (
                f"{mine * 1e6:,.0f} us, {other / mine:.1f} x as fast as gathering; {read / mine / peak:.0%} of the peak"
            )
            yield Row(f"{name}: {sizes.num_rows} decodes", figure)
            chunk = Layer.of(heads, [sizes.chunk], dtype, device).by_kernels()
            figure = f"{median(chunk, device, sizes.repeats) * 1e6:,.0f} us"
            yield Row(f"{name}: {sizes.chunk[1]} tokens behind {sizes.chunk[0]}", figure)


def steps(device: torch.device, sizes: Sizes, peak: float) -> Iterator[Row]:
    """Answers of a model with random weights; how fast it is does not depend on them."""
    config = sizes.config
    generator = torch.Generator().manual_seed(0)
    tensors = {
        name: torch.randn(shape, generator=generator) / shape[-1] ** 0.5 for name, shape in config.shapes().items()
    }
    for dtype in sizes.dtypes:
        model = Llama(config, tensors, dtype, device)
        ours(model, equal(1, 8, 4, config.vocab_size))  # compiles the kernels
        for batch in sizes.batches:
            served = ours(model, equal(batch, 32, sizes.num_tokens, config.vocab_size))
            step = statistics.median(step.duration for step in served.live.measured[1:])
            share = config.num_parameters * dtype.itemsize / step / peak
            figure = f"{batch * sizes.num_tokens / served.seconds:,.0f} tokens/s, {step * 1e3:.2f} ms a step"
            yield Row(f"{_short(dtype)}: batch {batch}", f"{figure}, weights at {share:.0%} of the peak")


@dataclass(frozen=True, slots=True)
class Layer:
    """Random queries, keys and values of one step, and KV tensors in which the tokens before lie scattered."""

    plan: AttentionPlan
    kv: KVTensors
    qkv: tuple[torch.Tensor, torch.Tensor, torch.Tensor]

    @classmethod
    def of(cls, heads: Heads, rows: list[tuple[int, int]], dtype: torch.dtype, device: torch.device) -> "Layer":
        generator = torch.Generator().manual_seed(0)
        counts = [-(-(start + new) // 16) for start, new in rows]
        scattered = torch.randperm(sum(counts), generator=generator).tolist()
        tables = [[scattered.pop() for _ in range(count)] for count in counts]
        plan = AttentionPlan.of([(*row, table) for row, table in zip(rows, tables, strict=True)], 16)
        kv = KVTensors(heads, Settings(num_blocks=sum(counts), block_size=16), dtype, device)
        kv.layers[0].copy_(torch.randn(kv.layers[0].shape, generator=generator))
        shapes = [(plan.num_tokens, number, heads.head_dim) for number in (heads.num_heads, *2 * (heads.num_kv_heads,))]
        q, k, v = (torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes)
        return cls(plan, kv, (q, k, v))

    def by_kernels(self) -> Callable[[], torch.Tensor]:
        from engine.executor.attention_triton import TritonAttention

        attention = TritonAttention(self.kv, self.plan)
        return lambda: attention(0, *self.qkv)

    def by_gathering(self) -> Callable[[], torch.Tensor]:
        """For decodes: all blocks are copied together, the longest context decides, and torch attends."""
        keys, values = self.kv.layers[0]
        width = max(map(len, self.plan.block_tables))
        tables = torch.tensor(
            [table + [0] * (width - len(table)) for table in self.plan.block_tables], device=keys.device
        )
        behind = (
            torch.arange(16 * width, device=keys.device) >= torch.tensor(self.plan.lengths, device=keys.device)[:, None]
        )
        mask = torch.zeros(behind.shape, dtype=keys.dtype, device=keys.device).masked_fill_(behind, float("-inf"))
        q = self.qkv[0].unsqueeze(2)

        def attend() -> torch.Tensor:
            k, v = (x[tables].flatten(1, 2).transpose(1, 2) for x in (keys, values))
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask[:, None, None], enable_gqa=True
            )

        return attend

    def distance(self) -> float:
        """The largest difference to the torch path on the CPU, in float32 there."""
        shape = self.kv.layers[0].shape
        heads = Heads(self.qkv[0].shape[1], shape[-2], shape[-1])
        settings = Settings(num_blocks=shape[1], block_size=16)
        there = KVTensors(heads, settings, torch.float32, "cpu")
        there.layers[0].copy_(self.kv.layers[0])
        plain = TorchAttention(there, self.plan)(0, *(x.cpu().float() for x in self.qkv))
        return float((self.by_kernels()().cpu().float() - plain).abs().max())


def bandwidth_of(name: str, device: torch.device, sizes: Sizes) -> tuple[float, str]:
    """Bytes a second, and where the number is from."""
    for part, peak in PEAKS.items():
        if part in name:
            return peak, "of its data sheet"
    source = torch.ones(sizes.copied_bytes // 4, device=device)
    target = torch.empty_like(source)
    return 2 * sizes.copied_bytes / median(lambda: target.copy_(source), device, sizes.repeats), "copying"


def median(action: Callable[[], object], device: torch.device, repeats: int) -> float:
    """Seconds of one call; the first three are not counted."""
    times = []
    for number in range(-3, repeats):
        _wait(device)
        began = time.perf_counter()
        action()
        _wait(device)
        if number >= 0:
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


if __name__ == "__main__":
    main()
