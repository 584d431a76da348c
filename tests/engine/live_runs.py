"""Random live runs: a model that answers anything, users who come, ask for several samples and go away again."""

import random
from typing import Any

from hypothesis import strategies as st

from engine.batch import Batch, StepOutput
from engine.live import NOT_LIVE, LiveEngine
from engine.loop import trace_header
from engine.request import SamplingParams, SequenceStatus
from engine.settings import CHOICES, Settings
from engine.trace.recorder import Recorder
from tests.engine.live_state import StateRecorder

STOP = 0


class RandomModel:
    """Samples one of `num_words` tokens, of which token 0 may end an answer; every step takes another time."""

    def __init__(self, seed: int, num_words: int) -> None:
        self._random = random.Random(seed)
        self._num_words = num_words

    def execute(self, batch: Batch) -> StepOutput:
        sampled = [[self._random.randrange(self._num_words) for _ in range(row.num_samples)] for row in batch.rows]
        return StepOutput(self._random.uniform(0.001, 0.1), sampled)


class Clock:
    """A clock that jumps on by a random time whenever it is read."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._time = 0.0

    def __call__(self) -> float:
        self._time += self._random.uniform(0.0, 0.05)
        return self._time


@st.composite
def live_settings(draw: Any) -> Settings:
    """All policies, managers and orders, mostly with little memory."""
    names = set(CHOICES) - {"over_budget", "kv_manager", *NOT_LIVE}
    values = {name: draw(st.sampled_from(CHOICES[name])) for name in sorted(names)}
    values["kv_manager"] = draw(st.sampled_from(["paged", "paged", "max", "radix"]))
    values |= {
        "block_size": draw(st.sampled_from([1, 2, 4, 8])),
        "num_blocks": draw(st.sampled_from([3, 8, 12, 20, 40])),
        "max_num_seqs": draw(st.sampled_from([None, 1, 2, 3, 5, 8])),
        "max_num_batched_tokens": draw(st.sampled_from([None, 3, 8, 16, 40])),
        "max_model_len": draw(st.sampled_from([16, 40])),
        "watermark": draw(st.sampled_from([0.0, 0.1])),
        "admit_full_prompt": True,
        "chunk_size": draw(st.sampled_from([None, 2, 5])) if values["policy"] == "chunked" else None,
        "admit_lookahead": draw(st.sampled_from([0, 0, 1, 5])),
        "null_block": draw(st.booleans()),
        "prefix_caching": values["kv_manager"] == "paged" and draw(st.booleans()),
        "long_prefill_token_threshold": draw(st.sampled_from([None, None, 4])),
    }
    return Settings.of(values)


def live_run(
    settings: Settings, seed: int, recorder_type: type[Recorder] = Recorder, drains: bool = False
) -> LiveEngine:
    """A run to its end; with a `StateRecorder` it is checked after every event. `drains` takes chunks now and then."""
    chance = random.Random(seed)
    recorder = recorder_type(trace_header(settings, "live"))
    model = RandomModel(seed, chance.choice([2, 6, 40]))
    live = LiveEngine(settings, model, clock=Clock(seed), recorder=recorder)
    if isinstance(recorder, StateRecorder):
        recorder.engine = live.engine
    to_come, idle = chance.randrange(1, 13), 0
    while (to_come or live.has_work) and idle < 3:
        while to_come and chance.random() < 0.5:
            to_come -= 1
            prompt = [chance.randrange(3) for _ in range(chance.randrange(chance.choice([6, 21])))]
            stops = (STOP,) if chance.random() < 0.7 else ()
            n = chance.choice([1, 1, 1, 2, 3])
            sampling = SamplingParams(n, chance.randrange(26), stop_token_ids=stops)
            live.submit(prompt, sampling, priority=chance.randrange(3))
        if chance.random() < 0.1 and live.engine.groups:
            live.abort(chance.choice(live.engine.groups).request.request_id)
        if drains and chance.random() < 0.3:
            live.drain()
        idle = idle + 1 if live.step() is None and live.has_work else 0
    assert not live.has_work, "requests wait that nobody will ever admit"
    assert all(group.status in (SequenceStatus.FINISHED, SequenceStatus.REJECTED) for group in live.engine.groups)
    return live
