"""The state of a running engine, read from its own objects, in the form of a frame.

This is the reference for traces: it knows nothing of rows or ramps. `StateRecorder` takes it after every transaction.
"""

from typing import Any

from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.kv.radix import RadixKV
from engine.loop import Engine
from engine.trace.frame import Frame
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace

State = dict[tuple[str, int], Any]


class StateRecorder(Recorder):
    """Records a run and keeps the engine's own state of every event; checks the invariants of the memory at each."""

    def __init__(self, header: dict[str, Any]) -> None:
        super().__init__(header)
        self.engine: Engine | None = None
        self.states: dict[int, State] = {}

    def close(self) -> None:
        super().close()
        assert self.engine is not None
        self.engine.check()
        self.states[self.event] = state_of(self.engine)


def state_of(engine: Engine) -> State:
    """(track, key) -> values, for every key that has any; tables by sequence as lists of blocks."""
    state: State = {}
    fills: dict[int, int] = {}
    for group in engine.groups:
        state["requests", group.index] = (int(group.status), group.rank, group.num_preemptions)
        for seq in group.sequences:
            counts = (seq.num_tokens, seq.num_computed_tokens)
            state["sequences", seq.index] = (int(seq.status), seq.seat, *counts)
            state["tables", seq.index] = list(seq.block_table)
            for index, block in enumerate(seq.block_table):
                size = engine.settings.block_size
                fill = max(0, min(size, seq.num_computed_tokens - index * size))
                fills[block] = max(fills.get(block, 0), fill)
            strips = getattr(engine.kv, "strips", {})
            if seq.index in strips:
                state["strips", seq.index] = (*strips[seq.index], seq.num_computed_tokens)
    if isinstance(engine.kv, PagedKV):
        for block, ref_count in {**engine.kv.pool.used, **engine.kv.host.used}.items():
            state["blocks", block] = (1, ref_count, fills[block])
    if isinstance(engine.kv, HashedKV):
        for block in engine.kv.pool.free_list.cached():
            state["blocks", block] = (2, 0, engine.settings.block_size)
    if isinstance(engine.kv, RadixKV):
        for block in engine.kv.pool.stored - engine.kv.pool.used.keys():
            state["blocks", block] = (2, 0, engine.settings.block_size)
        for node in engine.kv.tree.root.below():
            assert node.parent is not None
            state["nodes", node.number] = (node.parent.number, len(node.key), node.lock_ref, node.last_access)
            state["edges", node.number] = (node.key, node.slots)
    return state


FIELDS = {
    "requests": ("status", "rank", "num_preemptions"),
    "sequences": ("status", "seat", "num_tokens", "num_computed_tokens"),
    "blocks": ("state", "ref_count", "fill"),
    "strips": ("start", "size", "used"),
    "nodes": ("parent", "num_tokens", "lock_ref", "last_access"),
}


def assert_equal(frame: Frame, state: State) -> None:
    """The frame says about every key what the engine said, and names no block, strip or node besides."""
    num_named = {"blocks": 0, "strips": 0, "nodes": 0}
    for (track, key), expected in state.items():
        if track == "tables":
            if "tables" in frame.tracks:
                assert frame.table(key) == expected, f"table of sequence {key} at event {frame.event}"
            continue
        if track == "edges":
            continue
        values = tuple(int(frame.tracks[track][field][key]) for field in FIELDS[track])
        assert values == expected, f"{track} {key} at event {frame.event}: {values}, expected {expected}"
        if track in num_named:
            num_named[track] += 1
    if "blocks" in frame.tracks:
        assert int((frame.tracks["blocks"]["state"] > 0).sum()) == num_named["blocks"]
    if "strips" in frame.tracks:
        assert int((frame.tracks["strips"]["start"] >= 0).sum()) == num_named["strips"]
    if "nodes" in frame.tracks:
        assert int((frame.tracks["nodes"]["parent"] >= 0).sum()) == num_named["nodes"]


def assert_same_edges(trace: Trace, frame: Frame, state: State) -> None:
    """The token pool says about every node the tokens and slots that the engine's own tree had."""
    nodes = frame.tracks["nodes"]
    for (track, number), edge in state.items():
        if track == "edges":
            part = trace.tokens[nodes["first"][number] :][: nodes["num_tokens"][number]]
            assert (tuple(part[:, 0]), tuple(part[:, 1])) == edge, f"node {number} at event {frame.event}"
