"""The executor with a model: real token ids from paged KV, through the same batches as the simulator gets.

A step is: copy the blocks that somebody else still reads, run all tokens as one ragged batch, sample where a row asks
for it. Rows are computed in an order that suits attention, like lengths beside each other, and answered in theirs.
What the KV manager wrote into the block tables is the truth at every step; nothing of it is remembered here.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Protocol

import numpy as np
import torch

from engine.batch import Batch, Row, StepOutput
from engine.decoding.sampling import Draw, sample_token
from engine.executor.attention import AttentionPlan, PagedAttention, attention_for
from engine.executor.kv_tensors import KVShape, KVTensors
from engine.executor.model_error import ModelError
from engine.sequence import Sequence
from engine.settings import Settings

Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


class Model(Protocol):
    """A decoder that leaves attention to others."""

    dtype: torch.dtype
    device: torch.device

    @property
    def config(self) -> KVShape: ...

    def forward(
        self, token_ids: torch.Tensor, positions: torch.Tensor, attend: Attend, last: torch.Tensor
    ) -> torch.Tensor:
        """Logits [S, vocabulary] of the tokens whose places in the batch `last` [S] lists."""


class TorchExecutor:
    """Owns the KV tensors; `kv` and `attention` are open for tests and measurements."""

    def __init__(self, model: Model, settings: Settings, attention: type[PagedAttention] | None = None) -> None:
        self.model = model
        self.kv = KVTensors(model.config, settings, model.dtype, model.device)
        self.attention = attention or attention_for(str(model.device))
        self._block_size = settings.block_size

    @torch.inference_mode()
    def execute(self, batch: Batch) -> StepOutput:
        """Run one step; `duration` is measured. Raises ModelError where the model gives no numbers."""
        began = perf_counter()
        self.kv.copy(batch.swaps)
        self.kv.copy(batch.copies)
        rows = batch.rows
        order = sorted(range(len(rows)), key=lambda i: _place(rows[i]))
        logits = self._forward([rows[i] for i in order])
        token_ids = self._sample(rows, order, logits)
        if self.model.device.type == "cuda":
            torch.cuda.synchronize(self.model.device)
        return StepOutput(perf_counter() - began, token_ids)

    def _forward(self, rows: list[Row]) -> torch.Tensor:
        """Logits of the last token of each row that samples, in the order given; [0, ...] when none does."""
        plan = AttentionPlan.of(
            [(row.start, row.num_tokens, row.sequence.block_table) for row in rows], self._block_size
        )
        token_ids = [token for row in rows for token in tokens_of(row.sequence, row.start, row.num_tokens)]
        last = [plan.query_start[i + 1] - 1 for i, row in enumerate(rows) if row.num_samples]
        device = self.model.device
        return self.model.forward(
            torch.tensor(token_ids, device=device),
            torch.from_numpy(plan.positions).to(device),
            self.attention(self.kv, plan),
            torch.tensor(last, dtype=torch.int64, device=device),
        )

    @staticmethod
    def _sample(rows: list[Row], order: list[int], logits: torch.Tensor) -> list[list[int]]:
        """`num_samples` ids for each row; the best tokens of all rows are found at once."""
        token_ids: list[list[int]] = [[] for _ in rows]
        sampling = [i for i in order if rows[i].num_samples]
        best = best_of(logits) if sampling else []
        for place, i in enumerate(sampling):
            sequence, start, num_tokens, num_samples = rows[i]
            params = sequence.group.request.sampling
            if params.temperature == 0:
                token_ids[i] = [best[place]] * num_samples
                continue
            row_logits = logits[place].float().cpu().numpy()
            samples = range(num_samples) if num_samples > 1 else (sequence.sample,)
            token_ids[i] = [sample_token(row_logits, Draw(params, sample, start + num_tokens)) for sample in samples]
        return token_ids


def best_of(logits: torch.Tensor) -> list[int]:
    """The token with the largest logit of each row [S, vocabulary]; the first one where several are equal. numpy finds it
    in a sixth of torch's time on the CPU; it does not know bfloat16.

    Raises ModelError where that logit is no finite number: a row with a NaN has it there, because NaN counts as largest.
    """
    if logits.device.type == "cpu":
        rows = (logits.float() if logits.dtype is torch.bfloat16 else logits).numpy()
        tokens = rows.argmax(-1)
        are_numbers = bool(np.isfinite(rows[np.arange(len(rows)), tokens]).all())
        best: list[int] = tokens.tolist()
    else:
        places = logits.argmax(-1, keepdim=True)
        are_numbers = bool(logits.gather(-1, places).isfinite().all())
        best = places[:, 0].tolist()
    if not are_numbers:
        raise ModelError(
            "The model gives no numbers (its logits are not finite); its file may be damaged, get it again or choose another."
        )
    return best


def tokens_of(sequence: Sequence, start: int, num_tokens: int) -> tuple[int, ...]:
    """Ids of tokens start .. start + num_tokens - 1 of prompt and output. Raises ValueError where they are not known."""
    prompt = sequence.group.request.prompt.token_ids
    if prompt is None:
        raise ValueError(f"request {sequence.group.request.request_id!r} has no token ids; a model needs them.")
    end, prompt_len = start + num_tokens, len(prompt)
    ids = prompt[start:end]
    if end > prompt_len:
        ids += tuple(sequence.output_token_ids[max(start - prompt_len, 0) : end - prompt_len])
    if len(ids) != num_tokens:
        raise ValueError(f"tokens {start} to {end - 1} of {sequence} are asked for; not all of them are known.")
    return ids


def _place(row: Row) -> tuple[bool, int]:
    """Decoding rows first, the longest of them first."""
    return row.num_tokens > 1, -row.start
