"""A frame cut from a saved and reloaded trace equals the engine's own state, at every event of every scenario.

The engine's state is read from its live objects: sequences, block tables, the pools, the strips. The recorder's rows take
no part in it. Beyond 20,000 events the cuts of every step and 500 seeded events are compared.
"""

import io
import random
from typing import Any

import numpy as np
import pytest

from engine.kv.contiguous import ContiguousKV
from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.kv.radix import RadixKV
from engine.loop import Engine, trace_header
from engine.request import SequenceStatus
from engine.sequence import Sequence, SequenceGroup
from engine.settings import Settings
from engine.trace.frame import Frame
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios.catalogue import load
from scenarios.ops import BlockPoolOps
from scenarios.scenario import Scenario
from tests.cases.invariants import cases

MAX_EVENTS = 20_000
NUM_SAMPLES = 500


class Mirror(Recorder):
    """Compares the live state with the frame of a finished trace, after every event or those of `wanted`."""

    def __init__(self, header: dict[str, Any], trace: Trace, wanted: set[int] | None = None) -> None:
        super().__init__(header)
        self.kv: Any = None
        self.num_compared = 0
        self._finished_trace = trace
        self._wanted = wanted
        self._open_groups: list[SequenceGroup] = []
        num_sequences = sum(request["n"] for request in trace.requests)
        self._request_state = np.zeros((len(trace.requests), 3), np.int32)
        self._sequence_state = np.tile(np.array([0, -1, 0, 0], np.int32), (num_sequences, 1))
        self._keys = _keys_of_tables(trace)
        self._table_state = np.full(len(self._keys), -1, np.int32)
        self._tables: dict[int, list[int]] = {}

    def arrived(self, group: Any) -> None:
        self._open_groups.append(group)
        super().arrived(group)

    def close(self) -> None:
        super().close()
        if self._wanted is None or self.event in self._wanted:
            self.num_compared += 1
            self._compare(self._finished_trace.cut(event=self.event))

    def _compare(self, frame: Frame) -> None:
        sequences = [seq for group in self._open_groups for seq in group.sequences]
        groups = [(group.index, group.status, group.rank, group.num_preemptions) for group in self._open_groups]
        living = [(seq.index, seq.status, seq.seat, seq.num_tokens, seq.num_computed_tokens) for seq in sequences]
        for state, rows in ((self._request_state, groups), (self._sequence_state, living)):
            table = np.array(rows, np.int32).reshape(-1, state.shape[1] + 1)
            state[table[:, 0]] = table[:, 1:]
        self._same(frame, "requests", self._request_state, ("status", "rank", "num_preemptions"))
        fields = ("status", "seat", "num_tokens", "num_computed_tokens")
        self._same(frame, "sequences", self._sequence_state, fields)
        if isinstance(self.kv, PagedKV):
            self._compare_blocks(frame, sequences)
        else:
            self._compare_strips(frame, sequences)
        gone = (SequenceStatus.FINISHED, SequenceStatus.REJECTED)
        self._open_groups = [
            group
            for group in self._open_groups
            if group.status not in gone or any(seq.seat >= 0 or seq.block_table for seq in group.sequences)
        ]

    def _compare_blocks(self, frame: Frame, sequences: list[Sequence]) -> None:
        """Every table entry; of every block use, count and filled slots: the most that one of its readers stored."""
        for seq in sequences:
            if seq.block_table != self._tables.get(seq.index, []):
                self._take_table(seq)
        assert np.array_equal(frame.tracks["tables"]["block"], self._table_state), self._where("tables")

        expected = np.zeros((len(frame.tracks["blocks"]["state"]), 3), np.int32)
        for pool in (self.kv.pool, self.kv.host):
            used = np.fromiter(pool.used, int, len(pool.used))
            expected[used, 0] = 1
            expected[used, 1] = np.fromiter(pool.used.values(), int, len(pool.used))
        slots, size = np.flatnonzero(self._table_state >= 0), self.kv.block_size
        blocks, computed = self._table_state[slots], self._sequence_state[self._keys[slots, 0], 3]
        filled = np.clip(computed - self._keys[slots, 1] * size, 0, size)
        named = np.bincount(blocks, minlength=len(expected))
        expected[blocks, 2] = filled
        shared = named[blocks] > 1
        np.maximum.at(expected[:, 2], blocks[shared], filled[shared])
        if isinstance(self.kv, HashedKV):
            expected[self.kv.pool.free_list.cached()] = (2, 0, size)
        if isinstance(self.kv, RadixKV):
            expected[sorted(self.kv.pool.stored - self.kv.pool.used.keys())] = (2, 0, size)
            self._compare_tree(frame)
        self._same(frame, "blocks", expected, ("state", "ref_count", "fill"))
        owner = frame.tracks["blocks"]["owner"]
        assert np.array_equal(owner >= 0, expected[:, 0] == 1), self._where("owners")
        assert np.array_equal(named, expected[:, 1]), self._where("table entries against reference counts")

    def _take_table(self, seq: Sequence) -> None:
        """A block table has changed: write it to the slots of its sequence."""
        table, slots = list(seq.block_table), self._finished_trace.slots_of(seq.index)
        same = self._keys[slots[: len(table)], 1].tolist() == list(range(len(table)))
        assert same, self._where(f"slots of sequence {seq.index}")
        self._table_state[slots] = -1
        self._table_state[slots[: len(table)]] = table
        self._tables[seq.index] = table

    def _compare_tree(self, frame: Frame) -> None:
        """Every node with its parent, its part of the token pool, its locks and its age."""
        track, tokens = frame.tracks["nodes"], self._finished_trace.tokens
        nodes = list(self.kv.tree.root.below())
        expected = np.tile(np.array([-1, 0, 0, 0], np.int32), (len(track["parent"]), 1))
        for node in nodes:
            expected[node.number] = (node.parent.number, len(node.key), node.lock_ref, node.last_access)
            part = tokens[track["first"][node.number] :][: len(node.key)]
            assert (tuple(part[:, 0]), tuple(part[:, 1])) == (node.key, node.slots), self._where("tokens of a node")
        self._same(frame, "nodes", expected, ("parent", "num_tokens", "lock_ref", "last_access"))

    def _compare_strips(self, frame: Frame, sequences: list[Sequence]) -> None:
        assert isinstance(self.kv, ContiguousKV)
        expected = np.tile(np.array([-1, 0, 0], np.int32), (len(self._sequence_state), 1))
        for seq in sequences:
            if seq.index in self.kv.strips:
                expected[seq.index] = (*self.kv.strips[seq.index], seq.num_computed_tokens)
        self._same(frame, "strips", expected, ("start", "size", "used"))

    def _same(self, frame: Frame, track: str, expected: np.ndarray, fields: tuple[str, ...]) -> None:
        for column, name in enumerate(fields):
            seen = frame.tracks[track][name]
            assert np.array_equal(seen, expected[:, column]), self._where(
                f"{track}.{name}: {seen} is not {expected[:, column]}"
            )

    def _where(self, what: str) -> str:
        return f"after event {self.event} of {self._finished_trace.num_events}: {what}"


def _keys_of_tables(trace: Trace) -> np.ndarray:
    """[num_slots, 2]: sequence and logical index of every slot of the block tables."""
    keys = trace.tracks["tables"].keys if "tables" in trace.tracks else None
    return np.zeros((0, 2), np.int32) if keys is None else keys


def tell(scenario: Scenario, run: str, recorder: Recorder) -> Recorder:
    """One run of a scenario, told to a recorder."""
    chosen = scenario.settings_of(run)
    if scenario.ops is not None:
        told = BlockPoolOps(chosen, scenario.ops, run, recorder)
        if isinstance(recorder, Mirror):
            recorder.kv = told.kv
        told.run()
    else:
        serve(chosen, scenario.workload_for(run), recorder)
    return recorder


def serve(chosen: Settings, workload: ListWorkload, recorder: Recorder) -> Recorder:
    engine = Engine(chosen, recorder)
    if isinstance(recorder, Mirror):
        recorder.kv = engine.kv
    engine.run(workload)
    engine.check()
    return recorder


def header_of(scenario: Scenario, run: str) -> dict[str, Any]:
    return trace_header(scenario.settings_of(run), run)


def reloaded(trace: Trace) -> Trace:
    file = io.BytesIO()
    trace.save(file)
    return Trace.load(file.getvalue())


def sampled_events(trace: Trace) -> set[int] | None:
    """None for a run whose every event is compared."""
    if trace.num_events <= MAX_EVENTS:
        return None
    cuts = set(trace.steps["scheduled"].tolist())
    return cuts | set(random.Random(0).sample(range(1, trace.num_events + 1), NUM_SAMPLES))


RUNS = [(name, run.name) for name, scenario in load().items() for run in scenario.runs]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "run"), RUNS)
def test_every_frame_of_a_scenario_is_the_state_of_the_engine(name: str, run: str) -> None:
    scenario, header = load()[name], header_of(load()[name], run)
    trace = reloaded(tell(scenario, run, Recorder(header)).trace())
    wanted = sampled_events(trace)
    mirror = Mirror(header, trace, wanted)
    tell(scenario, run, mirror)
    assert mirror.num_compared == (trace.num_events if wanted is None else len(wanted))
    assert mirror.trace().run_id == trace.run_id


@pytest.mark.parametrize("number", range(12))
def test_every_frame_of_a_crowded_run_is_the_state_of_the_engine(number: int) -> None:
    chosen, requests = list(cases())[number]
    header = trace_header(chosen, "crowded")
    trace = reloaded(serve(chosen, ListWorkload(requests), Recorder(header)).trace())
    mirror = Mirror(header, trace)
    serve(chosen, ListWorkload(requests), mirror)
    assert mirror.num_compared == trace.num_events > 100


@pytest.mark.parametrize("kv_manager", ["max", "pow2", "oracle"])
def test_every_frame_of_a_run_on_strips_is_the_state_of_the_engine(kv_manager: str) -> None:
    for paged, requests in cases():
        chosen = paged.with_(kv_manager=kv_manager, num_blocks=60, max_model_len=48)
        header = trace_header(chosen, "strips")
        trace = reloaded(serve(chosen, ListWorkload(requests), Recorder(header)).trace())
        serve(chosen, ListWorkload(requests), Mirror(header, trace))


def test_the_comparison_notices_a_single_wrong_row() -> None:
    chosen, requests = list(cases())[4]
    header = trace_header(chosen, "crowded")
    trace = serve(chosen, ListWorkload(requests), Recorder(header)).trace()
    for track, column in (("sequences", "seat"), ("tables", "block"), ("blocks", "ref_count"), ("requests", "rank")):
        wrong = reloaded(trace)
        rows = wrong.tracks[track]
        seen = np.flatnonzero(rows.until > rows.columns["event"])
        rows.columns[column][seen[len(seen) // 3]] += 1
        with pytest.raises(AssertionError, match="after event"):
            serve(chosen, ListWorkload(requests), Mirror(header, wrong))


@pytest.mark.parametrize("name", load())
def test_a_run_in_fifty_random_chunks_equals_the_whole(name: str) -> None:
    scenario = load()[name]
    run = scenario.runs[0].name
    trace = tell(scenario, run, Recorder(header_of(scenario, run))).trace()
    rng = random.Random(name)
    cuts = sorted(rng.randint(0, trace.num_events) for _ in range(49))
    joined = Trace.of(trace.header, trace.chunks(cuts))
    assert joined.run_id == trace.run_id
    for event in {0, trace.num_events, *(rng.randint(0, trace.num_events) for _ in range(20))}:
        assert joined.cut(event=event).crc() == trace.cut(event=event).crc()


def test_a_run_drained_after_every_step_equals_the_run_drained_once() -> None:
    for chosen, requests in list(cases())[:6]:
        whole = Recorder(trace_header(chosen, "run"))
        Engine(chosen, whole).run(ListWorkload(requests))
        pieces = Recorder(trace_header(chosen, "run"))
        engine, workload, chunks = Engine(chosen, pieces), ListWorkload(requests), []
        while True:
            for request in workload.take(engine.clock):
                engine.submit(request)
            if engine.step() is None:
                arrival = workload.next_arrival()
                if arrival is None:
                    break
                engine.clock = max(engine.clock, arrival)
            chunks.append(pieces.drain())
        chunks.append(pieces.drain())
        assert Trace.of(pieces.header, chunks).run_id == whole.trace().run_id


def test_a_trace_with_only_some_tracks_opens_and_cuts() -> None:
    chosen, requests = next(iter(cases()))
    recorder = Recorder(trace_header(chosen, "whole"))
    Engine(chosen, recorder).run(ListWorkload(requests))
    whole = recorder.trace()
    header = {**whole.header, "tracks": ["requests", "sequences"]}
    chunks = whole.chunks()
    for chunk in chunks:
        chunk.rows = {name: chunk.rows[name] for name in header["tracks"]}
        chunk.keys = {}
    part = reloaded(Trace.of(header, chunks))
    last = part.cut(event=part.num_events)
    assert set(last.tracks) == {"requests", "sequences"}
    assert last.table(0) == []
    ended = {int(SequenceStatus.FINISHED), int(SequenceStatus.REJECTED)}
    assert set(last.tracks["requests"]["status"].tolist()) <= ended
