"""mini-sglang (commit 20fcd7f), mode `tree`: the operations of SGLang's tree on a smaller one.

A split refreshes neither half, leaves go by time of last use, and asking for more than is evictable is refused with a
sentence. There is no reset: the operation answers with no line and changes nothing.
"""

from typing import Any

from engine.kv.radix_node import RadixNode
from engine.presets import MINI_SGLANG
from tests.cases.verdict import Findings
from tests.goldens.sglang import TreeMode, compare_line, drawn

Result = dict[str, Any]


class MiniTreeMode(TreeMode):
    """The same operations; the answers say less."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case, MINI_SGLANG)

    def match(self, tokens: list[int]) -> tuple[Result, RadixNode]:
        result, node = super().match(tokens)
        return {"matched": result["matched"]}, node

    def evict(self, n: int) -> tuple[Result, RadixNode]:
        tree = self.tree
        if n > tree.num_evictable:
            return {"refused": f"Cannot evict {n}, only {tree.num_evictable} is evictable"}, tree.root
        return {"freed_slots": [slot for node in tree.evict(n) for slot in node.slots]}, tree.root

    def state(self) -> Result:
        tree = self.tree
        return {
            "evictable": tree.num_evictable,
            "protected": tree.num_protected,
            "tree": drawn(tree.root, lambda node: {}),
        }


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation but `reset`, every field of its line."""
    engine = MiniTreeMode(case)
    ops = [op for op in case["ops"] if op["op"] != "reset"]
    findings.equal("number of lines", len(ops), len(answers))
    for number, (op, wanted) in enumerate(zip(ops, answers, strict=False)):
        compare_line(findings, f"operation {number} ({op['op']})", wanted, engine.apply(op), engine.state())
        engine.tree.check()
