"""Random small runs over all settings: whatever happens, the books balance and the trace says what the engine did."""

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.batch import Batch
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.settings import CHOICES, Settings
from engine.trace.listener import Listener
from engine.workload import ListWorkload
from tests.engine.live_state import StateRecorder, assert_equal


class LostTokens(Listener):
    """Tokens that each request has to compute again, and those that it found in the prefix cache."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.hit_by: dict[int, int] = {}

    def hit(self, seq, blocks: list[int]) -> None:
        tokens = seq.num_computed_tokens
        self.hit_by[seq.group.index] = self.hit_by.get(seq.group.index, 0) + tokens

    def matched(self, seq, node, blocks: list[int]) -> None:
        self.hit(seq, blocks)

    def preempted(self, group, cause, lost: int, available: int) -> None:
        self.of[group.index] = self.of.get(group.index, 0) + lost


@st.composite
def runs(draw) -> tuple[Settings, list[Request]]:
    values = {name: draw(st.sampled_from(choices)) for name, choices in CHOICES.items() if name != "over_budget"}
    values |= {
        "block_size": draw(st.sampled_from([1, 2, 4, 8])),
        "num_blocks": draw(st.sampled_from([8, 12, 20, 40, None])),
        "max_num_seqs": draw(st.sampled_from([None, 1, 2, 3, 5, 8])),
        "max_num_batched_tokens": draw(st.sampled_from([None, 3, 8, 16, 40])),
        "max_model_len": draw(st.sampled_from([16, 40])),
        "watermark": draw(st.sampled_from([0.0, 0.1])),
        "admit_full_prompt": draw(st.booleans()),
        "chunk_size": draw(st.sampled_from([None, 2, 5])) if values["policy"] == "chunked" else None,
        "admit_lookahead": draw(st.sampled_from([0, 0, 1, 5])),
        "null_block": draw(st.booleans()),
        "prefix_caching": values["kv_manager"] == "paged" and draw(st.booleans()),
        "long_prefill_token_threshold": draw(st.sampled_from([None, None, 4])),
        "step_time": 1.0,
    }
    if values["num_blocks"] is None and values["free_list"] == "stack":
        values["free_list"] = "fifo"
    counts = (st.integers(0, 20), st.integers(0, 25), st.sampled_from([1, 1, 1, 2, 3]), st.integers(0, 12))
    size = st.tuples(*counts, st.booleans())
    requests = [
        Request(
            f"r{i}", float(arrival), Prompt.of_length(length, i if own else -1), SamplingParams(n, most), priority=i % 3
        )
        for i, (arrival, length, n, most, own) in enumerate(draw(st.lists(size, min_size=1, max_size=8)))
    ]
    return Settings.of(values), requests


@hypothesis_settings(max_examples=150)
@given(runs())
def test_every_frame_of_a_random_run_is_the_state_of_the_engine(run):
    settings, requests = run
    recorder = StateRecorder(trace_header(settings, "random"))
    engine = recorder.engine = Engine(settings, recorder)
    engine.run(ListWorkload(requests))
    trace = recorder.trace()
    for event, state in recorder.states.items():
        assert_equal(trace.cut(event=event), state)


@hypothesis_settings(max_examples=150)
@given(runs())
def test_a_random_run_ends_with_every_request_served_and_every_block_back(run):
    settings, requests = run
    lost = LostTokens()
    engine = Engine(settings, lost)
    batches: list[tuple[Batch, list]] = []
    execute = engine.executor.execute

    def watch(batch: Batch):
        batches.append((batch, list(batch.rows)))
        return execute(batch)

    engine.executor.execute = watch  # type: ignore[method-assign]
    engine.run(ListWorkload(requests))
    scheduled: dict[int, int] = {}
    for batch, rows in batches:
        assert batch.num_tokens == sum(row.num_tokens for row in rows)
        assert batch.num_kv_read == sum(row.start + row.num_tokens for row in rows)
        assert batch.num_emitted == sum(row.num_samples for row in rows)
        recomputes = [row for row in rows if row.sequence.group.num_preemptions]
        assert batch.num_tokens <= (settings.max_num_batched_tokens or 10**9) or (len(rows) == 1 and recomputes)
        assert len(rows) <= (settings.max_num_seqs or 10**9)
        for row in rows:
            scheduled[row.sequence.index] = scheduled.get(row.sequence.index, 0) + row.num_tokens
    for group in engine.groups:
        if group.status is SequenceStatus.REJECTED:
            continue
        assert group.status is SequenceStatus.FINISHED
        assert all(seq.num_output_tokens == group.max_tokens for seq in group.sequences)
        stored = group.prompt_len + len(group.sequences) * (group.max_tokens - 1)
        computed = sum(scheduled.get(seq.index, 0) for seq in group.sequences)
        assert computed == stored + lost.of.get(group.index, 0) - lost.hit_by.get(group.index, 0)
    assert engine.kv.num_used == 0
