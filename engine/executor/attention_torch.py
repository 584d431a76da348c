"""Paged attention in plain torch, for the CPU: nobody is padded to the longest sequence.

Sequences that decode have one query each. Neighbours of like length are read together: their blocks are gathered into
one tensor, and the few tokens by which the shorter ones fall behind are masked. A prompt or a chunk has many queries
and is read alone; a prompt that begins here reads its keys where they were computed, without a detour through blocks.
The query heads that share a KV head are taken as queries of that head, so no key is ever repeated in memory.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from engine.executor.attention import AttentionPlan
from engine.executor.kv_tensors import KVTensors

MAX_PADDING = 256
"""Tokens of padding that a group of decoding rows may carry; reading them costs about as much as one more group."""
MAX_QUERIES = 256
"""Queries of a chunk that are answered at once when tokens lie before it: bounds the mask, whatever the context."""
MAX_GATHERED = 4_000_000
"""Bytes of keys and values that a group of several rows gathers: they are read again while they lie in the CPU's cache."""


@dataclass(slots=True)
class Decodes:
    """Neighbouring rows with one query each: tokens first .. end - 1 of the batch."""

    first: int
    end: int
    blocks: torch.Tensor
    mask: torch.Tensor | None


@dataclass(slots=True)
class Part:
    """Some queries of a chunk: tokens first .. end - 1 of the batch, which see the first `num_seen` tokens of the context.
    `mask` [queries, num_seen] hides what lies ahead; without one the queries are the whole context."""

    first: int
    end: int
    num_seen: int
    mask: torch.Tensor | None


@dataclass(slots=True)
class Chunk:
    """A row with many queries. Without `blocks` its context begins in this batch, and it has one part."""

    blocks: torch.Tensor | None
    parts: list[Part]


class TorchAttention:
    """Works best when rows of like length are neighbours."""

    def __init__(self, kv: KVTensors, plan: AttentionPlan) -> None:
        self._layers = kv.layers
        self._block_size = kv.block_size
        self._dtype = kv.layers[0].dtype
        self._slots = torch.from_numpy(plan.slot_mapping)
        self._chunks = self._cut_chunks(plan)
        token_bytes = kv.layers[0][:, 0, 0].numel() * self._dtype.itemsize
        groups = groups_of_like_length(plan, MAX_PADDING, MAX_GATHERED // token_bytes)
        self._decodes = [self._group(plan, rows) for rows in groups]

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values = self._layers[layer]
        num_kv_heads, head_dim = k.shape[1:]
        keys.view(-1, num_kv_heads, head_dim).index_copy_(0, self._slots, k)
        values.view(-1, num_kv_heads, head_dim).index_copy_(0, self._slots, v)
        grouped = q.view(q.shape[0], num_kv_heads, -1, head_dim)
        out = torch.empty_like(grouped, memory_format=torch.contiguous_format)
        for rows in self._decodes:
            shape = (rows.end - rows.first, -1, num_kv_heads, head_dim)
            out[rows.first : rows.end] = sdpa(
                grouped[rows.first : rows.end],
                keys.index_select(0, rows.blocks).view(shape).transpose(1, 2),
                values.index_select(0, rows.blocks).view(shape).transpose(1, 2),
                attn_mask=rows.mask,
            )
        for row in self._chunks:
            k_row, v_row = k[row.parts[0].first :], v[row.parts[0].first :]
            if row.blocks is not None:
                k_row, v_row = (x.index_select(0, row.blocks).view(-1, *k.shape[1:]) for x in (keys, values))
            for part in row.parts:
                queries = grouped[part.first : part.end].permute(1, 2, 0, 3)
                k_seen, v_seen = (_for_groups(x[: part.num_seen], queries.shape[1]) for x in (k_row, v_row))
                attended = sdpa(queries, k_seen, v_seen, attn_mask=part.mask, is_causal=part.mask is None)
                out[part.first : part.end] = attended.permute(2, 0, 1, 3)
        return out.view(q.shape)

    def _group(self, plan: AttentionPlan, rows: range) -> Decodes:
        tables, lengths = plan.block_tables[rows.start : rows.stop], plan.lengths[rows.start : rows.stop]
        width = max(map(len, tables))
        blocks = [block for table in tables for block in table + table[:1] * (width - len(table))]
        mask = None
        if min(lengths) < width * self._block_size:
            behind = torch.arange(width * self._block_size) >= torch.tensor(lengths).unsqueeze(1)
            mask = _minus_infinity(behind, self._dtype)[:, None, None]
        first = plan.query_start[rows.start]
        return Decodes(first, first + len(rows), torch.tensor(blocks), mask)

    def _cut_chunks(self, plan: AttentionPlan) -> list[Chunk]:
        """One mask serves all parts of the step: query i sees `most` tokens and i + 1 of its own. A part with fewer
        tokens before it takes the right end of it."""
        rows = [row for row in range(plan.num_rows) if plan.num_queries(row) > 1]
        most = max((plan.lengths[row] for row in rows if plan.num_queries(row) < plan.lengths[row]), default=0)
        num_queries = min(MAX_QUERIES, plan.num_tokens) if most else 0
        ahead = torch.arange(most + num_queries) > most + torch.arange(num_queries).unsqueeze(1)
        mask = _minus_infinity(ahead, self._dtype)
        chunks = []
        for row in rows:
            first, end, length = plan.query_start[row], plan.query_start[row + 1], plan.lengths[row]
            if end - first == length:
                chunks.append(Chunk(None, [Part(first, end, length, None)]))
                continue
            parts = []
            for begin in range(first, end, MAX_QUERIES):
                until = min(begin + MAX_QUERIES, end)
                num_before = length - (end - begin)
                cut = mask[: until - begin, most - num_before : most + until - begin]
                parts.append(Part(begin, until, length - (end - until), cut))
            chunks.append(Chunk(torch.tensor(plan.block_tables[row]), parts))
        return chunks


def _for_groups(x: torch.Tensor, group: int) -> torch.Tensor:
    """Keys or values [T, Hkv, D] as [Hkv, group, T, D]; all queries of a group read the same memory."""
    return x.transpose(0, 1).unsqueeze(1).expand(-1, group, -1, -1)


def groups_of_like_length(plan: AttentionPlan, max_padding: int, max_tokens: int) -> list[range]:
    """Neighbouring rows with one query, cut where a group would carry more padding or, with several rows, more tokens."""
    groups: list[range] = []
    first = longest = total = 0
    for row in range(plan.num_rows):
        if plan.num_queries(row) != 1:
            continue
        length = len(plan.block_tables[row]) * plan.block_size
        padded = max(longest, length) * (row + 1 - first)
        is_neighbour = bool(groups) and groups[-1].stop == row
        if is_neighbour and padded <= max_tokens and padded - total - length <= max_padding:
            longest, total = max(longest, length), total + length
            groups[-1] = range(first, row + 1)
        else:
            groups.append(range(row, row + 1))
            first, longest, total = row, length, length
    return groups


def _minus_infinity(hidden: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A mask to be added to scores: -inf where `hidden`."""
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill_(hidden, float("-inf"))
