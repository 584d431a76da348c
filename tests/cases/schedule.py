"""Whole runs: `schedule`, and the kinds that state only parts or invariants of a run.

A case becomes settings and requests, the engine runs them with a clock of one unit a step, and what `expected` says is
compared: the steps field by field, the summary on its keys, sentences by their predicates.
"""

import math
import re
from pathlib import Path
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from tests.cases.run_facts import RequestFacts, RunFacts, StepFacts
from tests.cases.run_sentences import MUST_HOLD, MUST_NOT
from tests.cases.sentences import as_list
from tests.cases.verdict import Findings, Unsupported

LISTS = ("emitted", "admitted", "finished", "preempted", "rejected")
NUMBERS = ("step", "time", "free_blocks")
MAX_STEPS = 200_000
_SCHEDULER_KEYS = {"policy", "chunked", "max_num_seqs", "max_num_batched_tokens", "admit_full_prompt", "max_model_len"}
_REQUEST_KEYS = {"id", "arrival", "prompt", "prompt_len", "output_len", "n", "priority"}


def check_run(case: dict[str, Any], path: Path) -> Findings:
    """The runner of every kind that gives `requests`."""
    given, expected = case["input"], case["expected"]
    settings = settings_of(given)
    requests = [request_of(entry, number) for number, entry in enumerate(given["requests"] + given.get("then", []))]
    facts = RunFacts.of(settings, requests)
    findings = Findings()
    for key, value in expected.items():
        _check_entry(findings, facts, key, value)
    return findings


def settings_of(given: dict[str, Any]) -> Settings:
    """Settings of a run; the default engine is the one the cases describe."""
    pool, scheduler = given.get("pool"), given.get("scheduler", {})
    unknown = sorted(set(scheduler) - _SCHEDULER_KEYS)
    if unknown:
        raise Unsupported(f"the scheduler setting {unknown[0]!r} has no meaning here")
    policy = scheduler.get("policy", "continuous")
    if scheduler.get("chunked") and policy == "static":
        raise Unsupported("static batching with chunked prefill is not a policy of this engine")
    values = {
        "policy": "chunked" if scheduler.get("chunked") and policy == "continuous" else policy,
        "admit_full_prompt": scheduler.get("admit_full_prompt", True),
        "step_time": 1.0,
        "max_steps": MAX_STEPS,
    }
    for name in ("max_num_seqs", "max_num_batched_tokens", "max_model_len"):
        values[name] = scheduler.get(name)
    if pool:
        values |= {
            "num_blocks": pool.get("num_blocks"),
            "block_size": pool.get("block_size", 16),
            "prefix_caching": pool.get("prefix_caching", False),
        }
    return Settings.of(values)


def request_of(entry: dict[str, Any], number: int) -> Request:
    """A request of a case; a bare length stands for tokens that are equal to no others."""
    unknown = sorted(set(entry) - _REQUEST_KEYS)
    if unknown:
        raise Unsupported(f"the request field {unknown[0]!r} has no meaning here")
    prompt = entry.get("prompt", entry.get("prompt_len", 0))
    return Request(
        request_id=str(entry.get("id", f"r{number}")),
        arrival_time=float(entry.get("arrival", 0)),
        prompt=Prompt.of_length(prompt, number) if isinstance(prompt, int) else Prompt.of_ids(prompt),
        sampling=SamplingParams(entry.get("n", 1), entry["output_len"]),
        priority=entry.get("priority", 0),
    )


def _check_entry(findings: Findings, facts: RunFacts, key: str, value: Any) -> None:
    """One entry of `expected`."""
    in_use = re.fullmatch(r"(allowed_)?blocks_in_use_after_step_(\d+)", key)
    if key == "steps":
        compare_steps(findings, facts.steps, value)
    elif key == "summary":
        _compare_summary(findings, facts, value)
    elif key == "must_hold":
        MUST_HOLD.check(findings, as_list(value), facts)
    elif key == "must_not":
        MUST_NOT.check(findings, as_list(value), facts)
    elif key == "at_end_free_blocks":
        ours = facts.steps[-1].free_blocks if facts.steps else facts.settings.pool_blocks
        findings.equal(key, ours, value)
    elif in_use:
        step, total = int(in_use[2]), facts.settings.pool_blocks
        if step >= len(facts.steps) or total is None or facts.steps[step].free_blocks is None:
            findings.add(key, "the run has no such step or no limited pool")
        else:
            used = total - (facts.steps[step].free_blocks or 0)
            findings.add(key, None if used in as_list(value) else f"{used} blocks are in use, expected {value}")
    elif key.startswith("hit_tokens_") and key[11:] in facts.requests:
        findings.equal(key, facts.requests[key[11:]].hit_tokens, value)
    elif key.startswith("allowed_for_") and key[12:] in facts.requests:
        request = facts.requests[key[12:]]
        if all(_summary_problem(request, option) for option in value):
            findings.add(key, f"{_shown(request, value)} is none of {value}")
    elif key in facts.requests and isinstance(value, dict):
        findings.add(key, _summary_problem(facts.requests[key], value))
    else:
        findings.skip(f"no check for expected.{key}")


def compare_steps(findings: Findings, ours: list[StepFacts], expected: list[dict[str, Any]]) -> None:
    """Absent lists mean empty, absent numbers are not compared."""
    if len(ours) != len(expected):
        findings.add("", f"the run has {len(ours)} steps, expected {len(expected)}")
    for step, wanted in zip(ours, expected, strict=False):
        known, where = step.as_expected(), f"step {wanted.get('step', step.step)}"
        for name in LISTS:
            findings.equal(f"{where}: {name}", known[name], wanted.get(name, []))
        findings.equal(f"{where}: scheduled", known["scheduled"], wanted.get("scheduled", {}))
        for name in NUMBERS:
            if name in wanted and not _same(known[name], wanted[name]):
                findings.equal(f"{where}: {name}", known[name], wanted[name])
        for name in sorted(set(wanted) - set(known)):
            findings.skip(f"no check for {name} of a step")


def _compare_summary(findings: Findings, facts: RunFacts, expected: dict[str, Any]) -> None:
    ours = {"steps": len(facts.steps), "end_time": facts.end_time}
    for key, value in expected.items():
        if key == "requests":
            for name, wanted in value.items():
                known = facts.requests.get(name)
                problem = "it is not in the run" if known is None else _summary_problem(known, wanted)
                if problem and problem.startswith("no check"):
                    findings.skip(problem)
                else:
                    findings.add(f"summary of {name}", problem)
        elif key not in ours:
            findings.skip(f"no check for summary.{key}")
        elif not _same(ours[key], value):
            findings.equal(f"summary: {key}", ours[key], value)


def _summary_problem(request: RequestFacts, wanted: dict[str, Any]) -> str | None:
    """What differs; only the keys that are given are compared. Output tokens of samples count once or n times."""
    unknown = [key for key in wanted if not hasattr(request, key)]
    for key, value in wanted.items():
        if key in unknown:
            continue
        ours = getattr(request, key)
        choices = (ours, ours // request.n) if key == "output_tokens" else (ours,)
        if not any(_same(choice, value) for choice in choices):
            return f"{key} is {ours}, expected {value}"
    return f"no check for {unknown[0]} of a request" if unknown else None


def _shown(request: RequestFacts, options: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: getattr(request, key, None) for key in dict.fromkeys(key for option in options for key in option)}


def _same(ours: Any, expected: Any) -> bool:
    both = (ours, expected)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in both):
        return math.isclose(ours, expected, rel_tol=1e-9, abs_tol=1e-9)
    return bool(ours == expected)
