"""`radix`: operations on a prefix tree with a capacity; `queue_order`: passes over a queue that is sorted by prefix.

Both run on the tree and the orders of the engine. An operation that fails names its error and has changed nothing.
"""

from functools import partial
from pathlib import Path
from typing import Any

from engine.kv.radix_node import Match, RadixNode
from engine.kv.radix_tree import RadixTree
from engine.scheduler.order import ORDERS, QueueOrder, Waiting
from engine.settings import Settings
from scenarios.radix_ops import RadixOps
from tests.cases.verdict import Findings, Unsupported

POLICY_NAMES = {"longest_prefix_match": "longest_prefix_first"}

Result = dict[str, Any]


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run the operations, compare what each returned, then the tree and its sizes."""
    given, expected = case["input"], case["expected"]
    page_size = given["radix"].get("page_size", 1)
    settings = Settings(kv_manager="radix", kv_capacity_tokens=given["radix"]["capacity_tokens"], block_size=page_size)
    run = RadixOps(settings, given["ops"])
    findings = Findings()
    run.run(RadixOps.check)
    run.check()
    for key, value in expected.items():
        if key == "per_op":
            _compare_results(findings, run.results, value)
        elif key == "tree":
            findings.equal(key, drawn(run.kv.tree.root), value)
        elif key in run.sizes():
            findings.equal(key, run.sizes()[key], value)
        else:
            findings.skip(f"no check for expected.{key}")
    return findings


def drawn(node: RadixNode) -> list[Result]:
    """The edges below `node` with their locks, siblings ordered by their tokens."""
    children = sorted(node.children.values(), key=lambda child: child.key)
    return [{"edge": list(child.key), "lock": child.lock_ref, "children": drawn(child)} for child in children]


def _compare_results(findings: Findings, ours: list[Result], expected: list[Result]) -> None:
    findings.equal("number of results", len(ours), len(expected))
    for number, (result, wanted) in enumerate(zip(ours, expected, strict=False)):
        findings.equal(f"operation {number}: error", result.get("error"), wanted.get("error"))
        for name, value in wanted.items():
            findings.equal(f"operation {number}: {name}", result.get(name), value)


def check_order(case: dict[str, Any], path: Path) -> Findings:
    """Run the passes once for each variant, compare who was admitted when."""
    given, expected = case["input"], case["expected"]
    name = POLICY_NAMES.get(given["policy"], given["policy"])
    if name not in ORDERS:
        raise Unsupported(f"there is no queue order {given['policy']!r}")
    findings = Findings()
    variants = {f"aging_{v['aging_tokens_per_pass']}": v["aging_tokens_per_pass"] for v in given["variants"]}
    for variant in expected.keys() - variants.keys():
        findings.skip(f"no check for expected.{variant}")
    for variant, aging in variants.items():
        admitted = admissions(given, QueueOrder(name, aging=aging))
        for key, value in expected.get(variant, {}).items():
            _compare_admissions(findings, f"{variant}: {key}", key, value, admitted, _bound(given, aging))
    return findings


def admissions(given: dict[str, Any], order: QueueOrder) -> list[tuple[str, int]]:
    """(request, pass in which it was admitted), in order of admission."""
    root = RadixTree().root
    queue: list[tuple[str, int, int]] = []
    admitted = []
    for number in range(given["passes"]):
        queue += [(r["id"], r["match"], number) for r in given["initial"] if r.get("arrival_pass", 0) == number]
        queue += [(r["id"].replace("{p}", str(number)), r["match"], number) for r in given["arrivals_each_pass"]]
        waiting = [Waiting(name, match + 1, num_passes=number - since) for name, match, since in queue]
        matches = {name: Match(root, match) for name, match, _ in queue}
        places = order.sort(waiting, partial(_match_of, matches), number).places
        taken = places[: given["admit_per_pass"]]
        admitted += [(queue[place][0], number) for place in taken]
        queue = [entry for place, entry in enumerate(queue) if place not in taken]
    return admitted


def _match_of(matches: dict[str, Match], entry: Waiting) -> Match:
    return matches[entry.request]


def _bound(given: dict[str, Any], aging: int) -> int | None:
    """Passes after which no newcomer is ahead of a request that shares nothing; None without aging."""
    most = max(entry["match"] for entry in given["arrivals_each_pass"])
    return -(-most // aging) if aging else None


def _compare_admissions(
    findings: Findings, where: str, key: str, value: Any, admitted: list[tuple[str, int]], bound: int | None
) -> None:
    if key.startswith("order"):
        findings.equal(where, [name for name, _ in admitted[: len(value)]], value)
    elif key.endswith("_admitted_in_pass"):
        findings.equal(where, dict(admitted).get(key.removesuffix("_admitted_in_pass")), value)
    elif key == "bound_passes":
        findings.equal(where, bound, value)
    else:
        findings.skip(f"no check for {where}")
