"""`invariants`: statements about every simulation, or about the run that the case describes.

Statements about every simulation are asked of runs with every policy, with memory that suffices and memory that does
not, with one sample and with several. An example log is judged by the same predicates, and their verdict is compared
with the one that the case gives.
"""

import random
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from tests.cases.run_facts import RunFacts, facts_of_log
from tests.cases.run_sentences import MUST_HOLD, MUST_NOT, broken_rules
from tests.cases.schedule import check_run
from tests.cases.sentences import as_list
from tests.cases.verdict import Findings

ORDINALS = ("first", "second", "third", "fourth", "fifth")


def check(case: dict[str, Any], path: Path) -> Findings:
    """Judge the example, then every run."""
    given, expected = case["input"], case["expected"]
    if "requests" in given:
        return check_run(case, path)
    findings = Findings()
    if "example" in given:
        _check_example(findings, given["example"])
    if given.get("applies_to") != "every simulation":
        findings.skip(f"no runs for {given.get('applies_to')!r}")
        return findings
    for settings, requests in cases():
        facts = RunFacts.of(settings, requests)
        MUST_HOLD.check(findings, as_list(expected.get("must_hold", [])), facts)
        MUST_NOT.check(findings, as_list(expected.get("must_not", [])), facts)
    for key in sorted(set(expected) - {"must_hold", "must_not"}):
        findings.skip(f"no check for expected.{key}")
    return findings


def cases() -> Iterator[tuple[Settings, list[Request]]]:
    """Twelve small runs of 20 seeded requests each: policies x memory x samples."""
    for policy, num_blocks, n in product(("static", "continuous", "chunked"), (24, 400), (1, 3)):
        rng = random.Random(f"{policy} {num_blocks} {n}")
        requests = [
            Request(
                f"r{i}",
                float(rng.randrange(30)),
                Prompt.of_length(rng.randint(1, 24), i),
                SamplingParams(rng.randint(1, n), rng.randint(1, 20)),
            )
            for i in range(20)
        ]
        budget = 16 if policy == "chunked" else 64
        yield (
            Settings(
                policy=policy,
                block_size=4,
                num_blocks=num_blocks,
                max_num_seqs=8,
                max_num_batched_tokens=budget,
                step_time=1.0,
                max_steps=5_000,
            ),
            requests,
        )


def _check_example(findings: Findings, example: dict[str, Any]) -> None:
    """The log of the case breaks the rules that its verdict names, and no others."""
    broken = broken_rules(facts_of_log(example["log"]))
    verdict = str(example.get("verdict", ""))
    found = re.fullmatch(r"(\w+) step breaks the (\w+) rule", verdict)
    if found and found[1] in ORDINALS and found[2] in ORDINALS:
        findings.equal("example", broken, [(ORDINALS.index(found[1]), ORDINALS.index(found[2]) + 1)])
    elif verdict in ("no rule is broken", "ok"):
        findings.equal("example", broken, [])
    else:
        findings.skip(f'no check for "{verdict}"')
