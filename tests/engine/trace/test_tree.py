"""The radix tree in a trace: rows of nodes, the pool of tokens, words; and what a file may not say about them."""

import io
from typing import Any

import numpy as np
import pytest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.check import TraceFileError, told
from engine.trace.chunk import Chunk
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, HAPPENINGS, REASONS, SPECS
from engine.trace.tree import TreeNode, text_of, tree_at
from engine.workload import ListWorkload
from viz.player.wire import wire

WORDS = ["be", "kind", "and", "short", "hello", "bye"]


def small(eviction: str = "lru") -> Trace:
    """Room for 6 words. Request 1 leaves [be kind and], request 2 splits it, request 3 needs everything."""
    prompts = ([0, 1, 2], [0, 1, 3, 4], [5, 4, 3, 2, 1])
    requests = [Request(f"r{i}", 2.0 * i, Prompt.of_ids(ids), SamplingParams(1, 1)) for i, ids in enumerate(prompts)]
    settings = Settings(kv_manager="radix", block_size=1, num_blocks=6, step_time=1.0, eviction=eviction)
    return simulate(settings, ListWorkload(requests), "small", vocabulary=WORDS)


def happenings(trace: Trace, *kinds: str) -> list[tuple[str, int, int, int, int]]:
    """(kind, sequence, block, target, amount) of these kinds in order."""
    columns = [trace.happenings[name].tolist() for name in ("kind", "sequence", "block", "target", "amount")]
    named = [(HAPPENINGS[kind], *others) for kind, *others in zip(*columns, strict=True)]
    return [entry for entry in named if entry[0] in kinds]


def reloaded(trace: Trace) -> Trace:
    file = io.BytesIO()
    trace.save(file)
    return Trace.load(file.getvalue())


def test_nodes_name_their_part_of_the_token_pool_and_a_split_copies_nothing():
    trace = reloaded(small())
    assert trace.tokens[:5].tolist() == [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]]
    assert trace.tokens[5:].tolist() == [[5, 5], [4, 2], [3, 3], [2, 4], [1, 0]]
    step = 1
    nodes = tree_at(trace, int(trace.steps["updated"][step]))
    assert nodes == {
        1: TreeNode(2, (2,), (2,), 0, nodes[1].last_access),
        2: TreeNode(0, (0, 1), (0, 1), 0, nodes[2].last_access),
        3: TreeNode(2, (3, 4), (3, 4), 0, nodes[3].last_access),
    }
    assert [text_of(trace.header, nodes[n].tokens) for n in (2, 1, 3)] == ["be kind", "and", "short hello"]
    assert text_of(trace.header, (-3, 99)) == "-3 99"
    assert tree_at(trace, 0) == {}


def test_happenings_tell_who_found_split_locked_and_evicted_what():
    trace = small()
    assert happenings(trace, "inserted", "split", "hit", "evicted") == [
        ("inserted", 0, -1, 1, 3),
        ("split", -1, 1, 2, 2),
        ("hit", 1, -1, 2, 2),
        ("inserted", 1, -1, 3, 2),
        ("evicted", 2, -1, 1, 1),
        ("evicted", 2, -1, 3, 2),
        ("evicted", 2, -1, 2, 2),
        ("inserted", 2, -1, 4, 5),
    ]
    assert happenings(trace, "locked", "unlocked")[:4] == [
        ("locked", 0, -1, 1, 3),
        ("unlocked", 0, -1, 1, 3),
        ("locked", 1, -1, 2, 2),
        ("locked", 1, -1, 3, 2),
    ]


@pytest.mark.parametrize(
    ("eviction", "reason", "expected"),
    [
        ("lru", "unused_longest", [(2, 4, 1, 1), (2, 3, 2, 3), (2, 1, 4, 2)]),
        ("filo", "filo", [(2, 4, 1, 3), (2, 2, 3, 1), (2, 1, 4, 2)]),
    ],
)
def test_an_eviction_is_a_decision_with_its_policy_as_the_reason(eviction: str, reason: str, expected: list[Any]):
    """Five tokens are wanted and one slot is free: four are missing, then as many less as a leaf had."""
    trace = small(eviction)
    rows = trace.decisions["action"] == ACTIONS.index("evict")
    assert {REASONS[code] for code in trace.decisions["reason"][rows]} == {reason}
    columns = [trace.decisions[name][rows].tolist() for name in ("request", "needed", "available", "other")]
    assert list(zip(*columns, strict=True)) == expected


def test_blocks_of_the_tree_alone_are_cached_and_those_of_readers_used():
    trace = small()
    blocks = trace.cut(step=1, at="scheduled").tracks["blocks"]
    assert blocks["state"].tolist() == [1, 1, 2, 1, 1, 0]
    assert blocks["ref_count"].tolist() == [1, 1, 0, 1, 1, 0]
    assert blocks["fill"].tolist() == [1, 1, 1, 1, 1, 0]


def test_the_wire_to_the_browser_carries_tree_and_words():
    trace = small()
    loaded = Trace.load(wire(trace, title="small"))
    assert loaded.run_id == trace.run_id
    assert loaded.header["vocabulary"] == WORDS
    assert np.array_equal(loaded.tokens, trace.tokens)
    assert loaded.cut(step=1).crc() == trace.cut(step=1).crc()


def test_a_trace_without_its_nodes_opens_and_has_no_tokens():
    trace = small()
    header = {**trace.header, "tracks": [name for name in trace.header["tracks"] if name != "nodes"]}
    part = reloaded(Trace.of(header, trace.chunks()))
    assert len(part.tokens) == 0 and tree_at(part, part.num_events) == {}


def tampered(**changes: Any) -> str:
    """The sentence that a file is refused with whose first row of nodes has these values, or `slot` in its tokens."""
    trace = small()
    (chunk,) = trace.chunks()
    for name, value in changes.items():
        if name == "slot":
            chunk.tokens[0, 1] = value
        else:
            chunk.rows["nodes"][0, ("event", "key", *SPECS["nodes"].columns).index(name)] = value
    with pytest.raises(TraceFileError) as caught:
        Trace.of(trace.header, [chunk])
    return str(caught.value)


def test_what_a_file_may_not_say_about_the_tree():
    assert "nodes.key" in tampered(key=0)
    assert "nodes.key" in tampered(key=-5)
    assert "Track 'nodes' has 2147483648 keys" in tampered(key=2**31 - 1)
    assert "nodes.parent" in tampered(parent=9)
    assert "nodes.parent" in tampered(parent=-2)
    assert "its own parent" in tampered(parent=1)
    assert "nodes.first" in tampered(first=-1)
    assert "nodes.num_tokens" in tampered(num_tokens=-1)
    assert "beyond the 10 of the trace" in tampered(first=9, num_tokens=2)
    assert "nodes.first" in tampered(first=2**31 - 1)
    assert "nodes.lock_ref" in tampered(lock_ref=-1)
    assert "tokens.slot" in tampered(slot=6)
    assert "tokens.slot" in tampered(slot=-1)


@pytest.mark.parametrize("words", [3, [3], ["x" * 10_001], {"a": 1}])
def test_a_vocabulary_is_a_list_of_words(words: Any):
    with pytest.raises(TraceFileError, match="vocabulary"):
        Trace.of({**small().header, "vocabulary": words}, [Chunk()])


def test_an_eviction_may_name_a_node_and_nothing_else_may():
    trace = small()
    (chunk,) = trace.chunks()
    evictions = np.flatnonzero(chunk.decisions[:, 1] == ACTIONS.index("evict"))
    chunk.decisions[evictions[0], 7] = -1
    with pytest.raises(TraceFileError, match=r"decisions\.other"):
        Trace.of(trace.header, [chunk])
    (chunk,) = trace.chunks()
    chunk.decisions[0, 7] = 3
    with pytest.raises(TraceFileError, match=r"decisions\.other"):
        Trace.of(trace.header, [chunk])


@pytest.mark.parametrize("name", ["title", "remark"])
@pytest.mark.parametrize("text", [3, None, "x" * 201, "two\nlines", "\ud800", "\u202eturned"])
def test_a_title_and_a_remark_are_one_line_each(name: str, text: Any):
    with pytest.raises(TraceFileError, match=f"{name}.*one line of at most 200 characters"):
        Trace.of({**small().header, name: text}, [Chunk()])


def test_what_a_run_is_called_does_not_change_its_id():
    trace = small()
    names = told("<b>块</b>" + "x" * 300, "two\nlines \ud800")
    assert names == {"title": "<b>块</b>" + "x" * 192, "remark": "two lines"}
    named = Trace.of({**trace.header, **names}, trace.chunks())
    assert named.run_id == trace.run_id
    saved = io.BytesIO()
    named.save(saved)
    assert Trace.load(saved.getvalue()).header == named.header
