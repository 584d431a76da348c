"""Greedy answers of the real model as transformers gives them, and a live engine that is compared with them.

Two logits that are almost equal may change places when sums are rounded in another order. From the first such near-tie of
the reference on nothing is compared: behind it two right answers may differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from engine.batch import Batch, Row
from engine.executor.checkpoint import Checkpoint
from engine.executor.paged_torch import Model, TorchExecutor
from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from tests.engine.executor.tiny_checkpoint import reference

NUM_TOKENS = 64
TOLERANCE = 1e-4
"""Of the largest absolute logit of a position."""

QUESTIONS = (
    "What is gravity?",
    "Erzähl mir einen Witz über Züge.",
    "中国的首都是哪里？",
    "Write 3 lines about 🙂 and 1024.",
)
TEXTS = (
    "The",
    "def fibonacci(n):\n    if n < 2:\n        return n\n",
    "Жили-были старик со старухой у самого синего моря.",
    """The serving engine keeps the keys and values of all tokens in blocks. A block has room for sixteen tokens; a table
says where the blocks of a sequence lie. When two sequences begin with the same words, they share the blocks of these words,
and a block is copied when one of them writes into it. When memory is full, the last sequence gives its blocks back and
computes its tokens again later. None of this may change what the model says, because""",
)


@dataclass(frozen=True)
class Answer:
    """`logits` [64, vocabulary] are those from which `token_ids` were taken."""

    prompt: tuple[int, ...]
    token_ids: list[int]
    logits: torch.Tensor

    @cached_property
    def scales(self) -> list[float]:
        """The largest absolute logit of each position."""
        return self.logits.abs().amax(-1).tolist()

    @cached_property
    def near_ties(self) -> list[int]:
        """Positions whose two best logits are closer than the tolerance."""
        best, second = self.logits.topk(2).values.T
        return [i for i, gap in enumerate((best - second).tolist()) if gap < TOLERANCE * self.scales[i]]

    @property
    def num_certain(self) -> int:
        """Tokens before the first near-tie."""
        return self.near_ties[0] if self.near_ties else len(self.token_ids)


def answers_of_transformers(checkpoint: Checkpoint, decoder: Model) -> list[Answer]:
    """In float32, on the same dequantised weights. `decoder` guesses, which saves time: transformers reads a whole guess in
    one pass, takes it up to the first token that is not its own best one, and has the rest guessed again."""
    model, tokenizer = reference(checkpoint.config, dict(checkpoint.tensors)), checkpoint.tokenizer
    pairs = zip(map(tokenizer.ask, QUESTIONS), map(tokenizer.encode, TEXTS), strict=True)
    prompts = [prompt for pair in pairs for prompt in pair]
    guesses = _continued(decoder, prompts, NUM_TOKENS)
    answers = [_answer(model, decoder, *pair) for pair in zip(prompts, guesses, strict=True)]
    for answer in answers:
        for place in answer.near_ties:
            text, token = tokenizer.decode(answer.prompt[-12:]), tokenizer.decode([answer.token_ids[place]])
            print(f"near-tie at token {place} of the answer to {text!r}: {token!r}")
    return answers


def _answer(model, decoder: Model, prompt: list[int], guess: list[int]) -> Answer:
    while True:
        with torch.inference_mode():
            logits = model(torch.tensor([prompt + guess[:-1]])).logits[0, len(prompt) - 1 :]
        best = logits.argmax(-1).tolist()
        wrong = next((i for i, pair in enumerate(zip(best, guess, strict=True)) if pair[0] != pair[1]), None)
        if wrong is None:
            return Answer(tuple(prompt), best, logits)
        known = best[: wrong + 1]
        guess = known + (
            _continued(decoder, [prompt + known], NUM_TOKENS - len(known))[0] if len(known) < NUM_TOKENS else []
        )


def _continued(decoder: Model, prompts: list[list[int]], num_tokens: int) -> list[list[int]]:
    """What the live engine says after each prompt."""
    settings = Settings(num_blocks=256)
    engine = Engine(settings, executor=TorchExecutor(decoder, settings))
    sampling = SamplingParams(max_tokens=num_tokens)
    engine.run(ListWorkload([Request(str(i), 0.0, Prompt.of_ids(ids), sampling) for i, ids in enumerate(prompts)]))
    return [group.sequences[0].output_token_ids for group in engine.groups]


class Compared(TorchExecutor):
    """Holds the logits of each sampled token against the reference, as long as the tokens before are the same."""

    def __init__(self, model, settings: Settings, answers: Sequence[Answer]) -> None:
        super().__init__(model, settings)
        self._answers = {answer.prompt: answer for answer in answers}
        self.worst = 0.0
        self.num_compared = 0
        self.num_copies = 0

    def execute(self, batch: Batch):
        self.num_copies += len(batch.copies)
        return super().execute(batch)

    def _forward(self, rows: list[Row]) -> torch.Tensor:
        logits = super()._forward(rows)
        for row, of_row in zip((row for row in rows if row.num_samples), logits, strict=True):
            self._compare(row, of_row)
        return logits

    def _compare(self, row: Row, logits: torch.Tensor) -> None:
        prompt = row.sequence.group.request.prompt.token_ids
        answer = self._answers[prompt]
        place = row.start + row.num_tokens - len(prompt)
        if row.sequence.output_token_ids[:place] == answer.token_ids[:place]:
            difference = float((logits - answer.logits[place]).abs().max())
            self.worst = max(self.worst, difference / answer.scales[place])
            self.num_compared += 1


def serve(model, settings: Settings, answers: Sequence[Answer], n: int = 1, gap: float = 0.0) -> Engine:
    """Ask for all answers at once, or every `gap` seconds; checks tokens and logits of each."""
    executor = Compared(model, settings, answers)
    engine = Engine(settings, executor=executor)
    greedy = SamplingParams(n=n, max_tokens=NUM_TOKENS)
    engine.run(ListWorkload([Request(str(i), i * gap, Prompt.of_ids(a.prompt), greedy) for i, a in enumerate(answers)]))
    engine.check()
    for group, answer in zip(engine.groups, answers, strict=True):
        for seq in group.sequences:
            num_equal = answer.num_certain
            assert len(seq.output_token_ids) == NUM_TOKENS
            assert seq.output_token_ids[:num_equal] == answer.token_ids[:num_equal], f"{seq}"
    # the samples of a request take their first token from one row
    assert executor.num_compared >= sum(1 + n * (answer.num_certain - 1) for answer in answers)
    assert executor.worst < TOLERANCE
    return engine


def num_preemptions(engine: Engine) -> int:
    return sum(group.num_preemptions for group in engine.groups)
