"""H: what is found in a prefix cache, by whom, and what it is worth. Rows of `h.py` on loads that share in several ways."""

from statistics import median
from time import process_time

import numpy as np

from engine.kv.radix_tree import RadixTree
from engine.kv.token_ids import TokenIds
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, within
from scenarios.catalogue import load

ITERATION = 22e-3
"""Seconds of a decode iteration under load (A15)."""


def hits_of(trace: Trace) -> np.ndarray:
    """By request: tokens found at its first admission."""
    happened = trace.happenings
    admitted = happened["event"][happened["kind"] == HAPPENINGS.index("admitted")]
    rows = (happened["kind"] == HAPPENINGS.index("hit")) & np.isin(happened["event"], admitted)
    hits = np.zeros(len(trace.requests), np.int64)
    np.add.at(hits, happened["request"][rows], happened["amount"][rows])
    return hits


def shares_of(trace: Trace) -> dict[str, float]:
    """By tenant: the share of all prompt tokens that is found."""
    lengths = np.array([request["prompt_len"] for request in trace.requests])
    hits = hits_of(trace)
    return {name: float(hits[rows].sum() / lengths[rows].sum()) for name, rows in tenants_of(trace).items()}


def tenants_of(trace: Trace) -> dict[str, np.ndarray]:
    """By tenant: which requests are his, in order of first appearance."""
    names = np.array([request["tenant"] for request in trace.requests])
    return {name: names == name for name in dict.fromkeys(names.tolist())}


def speed_ups(lab: Lab, scenario: str) -> dict[str, float]:
    """By tenant: median time to the first token without a cache / with it."""
    without, cached = (lab.metrics(scenario, run).requests.ttft for run in ("without", "cached"))
    tenants = tenants_of(lab.trace(scenario, "cached"))
    return {name: float(np.median(without[rows]) / np.median(cached[rows])) for name, rows in tenants.items()}


def _listed(values: dict[str, float], form: str) -> str:
    return ", ".join(f"{name} {format(value, form)}" for name, value in values.items())


def four_loads(lab: Lab) -> Outcome:
    pages, blocks = (shares_of(lab.trace("four-loads", run)) for run in ("radix", "blocks-of-16"))
    rates = list(pages.values())
    return Outcome(
        f"{_listed(pages, '.1%')} with pages of one token; {_listed(blocks, '.1%')} with blocks of 16",
        rates == sorted(rates)
        and [round(rate, 4) for rate in rates[:3]] == [0, 0.45, 0.81]
        and rates[3] > 0.9
        and all(blocks[name] <= pages[name] < blocks[name] + 0.01 for name in pages),
    )


def overhead(lab: Lab) -> Outcome:
    numbers = TokenIds()
    prompts = [numbers.of_prompt(request.prompt) for request in load()["thirty-tasks"].all_requests()]
    times = []
    for _ in range(3):
        tree = RadixTree()
        start = process_time()
        for prompt in prompts:
            tree.match_prefix(prompt)
            tree.insert(prompt)
        times.append((process_time() - start) / len(prompts))
    best = min(times)
    return Outcome(
        f"{best * 1e6:.0f} us to look up and insert a prompt of {len(prompts[0])} tokens, "
        f"{best / ITERATION:.2%} of an iteration",
        best < ITERATION / 100,
    )


def decode_not_faster(lab: Lab) -> Outcome:
    first, later = [], []
    for run in ("without", "cached"):
        requests = lab.metrics("decode-not-faster", run).requests
        first.append(median(requests.ttft[1:].tolist()))
        later.append((requests.latency - requests.ttft) / (requests.output_len - 1))
    return Outcome(
        f"TTFT {first[0] * 1e3:.1f} ms, {first[1] * 1e3:.1f} ms with a hit; "
        f"TPOT {later[0].mean() * 1e3:.2f} ms and {later[1].mean() * 1e3:.2f} ms",
        first[1] < first[0] / 10 and np.allclose(later[0], later[1], rtol=1e-9),
    )


def agent_loop(lab: Lab) -> Outcome:
    rounds = []
    for run in ("radix", "blocks-of-16"):
        trace = lab.trace("agent-loop", run)
        lengths = np.array([request["prompt_len"] for request in trace.requests])
        rounds.append(hits_of(trace) / lengths)
    pages, blocks = rounds
    return Outcome(
        f"round 2 {pages[1]:.1%}, round 10 {pages[9]:.1%}, round {len(pages)} {pages[-1]:.1%}; "
        f"{blocks[-1]:.1%} with blocks of 16",
        pages[0] == 0 and bool((np.diff(pages) > 0).all()) and pages[-1] > 0.98 and blocks[-1] > 0.975,
    )


def who_benefits(lab: Lab) -> Outcome:
    gains, shares = speed_ups(lab, "who-benefits"), shares_of(lab.trace("who-benefits", "cached"))
    others = [name for name in gains if name != "unrelated"]
    return Outcome(
        f"first token earlier by {_listed(gains, '.1f')} x",
        gains["unrelated"] == 1
        and shares["unrelated"] == 0
        and len(others) == 5
        and all(gains[name] > 2 and shares[name] > 0.7 for name in others),
    )


def larger_batch(lab: Lab) -> Outcome:
    peaks = [int(lab.trace("larger-batch", run).steps["num_running"].max()) for run in ("without", "blocks", "radix")]
    used = lab.trace("larger-batch", "blocks").steps["num_used"]
    return Outcome(
        f"{peaks[0]} requests at once without a cache, {peaks[1]} with hash blocks, {peaks[2]} with a tree; "
        f"{used[-1]} of 200 blocks at the end = 32 + 24 x 4",
        peaks == [5, 24, 24] and used[-1] == 32 + 24 * 4,
    )


def benchmark_traps(lab: Lab) -> Outcome:
    gains = speed_ups(lab, "benchmark-traps")
    return Outcome(
        f"first token earlier by {_listed(gains, '.1f')} x",
        gains["random"] == 1 and within(8, gains["equal"], 12) and within(1.5, gains["traffic"], 2),
    )
