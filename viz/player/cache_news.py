"""What is said about full blocks that are known by their content: what a request finds, and what is forgotten.

The free blocks of such a cache wait in one queue, so the content that goes is always the one unused longest. A radix
tree has its own words (`memory_news.tree`).
"""

import numpy as np

from viz.player.narrator import Narrator, Rows, sum_at
from viz.player.occupants import before
from viz.player.vocabulary import VOCABULARY

_RUNNING = [VOCABULARY["statuses"].index(name) for name in ("PREFILL", "DECODE")]


def finds(n: Narrator) -> None:
    """An admission that finds blocks: whose they are, why they are the same, and what it needs beyond them."""
    rows = n.happened("hit")
    if "nodes" in n.trace.tracks or not len(rows["event"]):
        return
    events, request, tokens = rows["event"], rows["request"], rows["amount"]
    blocks = tokens // n.trace.header["block_size"]
    reader = n.block_lives.readers(rows["block"], events)
    runs = (reader >= 0) & np.isin(before(n.trace, "status", np.maximum(reader, 0), events), _RUNNING)
    holder = np.where(runs, reader, n.block_lives.writers(rows["block"], events))
    allocated = n.happened("allocated")
    more = sum_at(events, allocated["event"], allocated["amount"])
    free = n.free_before(events)
    if free is not None:
        free = free - sum_at(events, n.block_lives.returns, np.ones(len(n.block_lives.returns), np.int64))
    lost = n.block_lives.losses
    num_lost, loser = _at(events, lost, "count"), _at(events, lost, "writer")
    loser = np.where(loser == holder, -1, loser)  # "what A left" would be both
    other = (holder >= 0) & (n.owner[holder] != request)
    for found, chosen in (("found", other & runs), ("found_left", other & ~runs), ("found_again", ~other)):
        facts = [values[chosen] for values in (events, request, blocks, holder, tokens, more)]
        n.say(f"{found}_more", *facts)
        if free is not None:
            n.say(found, *facts, free[chosen])
        for message, which in ((f"{found}_evicts", loser >= 0), (f"{found}_evicts_several", loser < 0)):
            goes = chosen & (num_lost > 0) & which
            n.say(message, *(values[goes] for values in (events, request, blocks, holder, tokens, more, loser)))


def evictions(n: Narrator) -> None:
    """What known content is given up for the blocks that somebody gets, where that is all there is to say about them."""
    if "nodes" in n.trace.tracks or not len(n.happened("evicted")["event"]):
        return
    lost = n.block_lives.losses
    allocated = n.happened("allocated")
    for kind in ("admitted", "resumed"):
        rows = n.happened(kind)
        events, free = rows["event"], n.free_before(rows["event"])
        if free is not None:
            size = sum_at(events, allocated["event"], allocated["amount"])
            _forget(n, lost, f"{kind}_evicts", events, rows["request"], size, free)
    events, sequence, block, amount = (allocated[name] for name in ("event", "sequence", "block", "amount"))
    full = n.fills_last_block(sequence, events)
    for message, chosen in (("allocated_evicts", full), ("allocated_ahead_evicts", ~full)):
        one = chosen & (amount == 1)
        _forget(n, lost, message, events[one], sequence[one], block[one])
    many = amount > 1
    _forget(n, lost, "allocated_many_evicts", events[many], sequence[many], amount[many], block[many])


def _forget(n: Narrator, lost: Rows, message: str, events: np.ndarray, *operands: np.ndarray) -> None:
    """Of the messages about these events those with a loss: their operands, whose content is lost, in how many blocks."""
    count, writer = _at(events, lost, "count"), _at(events, lost, "writer")
    for name, chosen in ((message, (count > 0) & (writer >= 0)), (f"{message}_several", (count > 0) & (writer < 0))):
        n.say(name, events[chosen], *(each[chosen] for each in (*operands, writer, count)))


def _at(events: np.ndarray, lost: Rows, name: str) -> np.ndarray:
    """The value of a loss at each of these events, 0 where nothing is lost."""
    return sum_at(events, lost["event"], lost[name])
