"""Statements about whole runs, as predicates over `RunFacts`: `MUST_HOLD` are to be true, `MUST_NOT` name wrong outcomes.

Every predicate looks at what the engine did: the steps, decisions and frames of its trace.
"""

import math

from engine.kv.paged import num_blocks_for
from engine.trace.track import BLOCK_STATES
from tests.cases.run_facts import RunFacts, StepFacts
from tests.cases.sentences import Sentences

MUST_HOLD = Sentences()
MUST_NOT = Sentences()


def _first(problems) -> str | None:
    return next(iter(problems), None)


@MUST_HOLD.says(r"(?:the )?sum of scheduled tokens <= (\d+) in every step")
def _tokens_at_most(facts: RunFacts, limit: str) -> str | None:
    return _first(
        f"step {s.step} schedules {sum(s.scheduled.values())}"
        for s in facts.steps
        if sum(s.scheduled.values()) > int(limit)
    )


@MUST_HOLD.says(r"no request waits for ?ever", r"every request (?:ends as|is) finished or rejected(?: with a reason)?")
def _everyone_ends(facts: RunFacts) -> str | None:
    for request in facts.requests.values():
        if request.status not in ("finished", "rejected"):
            return f"{request.request_id} ends as {request.status}"
        if request.status == "rejected" and not request.reason:
            return f"{request.request_id} is rejected without a reason"
    return None


@MUST_HOLD.says(
    r"no request is preempted and re-?admitted more than once without another one finishing in between",
)
def _no_thrashing(facts: RunFacts) -> str | None:
    since: dict[str, int] = {}
    preempted: set[str] = set()
    for step in facts.steps:
        for name in step.preempted:
            preempted.add(name)
        for name in step.admitted:
            if name in preempted:
                preempted.discard(name)
                since[name] = since.get(name, 0) + 1
                if since[name] > 1:
                    return f"{name} comes back twice by step {step.step} and nobody has finished in between"
        for done in step.finished:
            since = {name: count for name, count in since.items() if name == done}
    return None


@MUST_HOLD.says(r"a refused request names the number of blocks it needs and the number that exist")
def _refusal_names_blocks(facts: RunFacts) -> str | None:
    for request in facts.requests.values():
        if request.reason != "never_fits":
            continue
        need = num_blocks_for(request.prompt_len + request.output_len - 1, facts.settings.block_size)
        said = facts.decision("reject", request.request_id)
        if said is None or (said["needed"], said["available"]) != (need, facts.settings.pool_blocks):
            return f"the refusal of {request.request_id} says {said}, it needs {need} of {facts.settings.pool_blocks}"
    return None


@MUST_HOLD.says(r"a request never appears as preempted and scheduled in the same step")
def _not_both(facts: RunFacts) -> str | None:
    return _first(
        f"{name} is both in step {s.step}" for s in facts.steps for name in s.preempted if name in s.scheduled
    )


@MUST_HOLD.says(
    r"reference counts equal table entries at every step",
    r"sum of reference counts = sum of block-table lengths at every step",
)
def _counts_equal_entries(facts: RunFacts) -> str | None:
    for event in facts.cuts():
        frame = facts.trace.cut(event=event)
        entries: dict[int, int] = {}
        for sequence in range(facts.num_sequences):
            for block in frame.table(sequence):
                entries[block] = entries.get(block, 0) + 1
        counts = frame.tracks["blocks"]["ref_count"]
        for block, count in enumerate(counts.tolist()):
            if count != entries.get(block, 0):
                return f"after event {event} block {block} is counted {count} and named {entries.get(block, 0)} times"
    return None


@MUST_HOLD.says(r"used \+ free = (\d+) at every step")
def _used_and_free(facts: RunFacts, total: str) -> str | None:
    """The manager's own count of used blocks and the free ones of the frame are the whole pool."""
    for step, used in enumerate(facts.trace.steps["num_used"].tolist()):
        states = facts.trace.cut(step=step, at="scheduled").tracks["blocks"]["state"]
        free = int((states != BLOCK_STATES.index("used")).sum())
        if used + free != int(total):
            return f"step {step} has {used} used and {free} free"
    return None


@MUST_HOLD.says(r"no block id occurs twice in the free list")
def _free_once(facts: RunFacts) -> str | None:
    return _first(facts.free_twice)


@MUST_HOLD.says(r"every cached key points to a block that still holds that content")
def _known_is_there(facts: RunFacts) -> str | None:
    return _first(facts.stale)


@MUST_HOLD.says(r"tokens emitted in a step <= (?:the )?number of running requests in that step")
def _one_token_each(facts: RunFacts) -> str | None:
    return _first(
        f"step {s.step} emits {len(s.emitted)} tokens for {s.num_running} running samples"
        for s in facts.steps
        if len(s.emitted) > s.num_running
    )


@MUST_HOLD.says(r"tokens scheduled in a step <= max_num_batched_tokens")
def _within_budget(facts: RunFacts) -> str | None:
    budget = facts.settings.max_num_batched_tokens or math.inf
    return _first(
        f"step {s.step} schedules {sum(s.scheduled.values())} of {budget}"
        for s in facts.steps
        if sum(s.scheduled.values()) > budget and not facts.oversized(s)
    )


@MUST_HOLD.says(
    r"scheduled tokens of a request over its life = prompt \+ output - 1 - hit tokens \+ recomputed tokens",
)
def _life_adds_up(facts: RunFacts) -> str | None:
    for request in facts.finished():
        scheduled = sum(s.scheduled.get(request.request_id, 0) for s in facts.steps)
        stored = request.prompt_len + request.n * (request.output_len - 1)
        if scheduled != stored - request.hit_tokens + request.recomputed_tokens:
            return (
                f"{request.request_id} has {scheduled} tokens scheduled, stores {stored}, "
                f"hits {request.hit_tokens} and recomputes {request.recomputed_tokens}"
            )
    return None


@MUST_HOLD.says(r"a request emits its k-?th token only after prompt \+ k - 1 tokens are stored")
def _causal(facts: RunFacts) -> str | None:
    emitted = dict.fromkeys(facts.requests, 0)
    for step in facts.steps:
        for name in dict.fromkeys(step.emitted):
            request = facts.requests[name]
            emitted[name] += step.emitted.count(name) // request.n
            stored = min(step.stored.get(name, [0]))
            if stored < request.prompt_len + emitted[name] - 1:
                return f"{name} emits token {emitted[name]} in step {step.step} with {stored} tokens stored"
    return None


@MUST_HOLD.says(r"throughput over the run = sum of emitted tokens / \(end - start\)")
def _throughput(facts: RunFacts) -> str | None:
    if not facts.steps:
        return None
    tokens = sum(len(s.emitted) for s in facts.steps)
    start = min(request.arrival for request in facts.requests.values() if request.status == "finished")
    ours, expected = facts.throughput(), tokens / (facts.end_time - start)
    return None if math.isclose(ours, expected, rel_tol=1e-9) else f"{ours} is reported, {expected} was emitted"


@MUST_HOLD.says(r"the run ends")
def _run_ends(facts: RunFacts) -> str | None:
    return "it was stopped by the limit on steps" if facts.decision("stop") else None


@MUST_HOLD.says(
    r"if (\S+) is preempted after (\d+) or more output tokens it has (\d+) or more known tokens, which exceeds the "
    r"budget of (\d+): the design must say what happens \(.*\)",
)
def _oversized_is_said(facts: RunFacts, name: str, outputs: str, known: str, budget: str) -> str | None:
    request = facts.requests[name]
    if request.prompt_len + int(outputs) != int(known) or int(known) <= int(budget):
        return f"{known} tokens are not {request.prompt_len} + {outputs}, or do not exceed {budget}"
    return _first(
        f"step {s.step} schedules {sum(s.scheduled.values())} tokens and no record says why"
        for s in facts.steps
        if sum(s.scheduled.values()) > int(budget) and not facts.oversized(s)
    ) or _everyone_ends(facts)


@MUST_NOT.says(r"(\S+) waits in the queue until a step limit is reached")
def _waits_until_limit(facts: RunFacts, name: str) -> str | None:
    status = facts.requests[name].status
    return None if status in ("finished", "rejected") and not facts.decision("stop") else f"{name} ends as {status}"


@MUST_NOT.says(r"emit a token for (\S+)")
def _emits(facts: RunFacts, name: str) -> str | None:
    return _first(f"step {s.step} does" for s in facts.steps if name in s.emitted)


@MUST_NOT.says(r"count (\S+) in time-per-output-token averages \(division by 0\)")
def _counted(facts: RunFacts, name: str) -> str | None:
    return "it is counted" if facts.in_latency_averages(name) else None


@MUST_NOT.says(r"stop the run")
def _stops(facts: RunFacts) -> str | None:
    others = [r for r in facts.requests.values() if r.output_len > 0 and r.status not in ("finished", "rejected")]
    return f"{others[0].request_id} ends as {others[0].status}" if others else None


def broken_rules(steps: list[StepFacts]) -> list[tuple[int, int]]:
    """(step, rule) of a bare log whose step emits more tokens than it has running samples (rule 1)."""
    return [(s.step, 1) for s in steps if len(s.emitted) > s.num_running]
