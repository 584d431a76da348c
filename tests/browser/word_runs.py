"""Runs of a model of words as the page Live makes them, without the page: whole, or as the bytes of one that still goes on."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from playwright.sync_api import Locator, Page, expect

from engine.batch import Batch, StepOutput
from engine.live import LiveEngine
from engine.request import SamplingParams
from engine.settings import Settings
from tests.browser.test_arriving_runs import harness
from viz.pages.parts.live_model import ModelServing, Ready
from viz.pages.parts.live_serving import Ask
from viz.player.arriving import ArrivingRun

TEACHER = "You are a very careful science teacher who answers in one short sentence. Please tell me now:"
"""With the mark before it two full blocks of eight tokens, and the first token of a third one."""
QUESTIONS = tuple(f"{TEACHER} {question}" for question in ("why is the sky blue?", "what is rain?", "what is ice?"))
ANSWER = ["It", "is", "so", "because", "light", "and", "water", "do", "what", "they", "do", "in", "air"]
SMALL = Settings(
    policy="chunked", prefix_caching=True, block_size=8, num_blocks=9, max_num_batched_tokens=64, max_num_seqs=8
)


class Teller:
    """A token is a word, with the space before it; everybody gets the same answer."""

    name, device, dtype, context, stop_token_ids = "teller", "cpu", "float32", 400, (0,)

    def __init__(self) -> None:
        self.words = ["", "‹user›", "‹AI›", *(f" {word}" for word in ANSWER)]

    def encode(self, prompt: str, raw: bool = False) -> list[int]:
        for word in prompt.split():
            if f" {word}" not in self.words:
                self.words.append(f" {word}")
        return [1, *(self.words.index(f" {word}") for word in prompt.split()), 2]

    def decode(self, token_ids: Any) -> str:
        return "".join(self.words[token] for token in token_ids)

    def engine(self, settings: Settings, *, vocabulary: Sequence[str] = ()) -> LiveEngine:
        return LiveEngine(settings.with_(max_model_len=self.context), self, vocabulary=vocabulary)

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(0.01, [self._next(row) for row in batch.rows])

    def _next(self, row: Any) -> list[int]:
        known = max(0, row.start + row.num_tokens - row.sequence.group.prompt_len)
        return [3 + known if known < len(ANSWER) else 0] * row.num_samples


@cache
def word_run(
    settings: Settings = SMALL,
    prompts: tuple[str, ...] = QUESTIONS,
    num_steps: int = 999,
    ends: bool = True,
    num_samples: int = 1,
) -> tuple[bytes, Any]:
    """The bytes for the player, and the trace; without `ends` more may come."""
    model = Teller()
    for prompt in prompts:
        model.encode(prompt)
    serving = ModelServing(Ready(model, model.words), settings)
    for name, prompt in zip("ABCDEFGH", prompts, strict=False):
        serving.submit(
            name,
            Ask(prompt, SamplingParams(n=num_samples, temperature=0.8 * (num_samples > 1), max_tokens=len(ANSWER))),
        )
    steps = 0
    while steps < num_steps and serving.step():
        steps += 1
    run = ArrivingRun(serving.header, title="A real model", remark="teller, on the CPU, float32", has_words=True)
    run.add(serving.drain())
    if ends:
        run.end()
    return run.since(0), run.trace()


def show(page: Page, blob: bytes, frame: str | None = None) -> Locator:
    """The player with such a run; without a `frame` the end of one that still goes on, as the page Live shows it."""
    page.set_content(harness().replace("<main>", '<main style="margin-top: 110px">'))
    options = {"isFeed": True} if frame is None else {"frame": frame}
    page.evaluate("([bytes, options]) => play(bytes, options)", [list(blob), options])
    player = page.locator('.kv[data-ready="true"][data-hash]')
    expect(player).to_be_visible()
    return player
