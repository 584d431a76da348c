"""A loop with two batches in flight, as an overlapping engine runs it: step i + 1 is scheduled before the results of step i
are in. While only lengths end a request, every step can be planned without knowing a token."""

import random
from collections import deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch import Batch, StepOutput
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.settings import POLICIES, Settings
from engine.trace.recorder import Recorder

Planned = tuple[int, int, int]
"""(sample, start, num_tokens) of one row."""


class ScriptedExecutor:
    """Answers every batch with fixed token ids and a fixed duration."""

    def execute(self, batch: Batch) -> StepOutput:
        token_ids = [[100 + row.sequence.sample] * row.num_samples for row in batch.rows]
        return StepOutput(duration=1.0, token_ids=token_ids)


class Watched(Recorder):
    """Checks the memory after every event and counts how often each block is taken and given back."""

    engine: Engine

    def __init__(self, header: dict[str, Any]) -> None:
        super().__init__(header)
        self.balance: dict[int, int] = {}

    def close(self) -> None:
        super().close()
        self.engine.check()

    def allocated(self, seq: Any, blocks: Any) -> None:
        super().allocated(seq, blocks)
        self._count(blocks, 1)

    def copied(self, seq: Any, index: int, source: int, target: int, num_slots: int) -> None:
        super().copied(seq, index, source, target, num_slots)
        self._count([target], 1)

    def freed(self, seq: Any, table: Any, freed: Any) -> None:
        super().freed(seq, table, freed)
        self._count(freed, -1)

    def _count(self, blocks: Any, change: int) -> None:
        for block in blocks:
            self.balance[block] = self.balance.get(block, 0) + change
            assert self.balance[block] in (0, 1), f"block {block} was taken or freed twice"


class Run:
    """One run with at most `depth` batches in flight; `rows` has what was scheduled for each request, in order."""

    def __init__(self, chosen: Settings, requests: list[Request], depth: int) -> None:
        self.recorder = Watched(trace_header(chosen, f"{depth} in flight"))
        self.engine = self.recorder.engine = Engine(chosen, self.recorder, ScriptedExecutor())
        self.rows: dict[str, list[Planned]] = {request.request_id: [] for request in requests}
        self.depth_seen = 0
        self._last_token: set[tuple[str, int]] = set()
        self._serve(deque(sorted(requests, key=lambda request: request.arrival_time)), depth)

    def _serve(self, arrivals: deque[Request], depth: int) -> None:
        engine, flying = self.engine, deque[tuple[Batch, StepOutput]]()
        for _ in range(5_000):
            while arrivals and arrivals[0].arrival_time <= engine.clock:
                engine.submit(arrivals.popleft())
            batch = engine.schedule()
            if batch is not None:
                self._note(batch)
                flying.append((batch, engine.executor.execute(batch)))
                self.depth_seen = max(self.depth_seen, len(flying))
            if flying and (batch is None or len(flying) == depth):
                engine.update(*flying.popleft())
            elif batch is None and arrivals:
                engine.clock = max(engine.clock, arrivals[0].arrival_time)
            elif batch is None:
                return
        raise AssertionError("the run does not end")

    def _note(self, batch: Batch) -> None:
        for row in batch.rows:
            seq = row.sequence
            name = seq.group.request.request_id
            assert (name, seq.sample) not in self._last_token, f"{name} is scheduled after its last token"
            assert row.start + row.num_tokens <= seq.group.prompt_len + seq.group.max_tokens - 1
            self.rows[name].append((seq.sample, row.start, row.num_tokens))
        self._last_token |= {(seq.group.request.request_id, seq.sample) for seq in batch.ending}

    @property
    def tokens(self) -> dict[str, int]:
        return {name: sum(row[2] for row in rows) for name, rows in self.rows.items()}

    def check_end(self) -> None:
        """Everybody is served, all memory is back, each block once."""
        for group in self.engine.groups:
            assert group.status is SequenceStatus.FINISHED
            for seq in group.sequences:
                assert seq.output_token_ids == [100 + seq.sample] * group.max_tokens or len(group.sequences) > 1
                assert len(seq.output_token_ids) == group.max_tokens
        assert self.engine.kv.num_used == 0
        assert not any(self.recorder.balance.values())
        trace = self.recorder.trace()
        assert int(trace.steps["num_scheduled_tokens"].sum()) == sum(self.tokens.values())


def _requests(shapes: list[tuple[int, int, int, int]]) -> list[Request]:
    return [
        Request(f"r{i}", float(arrival), Prompt.of_length(prompt_len, i), SamplingParams(n, output_len))
        for i, (arrival, prompt_len, output_len, n) in enumerate(shapes)
    ]


SHAPES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 20), st.integers(1, 12), st.integers(1, 3)), min_size=1, max_size=8
)


@pytest.mark.parametrize("policy", POLICIES)
@given(shapes=SHAPES, budget=st.sampled_from([24, 64, None]), seats=st.sampled_from([3, 5, None]))
@settings(max_examples=50)
def test_with_enough_memory_each_request_is_scheduled_as_in_the_serial_run(
    policy: str, shapes: list[tuple[int, int, int, int]], budget: int | None, seats: int | None
) -> None:
    chosen = Settings(
        policy=policy, block_size=4, num_blocks=400, max_num_batched_tokens=budget, max_num_seqs=seats, step_time=1.0
    )
    serial, overlapped = (Run(chosen, _requests(shapes), depth) for depth in (1, 2))
    assert overlapped.tokens == serial.tokens
    if budget is None:
        assert overlapped.rows == serial.rows
    for run in (serial, overlapped):
        run.check_end()


@pytest.mark.parametrize("policy", POLICIES)
@given(shapes=SHAPES, num_blocks=st.integers(16, 40))
@settings(max_examples=50)
def test_with_little_memory_every_invariant_holds_and_nobody_is_scheduled_too_often(
    policy: str, shapes: list[tuple[int, int, int, int]], num_blocks: int
) -> None:
    chosen = Settings(policy=policy, block_size=4, num_blocks=num_blocks, max_num_batched_tokens=64, step_time=1.0)
    Run(chosen, _requests(shapes), depth=2).check_end()


def test_three_outputs_take_three_steps_and_two_batches_really_fly() -> None:
    run = Run(Settings(block_size=4, num_blocks=8, step_time=1.0), _requests([(0, 6, 3, 1)]), depth=2)
    assert run.depth_seen == 2
    assert run.rows["r0"] == [(0, 0, 6), (0, 6, 1), (0, 7, 1)]
    run.check_end()


def test_a_preempted_request_whose_token_is_in_flight_keeps_that_token() -> None:
    shapes = [(0, 8, 8, 1), (0, 8, 8, 1), (0, 7, 5, 1)]
    run = Run(Settings(block_size=4, num_blocks=6, step_time=1.0), _requests(shapes), depth=2)
    assert sum(group.num_preemptions for group in run.engine.groups) > 0
    run.check_end()


@pytest.mark.parametrize("cache", [{}, {"prefix_caching": True}, {"kv_manager": "radix"}])
@pytest.mark.parametrize("policy", POLICIES)
@given(seed=st.integers(0, 2**32), num_blocks=st.sampled_from([14, 200]))
@settings(max_examples=25)
def test_an_answer_that_stops_while_its_next_token_is_in_flight_ends_there(
    policy: str, cache: dict[str, Any], seed: int, num_blocks: int
) -> None:
    """Token 0 ends an answer. The step in flight computes one more in vain: it is thrown away, but counted as computed."""
    draw = random.Random(seed)
    chosen = Settings.of({"policy": policy, "block_size": 4, "num_blocks": num_blocks, "step_time": 1.0, **cache})
    engine = Engine(chosen, Recorder(trace_header(chosen, "stops")), lengths_known=False)
    for i in range(5):
        sampling = SamplingParams(draw.randint(1, 3), draw.randint(1, 14), stop_token_ids=(0,))
        engine.submit(Request(f"r{i}", 0.0, Prompt.of_ids(range(draw.randint(1, 12))), sampling))
    flying = deque[Batch]()
    for _ in range(2_000):
        batch = engine.schedule()
        if batch is not None:
            assert batch.rows  # spelled out before the next step is scheduled
            flying.append(batch)
        elif not flying:
            break
        if batch is None or len(flying) == 2:
            done = flying.popleft()
            sampled = [[draw.randrange(4) for _ in range(row.num_samples)] for row in done.rows]
            engine.update(done, StepOutput(1.0, sampled))
        engine.check()
    for group in engine.groups:
        assert group.status is SequenceStatus.FINISHED
        for seq in group.sequences:
            tokens = seq.output_token_ids
            assert 0 not in tokens[:-1]
            assert tokens[-1] == 0 or len(tokens) == group.max_tokens
            assert seq.num_output_tokens - len(tokens) in (0, 1)
    assert engine.kv.num_used == 0
