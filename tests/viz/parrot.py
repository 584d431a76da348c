"""A model of characters for the Live page: says the same sentence to everybody. `gate` holds it up."""

from threading import Event, Semaphore
from time import sleep
from typing import Any

from engine.batch import Batch, StepOutput
from engine.live import LiveEngine
from engine.settings import Settings

EOS = 0
SLOW = 0.05
ANSWER = "Because light is scattered."


class Parrot:
    name, device, dtype, context, stop_token_ids = "parrot", "cpu", "float32", 400, (EOS,)

    def __init__(self) -> None:
        self.gate = Event()
        self.gate.set()
        self._steps = Semaphore(0)

    def allow(self, num_steps: int) -> None:
        """So many slow steps although the gate is closed; the queue looks at what came out only after a while."""
        self._steps.release(num_steps)

    @property
    def words(self) -> list[str]:
        return ["", "‹", "›", *(chr(code) for code in range(3, 128))]

    def encode(self, prompt: str, raw: bool = False) -> list[int]:
        return [1, *prompt.encode("ascii", "replace"), 2]

    def decode(self, token_ids: Any) -> str:
        return bytes(token for token in token_ids if token != EOS).decode()

    def engine(self, settings: Settings, *, vocabulary: Any = ()) -> LiveEngine:
        return LiveEngine(settings.with_(max_model_len=self.context), self, vocabulary=vocabulary)

    def execute(self, batch: Batch) -> StepOutput:
        while not self.gate.is_set():
            if self._steps.acquire(timeout=0.01):
                sleep(SLOW)
                break
        return StepOutput(0.01, [self._next(row) for row in batch.rows])

    def _next(self, row: Any) -> list[int]:
        known = row.start + row.num_tokens - row.sequence.group.prompt_len
        said = [*ANSWER.encode(), EOS]
        return [said[min(max(known, 0), len(said) - 1)]] * row.num_samples
