"""`admission`: which requests a context length lets in, and with how many output tokens.

Each request runs alone on an engine with unlimited memory. The answer is the sentence of the case: `ok, N tokens`,
`ok, cut to N tokens`, or `rejected: ...` with the reason.
"""

import re
from pathlib import Path
from typing import Any

from engine.settings import Settings
from tests.cases.run_facts import RequestFacts, RunFacts
from tests.cases.schedule import MAX_STEPS, request_of
from tests.cases.verdict import Findings

WORDS = {
    "empty_prompt": "empty prompt",
    "zero_output": "zero output",
    "prompt_too_long": "prompt too long",
    "no_room_for_token": "no room for a token",
    "never_fits": "never fits",
    "exceeds_token_budget": "exceeds the token budget",
}


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run every request; compare number of tokens, whether it was cut, and the reason of a refusal."""
    given, expected = case["input"], case["expected"]
    settings = Settings(max_model_len=given["max_model_len"], step_time=1.0, max_steps=MAX_STEPS)
    findings = Findings()
    results = expected.get("result", [])
    if len(results) != len(given["requests"]):
        findings.add("result", f"there are {len(given['requests'])} requests and {len(results)} results")
    for number, (entry, wanted) in enumerate(zip(given["requests"], results, strict=False)):
        (request,) = RunFacts.of(settings, [request_of(entry, number)]).requests.values()
        _compare(findings, f"request {number}", request, wanted)
    for key in sorted(set(expected) - {"result"}):
        findings.skip(f"no check for expected.{key}")
    return findings


def _compare(findings: Findings, where: str, request: RequestFacts, wanted: str) -> None:
    found = re.fullmatch(r"ok, (cut to )?(\d+) tokens?(?: \(reason: length\))?", wanted)
    refused = re.fullmatch(r"rejected: (.+)", wanted)
    if found:
        findings.equal(f"{where}: status", request.status, "finished")
        findings.equal(f"{where}: output tokens", request.output_tokens, int(found[2]))
        findings.equal(f"{where}: cut", request.output_tokens < request.output_len, found[1] is not None)
    elif refused:
        findings.equal(f"{where}: status", request.status, "rejected")
        reason = request.reason or ""
        if refused[1] not in (reason, WORDS.get(reason)):
            findings.add(where, f"it is {request.status} as {reason!r}, expected {wanted!r}")
    else:
        findings.skip(f'no check for "{wanted}"')
