"""What is said about requests: who came, was let in, waits and why, was preempted, ended."""

import numpy as np

from engine.trace.track import RESOURCES
from viz.player.messages import CODES
from viz.player.narrator import Narrator, Rows, sum_at
from viz.player.occupants import known_before, num_seated, previous_occupants


def refusals(n: Narrator) -> None:
    happened = n.happened("rejected")
    n.say("rejected", happened["event"], happened["request"])
    limit = "_of_capacity" if n.settings.get("kv_capacity_tokens") is not None else ""
    for reason, rows in n.decided("reject"):
        message = reason if reason != "never_fits" else f"never_fits_{'blocks' if n.is_paged else 'slots'}{limit}"
        if message in CODES:
            n.say(message, rows["event"], rows["request"], rows["needed"], rows["available"])
    for _, rows in n.decided("stop"):
        n.say("stopped", rows["event"], rows["available"])


def preemptions(n: Narrator) -> None:
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


def admissions(n: Narrator) -> None:
    allocated = n.happened("allocated")
    for kind in ("admitted", "resumed"):
        rows = n.happened(kind)
        events, request, tokens = rows["event"], rows["request"], rows["amount"]
        size, free = sum_at(events, allocated["event"], allocated["amount"]), n.free_before(events)
        if kind == "resumed":
            tokens = known_before(n.trace, request, events)
        n.say(f"{kind}_at_once", events, request, tokens)
        gets = size > 0
        if free is not None:
            n.say(kind, events[gets], request[gets], size[gets], free[gets])
        elif kind == "admitted":
            n.say("admitted_freely" if n.is_paged else "admitted_to_strip", events[gets], request[gets], size[gets])
    _ends_of_waiting(n)


def _ends_of_waiting(n: Narrator) -> None:
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


def waiting(n: Narrator) -> None:
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


def endings(n: Narrator) -> None:
    released, finished = n.happened("released"), n.happened("finished")
    message = "released" if n.is_paged else "released_strip"
    n.say(message, released["event"], released["sequence"], released["amount"])
    _early_ends(n, released)
    events, request, tokens = finished["event"], finished["request"], finished["amount"]
    returned = sum_at(events, released["event"], released["amount"])
    has_returned = np.isin(events, released["event"])
    stays = events[~has_returned], request[~has_returned], tokens[~has_returned]
    n.say("finished_held" if n.settings.get("policy") == "static" else "finished_only", *stays)
    for_pool = events[has_returned], request[has_returned], tokens[has_returned], returned[has_returned]
    if "nodes" in n.trace.tracks:
        n.say("finished_in_tree", *for_pool[:3])
    else:
        n.say("finished" if n.is_paged else "finished_strip", *for_pool)


def _early_ends(n: Narrator, released: Rows) -> None:
    """Sequences that did not end at their length."""
    for kind in ("cut_short", "aborted"):
        rows = n.happened(kind)
        n.say(kind, rows["event"], rows["sequence"], rows["amount"])
    rows = n.happened("stopped")
    events, sequence, tokens = rows["event"], rows["sequence"], rows["amount"]
    returned = sum_at(events, released["event"], released["amount"])
    for_pool = (returned > 0) & n.is_paged & ("nodes" not in n.trace.tracks)
    n.say("ended_by_token", *(values[for_pool] for values in (events, sequence, tokens, returned)))
    n.say("ended_by_token_only", *(values[~for_pool] for values in (events, sequence, tokens)))


def arrivals(n: Narrator) -> None:
    rows = n.happened("arrived")
    n.say("arrived", rows["event"], rows["request"], rows["amount"])
