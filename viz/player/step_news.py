"""What is said about a whole step: what was computed, which prompt did not fit into it, whether memory stood still.

The sentence stands at the last event of a step. What came before it in the step has its own sentences, and this one
does not deny them.
"""

import numpy as np

from engine.trace.track import HAPPENINGS
from viz.player.narrator import Narrator
from viz.player.occupants import tokens_before
from viz.player.vocabulary import VOCABULARY

_PREFILL = VOCABULARY["statuses"].index("PREFILL")
_CHANGES = ("allocated", "shared", "copied", "released", "preempted", "moved_out", "moved_in", "hit", "evicted")


def chunks(n: Narrator) -> None:
    """Only a part of a prompt, or of what a request has to compute again: how much, what is left, and why."""
    columns = n.trace.tracks["sequences"].columns
    chosen = np.isin(columns["event"], n.trace.steps["scheduled"]) & (columns["status"] == _PREFILL)
    event, sequence, known, computed = (
        columns[name][chosen] for name in ("event", "key", "num_tokens", "num_computed_tokens")
    )
    part, left = computed - tokens_before(n.trace, sequence, event), known - computed
    step = np.searchsorted(n.trace.steps["scheduled"], event)
    total = n.trace.steps["num_scheduled_tokens"][step]
    prompt = np.array([request["prompt_len"] for request in n.trace.requests], np.int64)[n.owner[sequence]]
    budget = n.settings.get("max_num_batched_tokens") or -1
    limits = (n.settings.get(name) for name in ("chunk_size", "long_prefill_token_threshold"))
    most = min((limit for limit in limits if limit), default=-1)
    is_part, again = (part > 0) & (left > 0), known > prompt
    for reason, applies, limit in (("budget", total == budget, budget), ("chunk", part == most, most)):
        for what, which in (("part", ~again), ("part_again", again)):
            here = is_part & applies & which
            n.say(f"{what}_of_{reason}", event[here], sequence[here], part[here], left[here], limit)


def steps(n: Narrator) -> None:
    """Who computed how much. Only a step without a change of memory says that there was none."""
    events, tokens, sequences, running = (
        n.trace.steps[name] for name in ("scheduled", "num_scheduled_tokens", "num_scheduled_sequences", "num_running")
    )
    idle = sequences == 0
    decode = ~idle & (tokens == sequences) & ~np.isin(events, n.trace.tracks["sequences"].columns["event"])
    all_, some, prefill = decode & (running <= sequences), decode & (running > sequences), ~idle & ~decode
    changes = _has_changes(n, events)
    wheres = (("", ~changes), ("_then", changes)) if n.is_paged else (("_in_strips", np.ones_like(changes)),)
    for where, here in wheres:
        for name, chosen, operands in (
            ("idle", idle, ()),
            ("decode", all_, ()),
            ("decode_some", some, (sequences, running - sequences)),
            ("prefill", prefill, (tokens, sequences)),
        ):
            n.say(f"{name}{where}", events[chosen & here], *(values[chosen & here] for values in operands))


def _has_changes(n: Narrator, events: np.ndarray) -> np.ndarray:
    """Whether memory changes hands in the steps that end at these events, or just before them."""
    kinds = [HAPPENINGS.index(kind) for kind in _CHANGES]
    changed = np.unique(n.trace.happenings["event"][np.isin(n.trace.happenings["kind"], kinds)])
    before, now = (np.searchsorted(changed, at, side="right") for at in (n.step_begins(events), events))
    return now > before
