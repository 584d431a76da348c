"""The tracks of a trace: what the rows of each one mean.

A row says "from event e on, the fields of key k are these". Fields named in `ramps` grow by `rate` at every `scheduled`
cut after e; all others hold still. A key without a row has the defaults. Every value is a 32-bit integer.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrackSpec:
    """Name and fields of a track. A ragged track has two-part keys and numbers them in order of first appearance."""

    name: str
    fields: tuple[str, ...]
    defaults: tuple[int, ...]
    ramps: tuple[str, ...] = ()
    ragged: tuple[str, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a row after event and key: the fields, then `rate` where the track has ramps."""
        return (*self.fields, "rate") if self.ramps else self.fields


SPECS: dict[str, TrackSpec] = {
    spec.name: spec
    for spec in (
        TrackSpec("requests", ("status", "rank", "num_preemptions"), (0, 0, 0)),
        TrackSpec(
            "sequences",
            ("status", "seat", "num_tokens", "num_computed_tokens"),
            (0, -1, 0, 0),
            ramps=("num_tokens", "num_computed_tokens"),
        ),
        TrackSpec("tables", ("block",), (-1,), ragged=("sequence", "index")),
        TrackSpec("blocks", ("state", "ref_count", "owner", "fill"), (0, 0, -1, 0), ramps=("fill",)),
        TrackSpec("strips", ("start", "size", "used"), (-1, 0, 0), ramps=("used",)),
        TrackSpec("nodes", ("parent", "first", "num_tokens", "lock_ref", "last_access"), (-1, 0, 0, 0, 0)),
    )
}

BLOCK_STATES = (
    "free",
    "used",
    "cached",  # free, and its content is still known
)

HAPPENINGS = (
    "arrived",  # request
    "rejected",  # request; amount = needed
    "admitted",  # request; amount = tokens of its prompt (or known tokens when it resumes)
    "allocated",  # sequence got amount blocks, the last one is `block`; contiguous: amount slots
    "shared",  # block is now read by one more (`sequence`); amount = reference count after
    "copied",  # sequence got its own copy `target` of `block`; amount = slots copied
    "written_in_place",  # sequence writes on into `block`, which had been shared, because nobody else reads it any more
    "released",  # sequence gave up amount blocks (contiguous: slots) that became free
    "preempted",  # request; amount = tokens that have to be computed again
    "resumed",  # request admitted again; amount = tokens to compute
    "finished",  # request; amount = output tokens of all its samples
    "moved_out",  # block goes to host block `target`
    "moved_in",  # host block goes to block `target`
    "advanced",  # all scheduled tokens are computed; amount = their number
    "hit",  # sequence takes over known blocks, the last one is `block` (radix: down to node `target`); amount = tokens
    "cached",  # amount full blocks of sequence are known from now on, the last one is `block`
    "evicted",  # the content of free `block` is forgotten; radix: node `target` with amount tokens leaves the tree
    "inserted",  # radix: the new node `target` holds amount tokens
    "split",  # radix: the new node `target` took the first amount tokens of node `block`, which now hangs below it
    "locked",  # radix: sequence uses everything down to node `target`; amount = tokens that nobody had locked
    "unlocked",  # radix: it no longer does; amount = tokens that may be evicted again
    "stopped",  # sequence ended with a stop token; amount = its output tokens
    "cut_short",  # sequence ends because it needs more than all memory; amount = its output tokens
    "aborted",  # sequence was taken back by who had asked for it; amount = its output tokens
)
HAPPENING_COLUMNS = ("event", "kind", "request", "sequence", "block", "target", "amount")

ACTIONS = ("admit", "skip", "preempt", "reject", "oversize", "stop", "evict", "end")
REASONS = (
    "fits",  # admit
    "no_block",  # skip, preempt, end: blocks (or slots) are missing
    "no_seat",  # skip: max_num_seqs
    "no_token",  # skip: the budget of the step is used up
    "behind_head",  # skip: it would fit, but the queue is first come, first served
    "batch_running",  # skip: static batching waits for the end of the batch
    "batch_not_full",  # skip: static batching waits for more requests
    "alone",  # oversize: a recompute longer than the budget runs alone
    "empty_prompt",  # reject ...
    "zero_output",
    "never_fits",
    "exceeds_token_budget",
    "prompt_too_long",
    "no_room_for_token",
    "too_many_samples",
    "step_limit",  # stop
    "unused_longest",  # evict: the leaf that the eviction policy puts first ...
    "lfu",
    "fifo",
    "mru",
    "filo",
    "slru",
    "priority",
)
EVICTION_REASONS = {name: name for name in REASONS[-6:]} | {"lru": "unused_longest"}
"""Eviction policy -> the reason of its evictions."""
RESOURCES = ("none", "blocks", "slots", "seats", "tokens", "context", "steps")
DECISION_COLUMNS = ("event", "action", "reason", "request", "resource", "needed", "available", "other")
"""`other` is the request that caused it (the one a victim makes room for, the head that others wait behind) or -1; of an
eviction it is the node, `needed` and `available` are the tokens that are wanted and those that are free."""

STEP_COLUMNS = (
    "begin",  # events up to here had happened when the step's schedule range began
    "scheduled",  # number of its last schedule event: the `scheduled` cut
    "update_begin",
    "updated",  # number of its last update event: the `updated` cut
    "num_scheduled_tokens",
    "num_scheduled_sequences",
    "num_running",  # sequences with a seat, at the scheduled cut
    "num_waiting",  # requests in the queue, at the scheduled cut
    "num_used",  # blocks (contiguous: slots) taken, at the scheduled cut
    "num_emitted",  # output tokens that the step produced
)
