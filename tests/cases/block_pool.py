"""`block_pool`: operations on the allocator, each with its numbers, and the state after the last one.

The operations run through the same interpreter that tells scenarios by operations. Block labels stand for physical
blocks; only the pattern of equal labels counts.
"""

from pathlib import Path
from typing import Any

from engine.settings import Settings
from scenarios.ops import BlockPoolOps
from tests.cases.sentences import Sentences, as_list
from tests.cases.verdict import Findings

MUST_HOLD = Sentences()


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run the operations, compare what each returned, then tables, counts and totals."""
    given, expected = case["input"], case["expected"]
    pool = given["pool"]
    settings = Settings(
        num_blocks=pool.get("num_blocks"),
        block_size=pool.get("block_size", 16),
        prefix_caching=pool.get("prefix_caching", False),
    )
    run = BlockPoolOps(settings, given["ops"]).run()
    run.check()
    findings = Findings()
    for key, value in expected.items():
        if key == "per_op":
            _compare_results(findings, run.results, value)
        elif key == "block_tables":
            _compare_labels(findings, run, value, expected.get("ref_counts", {}))
        elif key == "ref_counts":
            if "block_tables" not in expected:
                counts = sorted(run.kv.pool.used.values())
                findings.equal("ref_counts", counts, sorted(value.values()))
        elif key == "free_blocks":
            findings.equal(key, run.kv.num_free, value)
        elif key == "cow_copies":
            findings.equal(key, sum(result.get("cow_copies", 0) for result in run.results), value)
        elif key == "must_hold":
            MUST_HOLD.check(findings, as_list(value), run)
        else:
            findings.skip(f"no check for expected.{key}")
    return findings


def _compare_results(findings: Findings, ours: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    if len(ours) != len(expected):
        findings.add("per_op", f"there are {len(ours)} operations and {len(expected)} results")
    for number, (result, wanted) in enumerate(zip(ours, expected, strict=False)):
        where = f"operation {number}"
        findings.equal(f"{where}: error", result.get("error"), wanted.get("error"))
        for name, value in wanted.items():
            if name != "error" and (name in result or "error" not in result):
                findings.equal(f"{where}: {name}", result.get(name), value)


def _compare_labels(
    findings: Findings, run: BlockPoolOps, expected: dict[str, list[str]], ref_counts: dict[str, int]
) -> None:
    """Tables are equal up to a one-to-one renaming of blocks, and the counts are those of the renamed blocks."""
    ours = run.tables
    findings.equal("sequences", sorted(ours), sorted(expected))
    block_of: dict[str, int] = {}
    label_of: dict[int, str] = {}
    for name, labels in expected.items():
        table = ours.get(name, [])
        pairs = list(zip(table, labels, strict=False))
        same = len(table) == len(labels) and all(
            block_of.setdefault(label, block) == block and label_of.setdefault(block, label) == label
            for block, label in pairs
        )
        if not same:
            findings.add(f"table of {name}", f"{table} has not the pattern of {labels}")
    if ref_counts:
        counts = {label_of.get(block, f"block {block}"): count for block, count in run.kv.pool.used.items()}
        findings.equal("ref_counts", dict(sorted(counts.items())), dict(sorted(ref_counts.items())))
