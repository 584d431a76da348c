"""H: the order in which requests run and content is evicted decides what a prefix cache finds. Rows of `h.py`."""

import random

import numpy as np

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.metrics import hit_rate, measure
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS
from engine.workload import ListWorkload
from scenarios.acceptance.hits import hits_of
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, within
from scenarios.catalogue import load

NUM_TREES = 60
TokenIds = tuple[int, ...]


def thirty_tasks(lab: Lab) -> Outcome:
    name = "thirty-tasks"
    runs = ("fcfs", "longest-prefix-first", "depth-first", "fcfs-4000")
    fcfs, longest, depth, large = (hit_rate(lab.trace(name, run)) or 0.0 for run in runs)
    requests = load()[name].all_requests()
    different = {run: run[2] for request in requests for run in request.prompt.runs}
    best = 1 - sum(different.values()) / sum(request.prompt.num_tokens for request in requests)
    return Outcome(
        f"optimum {best:.2%}; with 500 tokens longest prefix first {longest:.2%}, depth first {depth:.2%}, "
        f"FCFS {fcfs:.1%}; FCFS with 4,000 {large:.1%}",
        round(best, 4) == 0.8296
        and longest == depth == best
        and within(0.07, fcfs, 0.11)
        and within(0.23, large, 0.34),
    )


def request_tree(rng: random.Random) -> list[TokenIds]:
    """Prompts that branch off earlier ones or start anew, each with an end of its own, in random order."""
    prompts: list[TokenIds] = []
    num_tokens = 0
    for _ in range(rng.randint(6, 16)):
        base = rng.choice([(), *prompts])
        kept = base[: rng.randint(0, max(len(base) - 1, 0))]
        length = rng.randint(1, 6)
        prompts.append(kept + tuple(range(num_tokens, num_tokens + length)))
        num_tokens += length
    rng.shuffle(prompts)
    return prompts


def one_by_one(prompts: list[TokenIds], capacity: int, order: str) -> Trace:
    """The prompts, all there from the start, one at a time under a radix tree of that many tokens."""
    requests = [
        Request(f"R{i}", 0.0, Prompt.of_ids(prompt), SamplingParams(max_tokens=1)) for i, prompt in enumerate(prompts)
    ]
    settings = Settings(
        kv_manager="radix", block_size=1, num_blocks=capacity, max_num_seqs=1, queue_order=order, step_time=1.0
    )
    return simulate(settings, ListWorkload(requests))


def theorem(lab: Lab) -> Outcome:
    rng = random.Random(0)
    num_trees, computed = 0, {"optimum": 0, "depth first": 0, "longest prefix first": 0, "FCFS": 0}
    passed, num_evictions = True, 0
    while num_trees < NUM_TREES:
        prompts = request_tree(rng)
        optimum = len({prompt[: end + 1] for prompt in prompts for end in range(len(prompt))})
        longest = max(map(len, prompts))
        if longest > optimum // 2:
            continue
        num_trees += 1
        capacity = rng.randint(longest, optimum // 2)
        runs = {
            "depth first": one_by_one(sorted(prompts), capacity, "fcfs"),
            "longest prefix first": one_by_one(prompts, capacity, "longest_prefix_first"),
            "FCFS": one_by_one(prompts, capacity, "fcfs"),
        }
        computed["optimum"] += optimum
        for order, trace in runs.items():
            num_tokens = int(trace.steps["num_scheduled_tokens"].sum())
            evictions = int((trace.happenings["kind"] == HAPPENINGS.index("evicted")).sum())
            computed[order] += num_tokens
            num_evictions += evictions
            passed &= evictions > 0 and (order == "FCFS" or num_tokens == optimum)
    return Outcome(
        f"{NUM_TREES} random trees, caches from the longest request to half the tree, {num_evictions} evictions; tokens "
        f"computed: {', '.join(f'{order} {count:,}' for order, count in computed.items())}",
        passed and computed["FCFS"] > computed["optimum"],
    )


def starved(lab: Lab) -> Outcome:
    scenario, name = load()["starved-request"], "longest-prefix-first"
    cold = [request.request_id for request in scenario.all_requests()].index("cold")
    waits = []
    for num_hot in (15, 30, 60):
        requests = scenario.all_requests()[: num_hot + 1]
        trace = simulate(scenario.settings_of(name), ListWorkload(requests))
        waits.append(float(measure(trace).requests.queue_time[cold]))
    fcfs, aging = (
        float(lab.metrics("starved-request", run).requests.queue_time[cold]) for run in ("fcfs", "with-aging")
    )
    return Outcome(
        f"waits {', '.join(f'{wait:g}' for wait in waits)} s while 15, 30, 60 others come; "
        f"{fcfs:g} s by FCFS, {aging:g} s with aging",
        np.diff(waits).tolist() == [4 * 15, 4 * 30] and fcfs < aging < waits[0],
    )


def leaves_first(lab: Lab) -> Outcome:
    name = "leaves-first"
    runs = ("radix", "tail-first", "head-first")
    found = [int(hits_of(lab.trace(name, run))[-1]) for run in runs]
    stranded = [len(stranded_blocks(lab.trace(name, run))) for run in runs[1:]]
    evictions = [
        int((trace.happenings["kind"][trace.happenings["event"] <= trace.steps["updated"][5]] == evicted).sum())
        for trace in (lab.trace(name, run) for run in runs)
        for evicted in (HAPPENINGS.index("evicted"),)
    ]
    return Outcome(
        f"{evictions[0]} pages evicted each time; found {found[0]} tokens with leaves first, {found[1]} with tails "
        f"first, {found[2]} with heads first, where {stranded[1]} known blocks can be found by nobody",
        found == [8, 8, 0] and stranded == [0, 3] and evictions == [3, 3, 3],
    )


def stranded_blocks(trace: Trace) -> set[int]:
    """Blocks of the first two requests whose content is still known when the third has ended, but not that before it."""
    states = trace.cut(step=5).tracks["blocks"]["state"]
    taken = set(trace.cut(step=5, at="scheduled").table(2))
    stranded = set()
    for sequence, step in ((0, 1), (1, 3)):
        is_known = True
        for block in trace.cut(step=step, at="scheduled").table(sequence):
            still_holds = states[block] == BLOCK_STATES.index("cached") and block not in taken
            is_known &= still_holds
            if still_holds and not is_known:
                stranded.add(block)
    return stranded
