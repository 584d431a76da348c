"""A model of characters that says what the tests want, without weights."""

import signal
from pathlib import Path
from typing import Any

from engine.batch import Batch, StepOutput
from engine.executor.model_error import ModelError
from engine.live import LiveEngine
from engine.settings import Settings

EOS = 0
ANSWER = "ok!"


class Parrot:
    """A model of characters: answers "ok!" and stops. In step `interrupted_at` Ctrl-C is pressed."""

    name, device, dtype, context, stop_token_ids = "parrot", "cpu", "float32", 100, (EOS,)
    interrupted_at = -1

    @property
    def words(self) -> list[str]:
        return [chr(code) for code in range(128)]

    def encode(self, prompt: str, raw: bool = False) -> list[int]:
        return list(prompt.encode()) if raw else [1, *prompt.encode(), 2]

    def decode(self, token_ids: list[int]) -> str:
        return bytes(token for token in token_ids if token != EOS).decode()

    def engine(self, settings: Settings, *, vocabulary: Any = ()) -> LiveEngine:
        return LiveEngine(settings.with_(max_model_len=self.context), self, vocabulary=vocabulary)

    def execute(self, batch: Batch) -> StepOutput:
        if batch.step == self.interrupted_at:
            signal.raise_signal(signal.SIGINT)
        return StepOutput(0.5, [self._next(row) for row in batch.rows])

    def _next(self, row: Any) -> list[int]:
        known = row.start + row.num_tokens - row.sequence.group.prompt_len
        return [[*ANSWER.encode(), EOS][known]] * row.num_samples


def load(model: Parrot, path: Path | None) -> Parrot:
    if path is not None:
        raise ModelError(f"There is no model at {str(path)!r}; choose a .gguf file or a folder with config.json.")
    return model
