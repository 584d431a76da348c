"""The Triton kernels say what the torch path says. Without a GPU they run under Triton's interpreter, which has to be
chosen before triton is imported: so this file runs itself once more in a process of its own."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="the live engine needs torch")
pytest.importorskip("triton", reason="the kernels need triton")

from engine.executor.attention import AttentionPlan, attention_for
from engine.executor.attention_torch import TorchAttention
from engine.executor.kv_tensors import KVTensors
from engine.settings import Settings
from tests.engine.executor.tiny_llama import TinyShape

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
interpreted = pytest.mark.skipif(not IS_INTERPRETED, reason="runs in the process that the last test starts")
DEVICE = torch.device("cpu")


def both(shape: TinyShape, block_size: int, rows: list[tuple[int, int]], monkeypatch, dtype=torch.float32, **tiles):
    """Outputs and KV tensors of both paths for rows (start, num_tokens) on scattered blocks with some KV in them."""
    from engine.executor import attention_triton

    for name, value in tiles.items():
        monkeypatch.setattr(attention_triton, name, value)
    generator = torch.Generator().manual_seed(7)
    num_blocks = sum(-(-(start + new) // block_size) for start, new in rows)
    scattered = torch.randperm(num_blocks, generator=generator).tolist()
    tables = [[scattered.pop() for _ in range(-(-(start + new) // block_size))] for start, new in rows]
    plan = AttentionPlan.of([(*row, table) for row, table in zip(rows, tables, strict=True)], block_size)
    kv = [KVTensors(shape, Settings(num_blocks=num_blocks, block_size=block_size), dtype, DEVICE) for _ in range(2)]
    stored = torch.randn(kv[0].layers[1].shape, generator=generator).to(dtype)
    for tensors in kv:
        tensors.layers[1].copy_(stored)
    num_heads = shape.num_heads + 2 * shape.num_kv_heads
    qkv = torch.randn(plan.num_tokens, num_heads, shape.head_dim, generator=generator).to(dtype)
    q, k, v = qkv.split((shape.num_heads, shape.num_kv_heads, shape.num_kv_heads), dim=1)
    plain = TorchAttention(kv[0], plan)(1, q, k, v)
    triton = attention_triton.TritonAttention(kv[1], plan)(1, q, k, v)
    assert torch.equal(kv[0].layers[1], kv[1].layers[1])
    assert not torch.equal(kv[0].layers[1], stored)
    return plain, triton


@interpreted
@pytest.mark.parametrize("num_heads, num_kv_heads", [(9, 3), (32, 8)])
@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("block_size", [8, 16, 32])
def test_decodes_and_chunks_around_block_borders_equal_the_torch_path(
    num_heads, num_kv_heads, head_dim, block_size, monkeypatch
):
    shape = TinyShape(num_heads=num_heads, num_kv_heads=num_kv_heads, head_dim=head_dim)
    decodes = [(0, 1), (block_size - 2, 1), (block_size - 1, 1), (block_size, 1), (2 * block_size, 1)]
    chunks = [(0, block_size), (block_size - 1, 3), (block_size, block_size + 1)]
    tiles = {"TILE_TOKENS": 16, "TILE_QUERIES": 32}
    plain, triton = both(shape, block_size, decodes + chunks, monkeypatch, **tiles)
    assert (plain - triton).abs().max() < 2e-6


@interpreted
@pytest.mark.parametrize("split_tokens", [16, 40, 1000])
def test_a_context_that_is_read_in_splits_equals_one_that_is_not(split_tokens, monkeypatch):
    rows = [(150, 1), (15, 1), (0, 1), (96, 1)]
    plain, triton = both(TinyShape(), 16, rows, monkeypatch, TILE_TOKENS=16, SPLIT_TOKENS=split_tokens)
    assert (plain - triton).abs().max() < 2e-6


@interpreted
def test_a_long_chunk_is_answered_in_tiles_and_rows_may_be_mixed(monkeypatch):
    rows = [(3, 70), (9, 1), (0, 33), (64, 1)]
    plain, triton = both(TinyShape(), 16, rows, monkeypatch, TILE_TOKENS=16, TILE_QUERIES=32)
    assert (plain - triton).abs().max() < 2e-6


@interpreted
def test_half_precision_stays_close(monkeypatch):
    plain, triton = both(TinyShape(), 16, [(40, 1), (0, 20)], monkeypatch, dtype=torch.float16)
    assert triton.dtype is torch.float16
    assert (plain.float() - triton.float()).abs().max() < 4e-3


def test_cuda_gets_the_kernels_and_a_cpu_torch():
    assert attention_for("cuda:0").__name__ == "TritonAttention"
    assert attention_for("cpu") is TorchAttention


@pytest.mark.slow
@pytest.mark.skipif(IS_INTERPRETED, reason="the interpreter compiles nothing")
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("element, head_dim", [("bf16", 64), ("fp32", 128)])
def test_the_kernels_compile_for_cards_that_are_not_here(element, head_dim):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    from engine.executor import attention_triton as kernels

    pointers = dict.fromkeys(("q", "k", "v", "keys", "values", "out"), f"*{element}")
    pointers |= dict.fromkeys(("rows", "query_start", "lengths", "tables", "tiles"), "*i32")
    pointers |= {"slots": "*i64", "parts": "*fp32", "weights": "*fp32", "scale": "fp32"}
    sizes = {"HEAD_DIM": head_dim, "DIM": head_dim, "ROW": 3 * head_dim, "PADDED": 4 * head_dim, "BLOCK_SIZE": 16}
    sizes |= {"GROUP": 3, "HEADS": 16, "SPLITS": 8, "TOKENS": kernels.TILE_TOKENS}
    sizes |= {"QUERIES": kernels.TILE_QUERIES // (2 if element == "fp32" else 1)}
    for kernel in (kernels._store, kernels._read, kernels._merge, kernels._chunk):
        constants = {name: sizes[name] for name in kernel.arg_names if name in sizes}
        types = {name: "constexpr" if name in sizes else pointers.get(name, "i32") for name in kernel.arg_names}
        compiled = compile(
            ASTSource(fn=kernel, signature=types, constexprs=constants), target=GPUTarget("cuda", 80, 32)
        )
        assert compiled.asm["cubin"]
        assert compiled.metadata.shared < 99 * 1024, f"{kernel.__name__} needs more shared memory than small cards have"


@pytest.mark.slow
@pytest.mark.skipif(IS_INTERPRETED, reason="this is the process that it starts")
def test_the_kernels_equal_the_torch_path_under_the_interpreter():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", __file__]
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "18 passed" in done.stdout, done.stdout[-500:]
