"""Paged attention in Triton, for CUDA: one kernel stores keys and values, one reads for decodes, one for chunks.

A token of the context is found through the block table when it is read, so tiles of tokens need not be blocks. Sums are
kept with their running maximum (online softmax, FlashAttention). Decodes read a long context in several splits at once
that a fourth kernel puts together (Flash-Decoding), and all query heads of a KV head share what is read. Whoever sets
TRITON_INTERPRET=1 before triton is imported runs the same kernels on a CPU.
"""

import torch
import triton
import triton.language as tl

from engine.executor.attention import AttentionPlan
from engine.executor.kv_tensors import KVTensors

TILE_TOKENS = 64
"""Tokens of context that a program reads at once."""
TILE_QUERIES = 64
"""Queries of a chunk that a program answers; in float32 half as many, to fit into the memory of small cards."""
SPLIT_TOKENS = 256
"""Fewest tokens of context that are worth a program of their own."""
NUM_PROGRAMS = 512
"""Programs that keep a large card busy; more splits than that only cost."""


class TritonAttention:
    """Like `TorchAttention`; rows may come in any order."""

    def __init__(self, kv: KVTensors, plan: AttentionPlan) -> None:
        self._layers = kv.layers
        self._block_size = kv.block_size
        self._num_kv_heads, self._head_dim = kv.layers[0].shape[-2:]
        self._tile_queries = TILE_QUERIES * 2 // max(2, kv.layers[0].dtype.itemsize)
        rows = range(plan.num_rows)
        decodes = [row for row in rows if plan.num_queries(row) == 1]
        tiles = [
            (row, first)
            for row in rows
            if plan.num_queries(row) > 1
            for first in range(0, plan.num_queries(row), self._tile_queries)
        ]
        width = max(map(len, plan.block_tables))
        tables = [table + [0] * (width - len(table)) for table in plan.block_tables]
        self._tables = self._numbers(tables)
        self._slots = torch.from_numpy(plan.slot_mapping).to(kv.layers[0].device)
        self._query_start = self._numbers(plan.query_start)
        self._lengths = self._numbers(plan.lengths)
        self._decodes = self._numbers(decodes)
        self._tiles = self._numbers(tiles)
        self._num_splits = 1
        if decodes:
            longest = max(plan.lengths[row] for row in decodes)
            wanted = NUM_PROGRAMS // (len(decodes) * self._num_kv_heads)
            self._num_splits = max(1, min(wanted, longest // SPLIT_TOKENS))

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values = self._layers[layer]
        num_tokens, num_heads, head_dim = q.shape
        q, k, v = (x if x.stride(2) == 1 else x.contiguous() for x in (q, k, v))
        row_size = self._num_kv_heads * head_dim
        _store[(num_tokens,)](
            k, v, keys, values, self._slots, *k.stride()[:2], *v.stride()[:2],
            HEAD_DIM=head_dim, ROW=row_size, PADDED=triton.next_power_of_2(row_size),
        )  # fmt: skip
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
        sizes = {
            "BLOCK_SIZE": self._block_size,
            "ROW": row_size,
            "HEAD_DIM": head_dim,
            "DIM": triton.next_power_of_2(head_dim),
            "GROUP": num_heads // self._num_kv_heads,
            "TOKENS": TILE_TOKENS,
        }
        if len(self._decodes):
            self._decode(q, keys, values, out, sizes)
        if len(self._tiles):
            _chunk[(len(self._tiles), num_heads)](
                q, keys, values, out, self._tiles, self._query_start, self._lengths, self._tables,
                head_dim**-0.5, *q.stride()[:2], num_heads, self._tables.shape[1], QUERIES=self._tile_queries, **sizes,
            )  # fmt: skip
        return out

    def _decode(
        self, q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, out: torch.Tensor, sizes: dict[str, int]
    ) -> None:
        num_rows, num_heads, head_dim = len(self._decodes), *q.shape[1:]
        parts = torch.empty(num_rows, num_heads, self._num_splits, head_dim, dtype=torch.float32, device=q.device)
        weights = torch.empty(num_rows, num_heads, self._num_splits, dtype=torch.float32, device=q.device)
        _read[(num_rows, self._num_kv_heads, self._num_splits)](
            q, keys, values, parts, weights, self._decodes, self._query_start, self._lengths, self._tables,
            head_dim**-0.5, *q.stride()[:2], num_heads, self._tables.shape[1],
            HEADS=max(16, triton.next_power_of_2(sizes["GROUP"])), **sizes,
        )  # fmt: skip
        _merge[(num_rows, num_heads)](
            parts, weights, out, self._decodes, self._query_start, num_heads, self._num_splits,
            HEAD_DIM=head_dim, DIM=sizes["DIM"], SPLITS=triton.next_power_of_2(self._num_splits),
        )  # fmt: skip

    def _numbers(self, values: list) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int32, device=self._layers[0].device)


@triton.jit
def _store(
    k, v, keys, values, slots, k_token, k_head, v_token, v_head,
    HEAD_DIM: tl.constexpr, ROW: tl.constexpr, PADDED: tl.constexpr,
):  # fmt: skip
    """One token: its keys and values of all heads go to its slot."""
    token = tl.program_id(0)
    slot = tl.load(slots + token)
    place = tl.arange(0, PADDED)
    head, dim, inside = place // HEAD_DIM, place % HEAD_DIM, place < ROW
    tl.store(keys + slot * ROW + place, tl.load(k + token * k_token + head * k_head + dim, mask=inside), mask=inside)
    tl.store(values + slot * ROW + place, tl.load(v + token * v_token + head * v_head + dim, mask=inside), mask=inside)


@triton.jit
def _tile(
    base, table, tokens, inside, kv_head, dim, ROW: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    """Keys or values [TOKENS, DIM] of some tokens of a sequence, found through its block table."""
    block = tl.load(table + tokens // BLOCK_SIZE, mask=inside, other=0).to(tl.int64)
    slot = block * BLOCK_SIZE + tokens % BLOCK_SIZE
    place = slot[:, None] * ROW + kv_head * HEAD_DIM + dim[None, :]
    return tl.load(base + place, mask=inside[:, None] & (dim < HEAD_DIM)[None, :], other=0.0)


@triton.jit
def _read(
    q, keys, values, parts, weights, rows, query_start, lengths, tables,
    scale, q_token, q_head, num_heads, table_width,
    HEADS: tl.constexpr, BLOCK_SIZE: tl.constexpr, ROW: tl.constexpr, HEAD_DIM: tl.constexpr, DIM: tl.constexpr,
    GROUP: tl.constexpr, TOKENS: tl.constexpr,
):  # fmt: skip
    """One decoding row, one KV head, one split of the context: the attended values and the logarithm of their weight."""
    number, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    row = tl.load(rows + number)
    length = tl.load(lengths + row)
    share = tl.cdiv(tl.cdiv(length, tl.num_programs(2)), TOKENS) * TOKENS
    begin, end = split * share, tl.minimum(split * share + share, length)
    head, dim = tl.arange(0, HEADS), tl.arange(0, DIM)
    exists = (head < GROUP)[:, None] & (dim < HEAD_DIM)[None, :]
    asking = kv_head * GROUP + head
    place = tl.load(query_start + row) * q_token + asking[:, None] * q_head + dim[None, :]
    queries = tl.load(q + place, mask=exists, other=0.0)
    best = tl.full([HEADS], float("-inf"), tl.float32)
    total = tl.zeros([HEADS], tl.float32)
    attended = tl.zeros([HEADS, DIM], tl.float32)
    for first in range(begin, end, TOKENS):
        tokens = first + tl.arange(0, TOKENS)
        inside = tokens < end
        key = _tile(keys, tables + row * table_width, tokens, inside, kv_head, dim, ROW, HEAD_DIM, BLOCK_SIZE)
        scores = tl.dot(queries, tl.trans(key), input_precision="ieee") * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        higher = tl.maximum(best, tl.max(scores, 1))
        chances = tl.exp(scores - higher[:, None])
        fade = tl.exp(best - higher)
        value = _tile(values, tables + row * table_width, tokens, inside, kv_head, dim, ROW, HEAD_DIM, BLOCK_SIZE)
        total = total * fade + tl.sum(chances, 1)
        attended = attended * fade[:, None] + tl.dot(chances.to(value.dtype), value, input_precision="ieee")
        best = higher
    # a split behind the end of the context has nothing to say: weight exp(-inf)
    some = tl.where(total > 0, total, 1.0)
    part = (number * num_heads + asking) * tl.num_programs(2) + split
    tl.store(parts + part[:, None] * HEAD_DIM + dim[None, :], attended / some[:, None], mask=exists)
    tl.store(weights + part, tl.where(total > 0, best + tl.log(some), float("-inf")), mask=head < GROUP)


@triton.jit
def _merge(
    parts, weights, out, rows, query_start, num_heads, num_splits,
    HEAD_DIM: tl.constexpr, DIM: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    """One decoding row, one query head: the splits by their weights."""
    number, head = tl.program_id(0), tl.program_id(1)
    split, dim = tl.arange(0, SPLITS), tl.arange(0, DIM)
    here = number * num_heads + head
    weight = tl.load(weights + here * num_splits + split, mask=split < num_splits, other=float("-inf"))
    weight = tl.exp(weight - tl.max(weight, 0))
    place = (here * num_splits + split)[:, None] * HEAD_DIM + dim[None, :]
    exists = (split < num_splits)[:, None] & (dim < HEAD_DIM)[None, :]
    part = tl.load(parts + place, mask=exists, other=0.0)
    merged = tl.sum(part * weight[:, None], 0) / tl.sum(weight, 0)
    token = tl.load(query_start + tl.load(rows + number))
    target = out + (token * num_heads + head) * HEAD_DIM + dim
    tl.store(target, merged.to(out.dtype.element_ty), mask=dim < HEAD_DIM)


@triton.jit
def _chunk(
    q, keys, values, out, tiles, query_start, lengths, tables,
    scale, q_token, q_head, num_heads, table_width,
    QUERIES: tl.constexpr, BLOCK_SIZE: tl.constexpr, ROW: tl.constexpr, HEAD_DIM: tl.constexpr, DIM: tl.constexpr,
    GROUP: tl.constexpr, TOKENS: tl.constexpr,
):  # fmt: skip
    """Some neighbouring queries of one row, one query head: everything up to their own places."""
    number, head = tl.program_id(0), tl.program_id(1)
    row, first_query = tl.load(tiles + 2 * number), tl.load(tiles + 2 * number + 1)
    start, length = tl.load(query_start + row), tl.load(lengths + row)
    num_queries = tl.load(query_start + row + 1) - start
    num_before = length - num_queries
    query, dim = first_query + tl.arange(0, QUERIES), tl.arange(0, DIM)
    exists = (query < num_queries)[:, None] & (dim < HEAD_DIM)[None, :]
    queries = tl.load(q + (start + query)[:, None] * q_token + head * q_head + dim[None, :], mask=exists, other=0.0)
    best = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    attended = tl.zeros([QUERIES, DIM], tl.float32)
    for first in range(0, tl.minimum(num_before + first_query + QUERIES, length), TOKENS):
        tokens = first + tl.arange(0, TOKENS)
        inside = tokens < length
        table = tables + row * table_width
        key = _tile(keys, table, tokens, inside, head // GROUP, dim, ROW, HEAD_DIM, BLOCK_SIZE)
        scores = tl.dot(queries, tl.trans(key), input_precision="ieee") * scale
        seen = inside[None, :] & (tokens[None, :] <= num_before + query[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(best, tl.max(scores, 1))
        chances = tl.exp(scores - higher[:, None])
        fade = tl.exp(best - higher)
        value = _tile(values, table, tokens, inside, head // GROUP, dim, ROW, HEAD_DIM, BLOCK_SIZE)
        total = total * fade + tl.sum(chances, 1)
        attended = attended * fade[:, None] + tl.dot(chances.to(value.dtype), value, input_precision="ieee")
        best = higher
    target = out + (start + query)[:, None] * num_heads * HEAD_DIM + head * HEAD_DIM + dim[None, :]
    tl.store(target, (attended / total[:, None]).to(out.dtype.element_ty), mask=exists)
