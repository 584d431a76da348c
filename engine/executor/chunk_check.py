"""A prompt computed in chunks has the logits of a prompt computed at once (Sarathi-Serve, section 4.2).

The keys and values of a chunk lie in blocks when the next one attends to them, so cutting moves work, not answers. Here
the live engine itself does it, on a small decoder with random weights in float64, where only rounding can differ.
"""

import torch

from engine.executor.llama import Llama
from engine.executor.llama_config import LlamaConfig
from engine.executor.paged_torch import TorchExecutor
from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings

CONFIG = LlamaConfig(
    vocab_size=97,
    hidden_size=72,
    intermediate_size=96,
    num_layers=2,
    num_heads=9,
    num_kv_heads=3,
    head_dim=8,
    max_position=256,
)
NUM_OUTPUTS = 4


def largest_difference(prompt_len: int, budgets: tuple[int, ...], seed: int = 0) -> tuple[list[int], float]:
    """The numbers of steps that the budgets take, and how far the logits of prompt and answer are from those without
    chunks, as a share of the largest one. Greedy answers of other tokens count as infinitely far."""
    generator = torch.Generator().manual_seed(seed)
    weights = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64) / shape[-1] ** 0.5
        for name, shape in CONFIG.shapes().items()
    }
    model = Llama(CONFIG, weights, torch.float64)
    prompt = torch.randint(CONFIG.vocab_size, (prompt_len,), generator=generator).tolist()
    whole = Overheard(model, Settings(num_blocks=prompt_len, block_size=4), prompt)
    steps, worst = [], 0.0
    for budget in budgets:
        settings = Settings(policy="chunked", max_num_batched_tokens=budget, num_blocks=prompt_len, block_size=4)
        cut = Overheard(model, settings, prompt)
        steps.append(cut.num_steps)
        far = float((cut.logits - whole.logits).abs().max() / whole.logits.abs().max())
        worst = max(worst, far if cut.token_ids == whole.token_ids else float("inf"))
    return steps, worst


class Overheard(TorchExecutor):
    """Serves one prompt; keeps the logits of the sampled tokens, [NUM_OUTPUTS, vocabulary]."""

    def __init__(self, model: Llama, settings: Settings, prompt: list[int]) -> None:
        super().__init__(model, settings)
        self._heard: list[torch.Tensor] = []
        engine = Engine(settings, executor=self)
        group = engine.submit(Request("A", 0.0, Prompt.of_ids(prompt), SamplingParams(max_tokens=NUM_OUTPUTS)))
        while engine.step():
            pass
        self.num_steps = engine.num_steps
        self.token_ids = group.sequences[0].output_token_ids
        self.logits = torch.cat(self._heard)

    def _forward(self, rows: list) -> torch.Tensor:
        logits = super()._forward(rows)
        self._heard.append(logits)
        return logits
