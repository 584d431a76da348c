"""Decides what is said about each event: which message, with which numbers.

Everything is read off the happenings, the decisions and the rows of a trace in vectorised passes, so that a hundred
thousand events cost a fraction of a second. Where an event has several things to say, the rarest speaks.
"""

from collections.abc import Callable, Iterator

import numpy as np

from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, DECISION_COLUMNS, HAPPENING_COLUMNS, HAPPENINGS, REASONS, RESOURCES
from viz.player.free_blocks import free_blocks
from viz.player.messages import CODES
from viz.player.nodes import inserters
from viz.player.occupants import known_before, num_seated, previous_occupants, tokens_before

NUM_OPERANDS = 4
Rows = dict[str, np.ndarray]


def narrate(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(rows int32 [n, 2 + NUM_OPERANDS], lists int32): see `sentences.Sentences`."""
    narrator = _Narrator(trace)
    for telling in _TELLINGS:
        telling(narrator)
    rows = np.concatenate([np.zeros((0, 2 + NUM_OPERANDS), np.int64), *narrator.rows])
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    first = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
    return rows[first].astype(np.int32), np.array(narrator.lists, np.int32)


class _Narrator:
    """Collects rows: `say` adds one message for many events. `lists` are the sequences that list operands point to."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.rows: list[np.ndarray] = []
        self.lists: list[int] = []
        self.is_paged = "strips" not in trace.tracks
        self.settings = trace.header["settings"]
        self._free = free_blocks(trace)

    def say(self, message: str, events: np.ndarray, *operands: np.ndarray | int) -> None:
        rows = np.zeros((len(events), 2 + NUM_OPERANDS), np.int64)
        for column, values in enumerate((events, CODES[message], *operands)):
            rows[:, column] = values
        self.rows.append(rows)

    def happened(self, kind: str) -> Rows:
        columns = self.trace.happenings
        chosen = columns["kind"] == HAPPENINGS.index(kind)
        return {name: columns[name][chosen] for name in HAPPENING_COLUMNS}

    def decided(self, action: str) -> Iterator[tuple[str, Rows]]:
        """The decisions of one kind, reason by reason."""
        columns = self.trace.decisions
        for reason in np.unique(columns["reason"][columns["action"] == ACTIONS.index(action)]):
            chosen = (columns["action"] == ACTIONS.index(action)) & (columns["reason"] == reason)
            yield REASONS[reason], {name: columns[name][chosen] for name in DECISION_COLUMNS}

    def free_before(self, events: np.ndarray) -> np.ndarray | None:
        """Free blocks of the device just before each event; None where memory has no limit or no blocks."""
        if self._free is None:
            return None
        changed, free = self._free
        return free[np.searchsorted(changed, events, side="left")]

    def list_of(self, sequences: list[int]) -> int:
        position = len(self.lists)
        self.lists += [len(sequences), *sequences]
        return position


def _refusals(n: _Narrator) -> None:
    happened = n.happened("rejected")
    n.say("rejected", happened["event"], happened["request"])
    limit = "_of_capacity" if n.settings.get("kv_capacity_tokens") is not None else ""
    for reason, rows in n.decided("reject"):
        message = reason if reason != "never_fits" else f"never_fits_{'blocks' if n.is_paged else 'slots'}{limit}"
        if message in CODES:
            n.say(message, rows["event"], rows["request"], rows["needed"], rows["available"])
    for _, rows in n.decided("stop"):
        n.say("stopped", rows["event"], rows["available"])


def _preemptions(n: _Narrator) -> None:
    for _, rows in n.decided("oversize"):
        n.say("oversize", rows["event"], rows["request"], rows["needed"], rows["available"])
    for _, rows in n.decided("preempt"):
        events, request, cause, free = rows["event"], rows["request"], rows["other"], n.free_before(rows["event"])
        n.say("preempted", events, request)
        if free is None:
            continue
        itself, full = (cause == request) | (cause < 0), free == 0
        of_other = "preempted_shortest" if n.settings.get("victim") == "fewest_outputs" else "preempted_last"
        n.say(of_other, events[full & ~itself], request[full & ~itself], cause[full & ~itself])
        n.say("preempted_itself", events[full & itself], request[full & itself])
        short = ~full & ~itself
        n.say("preempted_short", events[short], request[short], cause[short], free[short])


def _tree(n: _Narrator) -> None:
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
    prompts = np.array([r["prompt_len"] for r in n.trace.requests], np.int64)[request]
    other = (source >= 0) & (source != request)
    message = "hit_words" if n.trace.header.get("vocabulary") else "hit"
    n.say(message, events[other], tokens[other], prompts[other], source[other])
    n.say("hit_own", events[~other], tokens[~other], prompts[~other])
    for kind in ("inserted", "locked"):
        rows = n.happened(kind)
        known = (rows["request"] >= 0) & (rows["amount"] > 0)
        n.say(kind, *(rows[name][known] for name in ("event", "request", "amount", "target")))


def _copies(n: _Narrator) -> None:
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


def _sharing(n: _Narrator) -> None:
    rows = n.happened("shared")
    events, first, count = np.unique(rows["event"], return_index=True, return_counts=True)
    readers = _readers(n.trace, rows["block"][first], events)
    sequence = rows["sequence"][first]
    pairs = zip(sequence.tolist(), readers, strict=True)
    parent = np.array([next((other for other in reading if other != child), -1) for child, reading in pairs], np.int64)
    known = parent >= 0
    n.say("shared", events[known], sequence[known], count[known], parent[known])


def _admissions(n: _Narrator) -> None:
    allocated = n.happened("allocated")
    for kind in ("admitted", "resumed"):
        rows = n.happened(kind)
        events, request, tokens = rows["event"], rows["request"], rows["amount"]
        size, free = _sum_at(events, allocated["event"], allocated["amount"]), n.free_before(events)
        if kind == "resumed":
            tokens = known_before(n.trace, request, events)
        n.say(f"{kind}_at_once", events, request, tokens)
        gets = size > 0
        if free is not None:
            n.say(kind, events[gets], request[gets], size[gets], free[gets])
        elif kind == "admitted":
            n.say("admitted_freely" if n.is_paged else "admitted_to_strip", events[gets], request[gets], size[gets])
    _ends_of_waiting(n)


def _ends_of_waiting(n: _Narrator) -> None:
    """What had kept a request waiting, and is over now, is the better reason for its admission."""
    rows = n.happened("admitted")
    events, request = rows["event"], rows["request"]
    admitted_at = dict(zip(request.tolist(), events.tolist(), strict=True))
    waited_for: dict[int, tuple[int, str]] = {}
    for reason, skips in n.decided("skip"):
        for event, r in zip(skips["event"].tolist(), skips["request"].tolist(), strict=True):
            if event < admitted_at.get(r, -1):
                waited_for[r] = max(waited_for.get(r, (-1, "")), (event, reason))
    reasons = np.array([waited_for.get(r, (-1, ""))[1] for r in request.tolist()])
    before = previous_occupants(n.trace, rows["sequence"], events)
    took_the_last = num_seated(n.trace, events) == (n.settings.get("max_num_seqs") or -1)
    seated = (before >= 0) & (took_the_last | (reasons == "no_seat"))
    n.say("admitted_to_seat", events[seated], request[seated], before[seated])
    for reason, message in (("batch_running", "admitted_after_batch"), ("batch_not_full", "admitted_to_batch")):
        n.say(message, events[reasons == reason], request[reasons == reason])


def _waiting(n: _Narrator) -> None:
    skips = dict(n.decided("skip"))
    for reason, rows in skips.items():
        events, request, needed, available = (rows[name] for name in ("event", "request", "needed", "available"))
        n.say("skipped", events, request)
        if reason == "behind_head":
            n.say("behind_head", events, request, rows["other"])
        elif reason == "no_block":
            kept = needed <= available
            slots = ~kept & (rows["resource"] == RESOURCES.index("slots"))
            for message, chosen in (("watermark", kept), ("no_slot", slots), ("no_block", ~kept & ~slots)):
                n.say(message, events[chosen], request[chosen], needed[chosen], available[chosen])
        elif reason in CODES:
            n.say(reason, events, request, needed, available)


def _endings(n: _Narrator) -> None:
    released, finished = n.happened("released"), n.happened("finished")
    message = "released" if n.is_paged else "released_strip"
    n.say(message, released["event"], released["sequence"], released["amount"])
    _early_ends(n, released)
    events, request, tokens = finished["event"], finished["request"], finished["amount"]
    returned = _sum_at(events, released["event"], released["amount"])
    has_returned = np.isin(events, released["event"])
    stays = events[~has_returned], request[~has_returned], tokens[~has_returned]
    n.say("finished_held" if n.settings.get("policy") == "static" else "finished_only", *stays)
    for_pool = events[has_returned], request[has_returned], tokens[has_returned], returned[has_returned]
    if "nodes" in n.trace.tracks:
        n.say("finished_in_tree", *for_pool[:3])
    else:
        n.say("finished" if n.is_paged else "finished_strip", *for_pool)


def _early_ends(n: _Narrator, released: Rows) -> None:
    """Sequences that did not end at their length."""
    for kind in ("cut_short", "aborted"):
        rows = n.happened(kind)
        n.say(kind, rows["event"], rows["sequence"], rows["amount"])
    rows = n.happened("stopped")
    events, sequence, tokens = rows["event"], rows["sequence"], rows["amount"]
    returned = _sum_at(events, released["event"], released["amount"])
    for_pool = (returned > 0) & n.is_paged & ("nodes" not in n.trace.tracks)
    n.say("ended_by_token", *(values[for_pool] for values in (events, sequence, tokens, returned)))
    n.say("ended_by_token_only", *(values[~for_pool] for values in (events, sequence, tokens)))


def _memory(n: _Narrator) -> None:
    rows = n.happened("allocated")
    events, sequence, block, amount = (rows[name] for name in ("event", "sequence", "block", "amount"))
    if n.is_paged:
        one, many = amount == 1, amount > 1
        is_full = tokens_before(n.trace, sequence, events) % n.trace.header["block_size"] == 0
        for message, chosen in (("allocated", one & is_full), ("allocated_ahead", one & ~is_full)):
            n.say(message, events[chosen], sequence[chosen], block[chosen])
        n.say("allocated_many", events[many], sequence[many], amount[many], block[many])
    else:
        n.say("reserved", events, sequence, amount, block)
    for kind in ("moved_out", "moved_in"):
        rows = n.happened(kind)
        moments, first, count = np.unique(rows["event"], return_index=True, return_counts=True)
        n.say(kind, moments, rows["request"][first], count)


def _steps(n: _Narrator) -> None:
    rows = n.happened("arrived")
    n.say("arrived", rows["event"], rows["request"], rows["amount"])
    steps = n.trace.steps
    events, tokens, sequences = (
        steps[name] for name in ("scheduled", "num_scheduled_tokens", "num_scheduled_sequences")
    )
    idle, decode = sequences == 0, (tokens == sequences) & (sequences > 0)
    other = ~idle & ~decode
    where = "" if n.is_paged else "_in_strips"
    n.say("idle", events[idle])
    n.say(f"decode{where}", events[decode])
    n.say(f"prefill{where}", events[other], tokens[other], sequences[other])


_TELLINGS: tuple[Callable[[_Narrator], None], ...] = (
    _refusals,
    _preemptions,
    _tree,
    _copies,
    _sharing,
    _admissions,
    _waiting,
    _endings,
    _memory,
    _steps,
)


def _sum_at(events: np.ndarray, moments: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """For each of `events` the sum of the amounts whose moment (ascending) it is."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(amounts, dtype=np.int64)))
    return total[np.searchsorted(moments, events, side="right")] - total[np.searchsorted(moments, events, side="left")]


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
