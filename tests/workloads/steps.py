"""W3, the scheduler workload of the golden runs: 256 requests through the whole engine, with a model that takes no time.

1,024 blocks of 16, 64 sequences, budget 2,048, caching on, all requests queued at the start in order.
"""

import random
import time
from typing import Any

from engine.batch import Batch, StepOutput
from engine.loop import Engine
from engine.presets import Preset
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.listener import SILENT, Listener

VOCABULARY = 32_000
LIMITS = {
    "block_size": 16,
    "num_blocks": 1_024,
    "max_num_seqs": 64,
    "max_num_batched_tokens": 2_048,
    "max_model_len": 2_048,
}


def settings_of(preset: Preset) -> Settings:
    """The limits of the workload put over a preset."""
    return Settings.of({**preset.settings, **LIMITS})


def w3(preset: Preset, recorder: Listener = SILENT) -> dict[str, Any]:
    """256 requests, all queued at the start, through the whole engine with a model that takes no time."""
    engine = Engine(settings_of(preset), recorder, NoModel())
    for index, (prompt, output_len) in enumerate(conversations()):
        engine.submit(Request(f"r{index}", 0.0, Prompt.of_ids(prompt), SamplingParams(1, output_len)))
    num_tokens = 0
    start = time.process_time()
    while (batch := engine.step()) is not None:
        num_tokens += batch.num_tokens
    seconds = time.process_time() - start
    stats = engine.scheduler.cache_stats
    return {
        "requests": len(engine.groups),
        "finished": sum(group.is_finished for group in engine.groups),
        "steps": engine.num_steps,
        "scheduled_tokens": num_tokens,
        "hit_tokens": stats.hits + stats.preempted_hits,
        "preemptions": sum(group.num_preemptions for group in engine.groups),
        "seconds": seconds,
        "steps_per_s": engine.num_steps / seconds,
    }


class NoModel:
    """Every step is over at once."""

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(1.0)


def conversations() -> list[tuple[list[int], int]]:
    """(prompt, output length): prompts of 64 to 512 tokens, 16 to 128 tokens of output."""
    rng = random.Random(2)
    return [
        ([rng.randrange(VOCABULARY) for _ in range(rng.randint(64, 512))], rng.randint(16, 128)) for _ in range(256)
    ]
