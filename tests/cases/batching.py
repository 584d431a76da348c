"""`batching`: the same output lengths on a fixed number of slots, batch by batch and iteration by iteration.

Prompts of one token make a request occupy its slot for exactly `output_len` steps. Shares come from the seat figures of
the program; a static batch offers a seat to its members until its longest one has ended.
"""

import math
from pathlib import Path
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from tests.cases.run_facts import RunFacts
from tests.cases.verdict import Findings

TOLERANCE = 6e-5
"""Shares are given with four digits."""


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run every policy; figures stand under its name, or beside each other when there is only one."""
    given, expected = case["input"], case["expected"]
    findings = Findings()
    policies = given.get("policies", ["static", "continuous"])
    for policy in policies:
        wanted = expected.get(policy, expected if len(policies) == 1 else {})
        _compare(findings, policy, _figures(policy, given["output_lens"], given["slots"]), wanted)
    if len(policies) > 1:
        for key in sorted(set(expected) - set(policies)):
            findings.skip(f"no check for expected.{key}")
    return findings


def _figures(policy: str, output_lens: list[int], slots: int) -> dict[str, Any]:
    settings = Settings(policy=policy, max_num_seqs=slots, step_time=1.0)
    requests = [
        Request(f"r{i}", 0.0, Prompt.of_length(1, i), SamplingParams(1, length)) for i, length in enumerate(output_lens)
    ]
    facts = RunFacts.of(settings, requests)
    seats = facts.metrics.seats
    idle = 1 - (seats.utilization or 0.0)
    return {
        "steps": len(facts.steps),
        "total_steps": len(facts.steps),
        "slot_steps": seats.offered,
        "useful": seats.working,
        "padding_share": idle,
        "idle_share": idle,
        "utilisation_over_formed_slots": 1 - (seats.idle_share or 0.0),
        "utilisation_over_all_slots": seats.utilization,
        "batches": _batches(facts),
    }


def _batches(facts: RunFacts) -> list[dict[str, Any]]:
    """The groups of steps between one admission and the next."""
    starts = [step.step for step in facts.steps if step.admitted]
    batches = []
    for start, end in zip(starts, [*starts[1:], len(facts.steps)], strict=True):
        steps = facts.steps[start:end]
        size, useful = len(steps[0].admitted), sum(len(step.emitted) for step in steps)
        share = useful / (size * len(steps))
        batches.append({"size": size, "steps": len(steps), "useful": useful, "utilisation_of_batch": share})
    return batches


def _compare(findings: Findings, where: str, ours: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        if key not in ours:
            findings.skip(f"no check for {key} of {where}")
        elif isinstance(value, list):
            findings.equal(f"{where}: number of {key}", len(ours[key]), len(value))
            for number, (mine, wanted) in enumerate(zip(ours[key], value, strict=False)):
                _compare(findings, f"{where}: {key} {number}", mine, wanted)
        elif not math.isclose(ours[key], value, rel_tol=0, abs_tol=TOLERANCE):
            findings.equal(f"{where}: {key}", ours[key], value)
