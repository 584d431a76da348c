"""What is said about memory: the radix tree, copies, shared blocks, allocations and moves."""

from collections.abc import Iterator

import numpy as np

from engine.trace.trace import Trace
from viz.player.narrator import Narrator
from viz.player.nodes import inserters
from viz.player.occupants import known_before


def tree(n: Narrator) -> None:
    """What happens in the radix tree. Of several evictions or splits in one event the first one speaks."""
    if "nodes" not in n.trace.tracks:
        return
    for reason, rows in n.decided("evict"):
        message = "evicted" if reason == "unused_longest" else "evicted_by_policy"
        n.say(message, rows["event"], rows["other"], rows["needed"], rows["available"])
    rows = n.happened("split")
    n.say("split", rows["event"], rows["target"])
    rows = n.happened("hit")
    events, request, tokens = rows["event"], rows["request"], rows["amount"]
    source = inserters(n.trace, rows["target"], events)
    known = known_before(n.trace, request, events)
    other = (source >= 0) & (source != request)
    message = "hit_words" if n.trace.header.get("vocabulary") else "hit"
    n.say(message, events[other], tokens[other], known[other], source[other])
    n.say("hit_own", events[~other], tokens[~other], known[~other])
    for kind in ("inserted", "locked"):
        rows = n.happened(kind)
        named = (rows["request"] >= 0) & (rows["amount"] > 0)
        n.say(kind, *(rows[name][named] for name in ("event", "request", "amount", "target")))


def copies(n: Narrator) -> None:
    rows = n.happened("copied")
    readers = _readers(n.trace, rows["block"], rows["event"])
    num_others, lists = [], []
    for sequence, reading in zip(rows["sequence"].tolist(), readers, strict=True):
        others = [other for other in reading if other != sequence]
        num_others.append(len(others))
        lists.append(n.list_of(others))
    size, position = np.array(num_others, np.int64), np.array(lists, np.int64)
    for message, chosen in (("copied_from_none", size == 0), ("copied_from_one", size == 1), ("copied", size > 1)):
        operands = (rows["block"], rows["target"], rows["sequence"], position)
        n.say(message, rows["event"][chosen], *(operand[chosen] for operand in operands))
    rows = n.happened("written_in_place")
    n.say("written_in_place", rows["event"], rows["sequence"], rows["block"])


def sharing(n: Narrator) -> None:
    rows = n.happened("shared")
    events, first, count = np.unique(rows["event"], return_index=True, return_counts=True)
    readers = _readers(n.trace, rows["block"][first], events)
    sequence = rows["sequence"][first]
    pairs = zip(sequence.tolist(), readers, strict=True)
    parent = np.array([next((other for other in reading if other != child), -1) for child, reading in pairs], np.int64)
    known = parent >= 0
    n.say("shared", events[known], sequence[known], count[known], parent[known])


def memory(n: Narrator) -> None:
    rows = n.happened("allocated")
    events, sequence, block, amount = (rows[name] for name in ("event", "sequence", "block", "amount"))
    if n.is_paged:
        one, many = amount == 1, amount > 1
        is_full = n.fills_last_block(sequence, events)
        for message, chosen in (("allocated", one & is_full), ("allocated_ahead", one & ~is_full)):
            n.say(message, events[chosen], sequence[chosen], block[chosen])
        n.say("allocated_many", events[many], sequence[many], amount[many], block[many])
        _blocks_of_preempted(n, *(values[one & is_full] for values in (events, sequence, block)))
    else:
        n.say("reserved", events, sequence, amount, block)
    for kind in ("moved_out", "moved_in"):
        rows = n.happened(kind)
        moments, first, count = np.unique(rows["event"], return_index=True, return_counts=True)
        n.say(kind, moments, rows["request"][first], count)


def _blocks_of_preempted(n: Narrator, events: np.ndarray, sequence: np.ndarray, block: np.ndarray) -> None:
    """Who gets a block that a request has lost in the same step."""
    preempted, size = n.happened("preempted"), n.trace.num_events + 1
    if not len(preempted["event"]):
        return
    writer = n.block_lives.writers(block, events)
    losses = np.sort(preempted["request"].astype(np.int64) * size + preempted["event"])
    before = np.searchsorted(losses, n.owner[writer] * size + events) - 1
    last = losses[np.maximum(before, 0)]
    same = (writer >= 0) & (before >= 0) & (last // size == n.owner[writer])
    lost = same & (n.step_begins(events) < last % size)
    n.say("allocated_of_preempted", events[lost], sequence[lost], block[lost], writer[lost])


def _readers(trace: Trace, blocks: np.ndarray, events: np.ndarray) -> Iterator[list[int]]:
    """For each block and event the sequences whose tables name the block then, ascending."""
    if "tables" not in trace.tracks:
        yield from ([] for _ in blocks)
        return
    track = trace.tracks["tables"]
    assert track.keys is not None
    named = track.columns["block"]
    order = np.argsort(named, kind="stable")
    lows, highs = (np.searchsorted(named[order], blocks, side=side) for side in ("left", "right"))
    event, end, key = track.columns["event"][order], track.end[order], track.columns["key"][order]
    for moment, low, high in zip(events.tolist(), lows.tolist(), highs.tolist(), strict=True):
        past = low + int(np.searchsorted(event[low:high], moment, side="right"))
        slots = key[low:past][end[low:past] > moment]
        yield np.unique(track.keys[slots, 0]).tolist()
