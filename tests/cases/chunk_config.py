"""`config`: two limits on the size of a prompt chunk. The smaller one has to hold in every step."""

from pathlib import Path
from typing import Any

from engine.settings import Settings, SettingsError
from tests.cases.run_facts import RunFacts
from tests.cases.schedule import request_of
from tests.cases.verdict import Findings

OR_REFUSED = "configuration refused at start with both numbers in the message"


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run one prompt with these settings and look at the tokens of each step of its prefill."""
    given, expected = case["input"], case["expected"]
    findings = Findings()
    limits = {name: given[name] for name in ("max_num_batched_tokens", "chunk_size") if name in given}
    try:
        settings = Settings.of({"policy": "chunked", "step_time": 1.0, **limits})
    except SettingsError as error:
        if expected.get("or") != OR_REFUSED or not all(str(value) in str(error) for value in limits.values()):
            findings.add("settings", str(error))
        return findings
    facts = RunFacts.of(settings, [request_of({"id": "prompt", "prompt_len": given["prompt_len"], "output_len": 1}, 0)])
    chunks = [step.scheduled["prompt"] for step in facts.steps]
    findings.equal("chunks", chunks, expected["chunks"])
    findings.equal("effective_chunk", max(chunks), expected["effective_chunk"])
    for key in sorted(set(expected) - {"chunks", "effective_chunk", "or"}):
        findings.skip(f"no check for expected.{key}")
    return findings
