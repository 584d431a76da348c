"""Random streams of requests on the radix manager with small pools.

`Witness` keeps a plain set of prefixes from what was said to be inserted and evicted, and finds every hit by trying all of
them. After every event the invariants hold and the engine's own tree is taken down; the saved and reloaded trace has to
say the same.
"""

import io
from collections import deque
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch import Batch, StepOutput
from engine.kv.radix import RadixKV
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.settings import CHOICES, Settings
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, HAPPENINGS
from engine.workload import ListWorkload
from tests.engine.live_state import StateRecorder, assert_equal, assert_same_edges

Prefix = tuple[int, ...]


class Witness(StateRecorder):
    """`prefixes` are all cached prefixes of whole pages; `num_compared` counts the admissions that were checked."""

    def __init__(self, header: dict[str, Any]) -> None:
        super().__init__(header)
        self.prefixes: set[Prefix] = set()
        self.num_compared = 0
        self.hits: list[int] = []

    def admitted(self, group: Any, num_tokens: int, resumed: bool) -> None:
        super().admitted(group, num_tokens, resumed)
        assert self.engine is not None and isinstance(self.engine.kv, RadixKV)
        tokens = self.engine.kv.token_ids.of(group.lead, group.num_known_at_admission - 1)
        longest = max((n for n in range(len(tokens) + 1) if tokens[:n] in self.prefixes), default=0)
        assert group.lead.num_cached_tokens == longest
        self.num_compared += 1
        self.hits.append(longest)

    def node_inserted(self, seq: Any, node: Any) -> None:
        super().node_inserted(seq, node)
        path = node.path_tokens()
        self.prefixes.update(path[:n] for n in self._ends(node, path))

    def node_evicted(self, seq: Any, node: Any, missing: int, free: int) -> None:
        super().node_evicted(seq, node, missing, free)
        path = node.path_tokens()
        gone = {path[:n] for n in self._ends(node, path)}
        assert gone <= self.prefixes, "what is evicted was cached"
        assert free < missing + free, "an eviction without need"
        self.prefixes -= gone

    def _ends(self, node: Any, path: Prefix) -> range:
        size = self._block_size
        return range(len(path) - len(node.key) + size, len(path) + 1, size)


TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=12)
ARRIVALS = st.lists(
    st.tuples(st.integers(0, 8), TOKENS, st.booleans(), st.integers(1, 8), st.sampled_from([1, 1, 1, 2])),
    min_size=1,
    max_size=8,
)
CHOSEN = st.fixed_dictionaries(
    {
        "block_size": st.sampled_from([1, 2, 4]),
        "num_tokens": st.sampled_from([32, 44, 80]),
        "policy": st.sampled_from(["continuous", "chunked", "static"]),
        "max_num_batched_tokens": st.sampled_from([24, 64, None]),
        "max_num_seqs": st.sampled_from([3, None]),
        "eviction": st.sampled_from(CHOICES["eviction"]),
        "split_age": st.sampled_from(CHOICES["split_age"]),
        "queue_order": st.sampled_from(CHOICES["queue_order"]),
        "free_list": st.sampled_from(CHOICES["free_list"]),
        "order_touches": st.booleans(),
        "in_batch_check": st.sampled_from([None, 0, 3]),
        "in_batch_share": st.sampled_from([1, 4]),
        "queue_fall_back_above": st.sampled_from([None, 2]),
        "null_block": st.booleans(),
    }
)


def settings_of(chosen: dict[str, Any]) -> Settings:
    values = {name: value for name, value in chosen.items() if name != "num_tokens"}
    num_blocks = chosen["num_tokens"] // chosen["block_size"]
    return Settings.of({**values, "kv_manager": "radix", "num_blocks": num_blocks, "step_time": 1.0})


def requests_of(arrivals: Any) -> list[Request]:
    return [
        Request(
            f"r{i}",
            float(arrival),
            Prompt.of_ids(ids) if has_ids else Prompt(((ids[0], 0, len(ids)),)),
            SamplingParams(n, output),
            priority=i % 3,
        )
        for i, (arrival, ids, has_ids, output, n) in enumerate(arrivals)
    ]


def witnessed(run: Settings, requests: list[Request]) -> tuple[Witness, Trace]:
    witness = Witness(trace_header(run, "radix"))
    engine = witness.engine = Engine(run, witness)
    engine.run(ListWorkload(requests))
    assert all(group.status in (SequenceStatus.FINISHED, SequenceStatus.REJECTED) for group in engine.groups)
    assert engine.kv.num_used == 0
    return witness, witness.trace()


@given(chosen=CHOSEN, arrivals=ARRIVALS)
@settings(deadline=None, max_examples=80)
def test_hits_are_what_was_inserted_and_not_evicted_and_no_event_breaks_the_books(chosen: Any, arrivals: Any) -> None:
    run = settings_of(chosen)
    witness, trace = witnessed(run, requests_of(arrivals))
    happened = trace.happenings
    hit = int(happened["amount"][happened["kind"] == HAPPENINGS.index("hit")].sum())
    assert hit == sum(witness.hits)
    amounts = {
        name: int(happened["amount"][happened["kind"] == HAPPENINGS.index(name)].sum())
        for name in ("inserted", "evicted", "locked", "unlocked")
    }
    assert amounts["locked"] == amounts["unlocked"], "at the end nothing is locked"
    assert amounts["inserted"] - amounts["evicted"] == len(witness.prefixes) * run.block_size
    num_evictions = int((trace.decisions["action"] == ACTIONS.index("evict")).sum())
    assert num_evictions == int((happened["kind"] == HAPPENINGS.index("evicted")).sum())


@given(chosen=CHOSEN, arrivals=ARRIVALS, cuts=st.lists(st.integers(0, 10_000), min_size=50, max_size=50))
@settings(deadline=None, max_examples=40)
def test_every_frame_of_the_reloaded_trace_is_the_tree_of_the_engine(chosen: Any, arrivals: Any, cuts: Any) -> None:
    witness, trace = witnessed(settings_of(chosen), requests_of(arrivals))
    file = io.BytesIO()
    trace.save(file)
    loaded = Trace.load(file.getvalue())
    for event, state in witness.states.items():
        frame = loaded.cut(event=event)
        assert_equal(frame, state)
        assert_same_edges(loaded, frame, state)
    pieces = loaded.chunks([cut % (loaded.num_events + 1) for cut in cuts])
    assert sum(len(piece.tokens) for piece in pieces) == len(trace.tokens)
    assert Trace.of(loaded.header, pieces).run_id == trace.run_id


def test_a_node_of_a_chunk_finds_its_tokens_in_the_chunks_up_to_it() -> None:
    requests = [Request(f"r{i}", 3.0 * i, Prompt.of_ids([1, 2, i, i, 5]), SamplingParams(1, 3)) for i in range(6)]
    _, trace = witnessed(Settings(kv_manager="radix", block_size=1, num_blocks=12, step_time=1.0), requests)
    num_tokens = 0
    for piece in trace.chunks(range(trace.num_events)):
        num_tokens += len(piece.tokens)
        nodes = piece.rows["nodes"]
        assert (nodes[:, 3] + nodes[:, 4] <= num_tokens).all()
    assert num_tokens == len(trace.tokens) > 20


def test_a_preempted_request_finds_its_prompt_again_but_not_its_answer() -> None:
    run = Settings(kv_manager="radix", block_size=1, num_blocks=13, step_time=1.0)
    requests = [Request(f"r{i}", 0.0, Prompt.of_ids([i] * 4), SamplingParams(1, 6)) for i in range(2)]
    witness, trace = witnessed(run, requests)
    kinds = trace.happenings["kind"]
    (resumed,) = trace.happenings["amount"][kinds == HAPPENINGS.index("resumed")]
    assert resumed == 7  # 4 of the prompt and 3 tokens that it had given out
    assert witness.hits == [0, 0, 4]


@given(chosen=CHOSEN, arrivals=ARRIVALS)
@settings(deadline=None, max_examples=40)
def test_two_batches_in_flight_keep_the_books(chosen: Any, arrivals: Any) -> None:
    """Step i + 1 is scheduled before the results of step i are in, so equal prompts merge while their heirs decode."""
    run = settings_of(chosen)
    witness = Witness(trace_header(run, "overlap"))
    engine = witness.engine = Engine(run, witness)
    waiting = deque(sorted(requests_of(arrivals), key=lambda request: request.arrival_time))
    flying: deque[tuple[Batch, StepOutput]] = deque()
    for _ in range(2_000):
        while waiting and waiting[0].arrival_time <= engine.clock:
            engine.submit(waiting.popleft())
        batch = engine.schedule()
        if batch is not None:
            flying.append((batch, engine.executor.execute(batch)))
        if len(flying) == 2 or (flying and batch is None):
            engine.update(*flying.popleft())
        elif not flying and batch is None and not engine.scheduler.has_preempted:
            if not waiting:
                break
            engine.clock = max(engine.clock, waiting[0].arrival_time)
    assert all(group.status in (SequenceStatus.FINISHED, SequenceStatus.REJECTED) for group in engine.groups)
    assert engine.kv.num_used == 0
    trace = witness.trace()
    for event, state in witness.states.items():
        assert_equal(trace.cut(event=event), state)
        assert_same_edges(trace, trace.cut(event=event), state)
