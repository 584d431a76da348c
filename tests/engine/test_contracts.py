"""The contracts of every KV manager and every policy, by random operations: what fails changes nothing, nothing is lost,
counts equal table entries."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kv import MANAGERS
from engine.kv.hashed import HashedKV
from engine.kv.manager import KVError, KVManager
from engine.kv.paged import PagedKV
from engine.kv.radix import RadixKV
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import CHOICES, Settings
from engine.trace.recorder import Recorder
from engine.trace.track import ACTIONS
from engine.workload import ListWorkload

MEMORY: dict[str, Any] = {"block_size": 4, "num_blocks": 12, "max_model_len": 24}
MANAGER_SETTINGS = {
    **{f"paged {order}": Settings(**MEMORY, free_list=order, num_host_blocks=6) for order in CHOICES["free_list"]},
    "paged watermark": Settings(**MEMORY, watermark=0.2, num_host_blocks=6, null_block=True),
    "paged script": Settings(**MEMORY, block_script=(7, 3, 9)),
    **{
        f"hashed {order}": Settings(**MEMORY, prefix_caching=True, free_list=order, num_host_blocks=6)
        for order in CHOICES["free_list"]
    },
    **{
        f"hashed {kept} at {time}": Settings(**MEMORY, prefix_caching=True, on_duplicate=kept, register_at=time)
        for kept in CHOICES["on_duplicate"]
        for time in CHOICES["register_at"]
    },
    "hashed unwritten": Settings(**MEMORY, prefix_caching=True, keep_unwritten=True, null_block=True, watermark=0.2),
    "max": Settings(**MEMORY, kv_manager="max"),
    "pow2 output": Settings(**MEMORY, kv_manager="pow2", pow2_of="output"),
    "pow2 total": Settings(**MEMORY, kv_manager="pow2", pow2_of="total"),
    "oracle": Settings(**MEMORY, kv_manager="oracle"),
    "radix": Settings(**MEMORY, kv_manager="radix"),
    "radix tokens": Settings(**{**MEMORY, "block_size": 1, "num_blocks": 40}, kv_manager="radix", eviction="lfu"),
}
SHAPES = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6), st.integers(1, 3)), min_size=1, max_size=5)
STEPS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 14), st.integers(1, 9)), max_size=40)


class Memory:
    """A manager, some requests, and operations on them chosen by numbers."""

    def __init__(self, chosen: Settings, shapes: list[tuple[int, int, int]]) -> None:
        self.kv: KVManager = MANAGERS[chosen.manager](chosen, Recorder(trace_header(chosen, "contract")))
        self.total = self.kv.num_free
        self.groups: list[SequenceGroup] = []
        for index, (prompt_len, max_tokens, n) in enumerate(shapes):
            request = Request(f"r{index}", 0.0, Prompt.of_length(prompt_len, index % 2), SamplingParams(n, max_tokens))
            group = SequenceGroup(request, index, len(self.sequences), max_tokens, Ticks())
            self.groups.append(group)
            self.kv._recorder.arrived(group)  # type: ignore[attr-defined]
        self.swapped: set[int] = set()

    @property
    def sequences(self) -> list[Sequence]:
        return [seq for group in self.groups for seq in group.sequences]

    def state(self) -> Any:
        """Everything that a failed operation may not change."""
        tables = [(list(seq.block_table), seq.num_computed_tokens, seq.num_tokens) for seq in self.sequences]
        kv = self.kv
        if isinstance(kv, PagedKV):
            pools = [(dict(pool.used), pool.free_list.ids(), pool.num_free) for pool in (kv.pool, kv.host)]
            known = {block: id(prefix) for block, prefix in kv.known.held.items()} if isinstance(kv, HashedKV) else {}
            if isinstance(kv, RadixKV):
                nodes = [(n.number, n.key, n.lock_ref, n.last_access) for n in kv.tree.root.below()]
                return tables, pools, nodes, set(kv.pool.stored)
            return tables, pools, known
        return tables, dict(kv.strips), kv.space.holes  # type: ignore[attr-defined]

    def operate(self, verb: int, target: int, amount: int) -> bool:
        """One operation; False when it was refused."""
        seq = self.sequences[target % len(self.sequences)]
        group = seq.group
        if verb <= 2:
            return self._write(seq, amount)
        if verb == 3:
            return self._fork(group.lead, seq)
        if verb == 4:
            if isinstance(self.kv, RadixKV):
                seq.status = SequenceStatus.FINISHED if amount % 2 else SequenceStatus.PREFILL
            self.kv.free(seq)
            seq.reset()
            if not any(other.block_table for other in group.sequences):
                self.swapped.discard(group.index)
            return True
        return self._move(group, out=verb == 5)

    def _write(self, seq: Sequence, amount: int) -> bool:
        """The next tokens, as far as the request goes; others of the group may read the same blocks."""
        hit = self.kv.match(seq) if isinstance(self.kv, (HashedKV, RadixKV)) else 0
        amount = min(amount, seq.group.prompt_len + seq.group.max_tokens - 1 - seq.num_computed_tokens - hit)
        if amount <= 0 or seq.group.index in self.swapped:
            return True
        promised = self.kv.fits(seq, amount) is None
        allocation = self.kv.allocate(seq, amount)
        assert promised == (allocation is not None), "the probe and the allocation disagree"
        if allocation is None:
            return False
        assert allocation.hit_tokens == hit
        assert self.kv.room(seq) >= amount
        seq.advance(amount)
        if isinstance(self.kv, (HashedKV, RadixKV)):
            self.kv.register(seq, seq.num_computed_tokens)
        return True

    def _fork(self, parent: Sequence, child: Sequence) -> bool:
        if child is parent or not parent.num_computed_tokens or parent.group.index in self.swapped:
            return True
        try:
            self.kv.fork(parent, child)
        except KVError:
            return False
        assert child.num_computed_tokens == parent.num_computed_tokens
        return True

    def _move(self, group: SequenceGroup, out: bool) -> bool:
        try:
            moved = self.kv.move_out(group) if out else self.kv.move_in(group)
        except KVError:
            return False
        if moved is None:
            return False
        (self.swapped.add if out else self.swapped.discard)(group.index)
        return True


@pytest.mark.parametrize("name", MANAGER_SETTINGS)
@given(shapes=SHAPES, steps=STEPS)
@settings(max_examples=60)
def test_a_refused_operation_changes_nothing_and_nothing_is_ever_lost(
    name: str, shapes: list[tuple[int, int, int]], steps: list[tuple[int, int, int]]
) -> None:
    memory = Memory(MANAGER_SETTINGS[name], shapes)
    for verb, target, amount in steps:
        before = memory.state()
        done = memory.operate(verb, target, amount)
        if not done:
            assert memory.state() == before
        memory.kv.check(memory.sequences)
        assert memory.kv.num_free + memory.kv.num_used == memory.total
    for seq in memory.sequences:
        memory.kv.free(seq)
        assert memory.kv.free(seq) == 0, "a second release gives nothing back"
    assert memory.kv.num_free == memory.total


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 8))
def test_a_sequence_never_holds_more_than_one_open_block(first: int, more: int, block_size: int) -> None:
    kv = PagedKV(Settings(block_size=block_size))
    request = Request("a", 0.0, Prompt.of_length(first), SamplingParams(1, 100))
    seq = SequenceGroup(request, 0, 0, 100, Ticks()).lead
    for amount in (first, *[1] * more):
        kv.allocate(seq, amount)
        seq.advance(amount)
    assert len(seq.block_table) * block_size - seq.num_computed_tokens < block_size


RUN_SHAPES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 20), st.integers(1, 10), st.integers(1, 3)), min_size=1, max_size=8
)
RUN_SETTINGS = st.fixed_dictionaries(
    {
        "max_num_seqs": st.sampled_from([3, 4, 8, None]),
        "max_num_batched_tokens": st.sampled_from([20, 24, 64, None]),
        "num_blocks": st.sampled_from([10, 14, 20, 60]),
        "queue_order": st.sampled_from(["fcfs", "priority"]),
        "running_order": st.sampled_from(CHOICES["running_order"]),
        "victim": st.sampled_from(CHOICES["victim"]),
        "static_start": st.sampled_from(CHOICES["static_start"]),
        "admit_full_prompt": st.booleans(),
        "admit_lookahead": st.sampled_from([0, 1, 4]),
        "watermark": st.sampled_from([0.0, 0.1]),
        "over_budget": st.sampled_from(CHOICES["over_budget"]),
        "long_prefill_token_threshold": st.sampled_from([None, None, 4]),
    }
)


class Watched(Recorder):
    """Checks every invariant of the memory after every event."""

    engine: Engine

    def close(self) -> None:
        super().close()
        self.engine.check()


def _requests(shapes: list[tuple[int, int, int, int]]) -> list[Request]:
    return [
        Request(
            f"r{i}", float(arrival), Prompt.of_length(prompt_len, i % 2), SamplingParams(n, output_len), priority=i % 3
        )
        for i, (arrival, prompt_len, output_len, n) in enumerate(shapes)
    ]


MEMORIES: dict[str, dict[str, Any]] = {
    **{name: {"kv_manager": name} for name in ("paged", "max", "pow2", "oracle", "radix")},
    "vllm-v1": {"prefix_caching": True, "on_duplicate": "keep_first", "free_list": "uncached_first"},
    "nano-vllm": {
        "prefix_caching": True,
        "on_duplicate": "last_writer",
        "free_list": "all_at_tail",
        "register_at": "update",
    },
}


@pytest.mark.parametrize("policy", CHOICES["policy"])
@pytest.mark.parametrize("memory", MEMORIES)
@given(shapes=RUN_SHAPES, chosen=RUN_SETTINGS)
@settings(max_examples=40)
def test_every_run_ends_within_its_limits_and_returns_all_memory(
    policy: str, memory: str, shapes: list[tuple[int, int, int, int]], chosen: dict[str, Any]
) -> None:
    budget = chosen["max_num_batched_tokens"]
    if chosen["over_budget"] == "wait" and budget is not None and any(prompt > budget for _, prompt, _, _ in shapes):
        chosen = {**chosen, "over_budget": "refuse"}
    run = Settings.of(
        {**chosen, **MEMORIES[memory], "policy": policy, "block_size": 4, "max_model_len": 40}
        | {"step_time": 1.0, "max_steps": 4_000}
    )
    recorder = Watched(trace_header(run, "contract"))
    engine = recorder.engine = Engine(run, recorder)
    engine.run(ListWorkload(_requests(shapes)))
    trace = recorder.trace()

    ended = {SequenceStatus.FINISHED, SequenceStatus.REJECTED}
    assert all(group.status in ended for group in engine.groups)
    assert engine.kv.num_used == 0
    assert not engine.scheduler.waiting and not engine.scheduler.running
    seats = run.max_num_seqs or 10**9
    oversized = _steps_with(trace, "oversize")
    for step in range(trace.num_steps):
        assert trace.steps["num_running"][step] <= seats
        if budget is not None and step not in oversized:
            assert trace.steps["num_scheduled_tokens"][step] <= budget
    finished = [group for group in engine.groups if group.status is SequenceStatus.FINISHED]
    emitted = sum(len(group.sequences) * group.max_tokens for group in finished)
    assert int(trace.steps["num_emitted"].sum()) == emitted


@pytest.mark.parametrize("policy", CHOICES["policy"])
def test_a_schedule_that_finds_nothing_to_do_changes_nothing(policy: str) -> None:
    engine = Engine(Settings(policy=policy, block_size=4, num_blocks=4, max_num_batched_tokens=8, over_budget="wait"))
    engine.submit(Request("long", 0.0, Prompt.of_length(12), SamplingParams(1, 2)))
    if policy in ("chunked", "prefill_first"):
        while engine.step() is not None:
            pass
    before = _engine_state(engine)
    assert engine.schedule() is None
    assert _engine_state(engine) == before


def _engine_state(engine: Engine) -> Any:
    kv = engine.kv
    assert isinstance(kv, PagedKV)
    tables = [list(seq.block_table) for group in engine.groups for seq in group.sequences]
    queue = [group.index for group in engine.scheduler.waiting]
    return tables, queue, dict(kv.pool.used), kv.pool.free_list.ids(), engine.num_steps, engine.ticks.now


def _steps_with(trace: Any, action: str) -> set[int]:
    events = trace.decisions["event"][trace.decisions["action"] == ACTIONS.index(action)]
    return {trace.step_of(int(event)) for event in events}
