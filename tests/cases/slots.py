"""`slots`: requests that compute the same prefix at once, cached one after the other in the engine's radix tree.

Who is cached second finds the slots of the first for what is equal: its own table is rewritten to them, then its own
copies are freed, once. Free slots are handed out in the order of their return.
"""

import re
from collections import deque
from pathlib import Path
from typing import Any

from engine.kv.radix_tree import RadixTree
from tests.cases.verdict import Findings

Result = dict[str, Any]


class SlotTables:
    """Requests with their tokens and slots, in front of one tree."""

    def __init__(self, num_slots: int, page_size: int) -> None:
        self.tree = RadixTree(page_size)
        self.free = deque(range(num_slots))
        self.tokens: dict[str, list[int]] = {}
        self.slots: dict[str, list[int]] = {}
        self.freed: list[int] = []
        self.taken: list[int] = []

    def compute(self, name: str, tokens: list[int], slots: list[int]) -> None:
        for slot in slots:
            self.free.remove(slot)
        self.tokens[name], self.slots[name], self.freed, self.taken = list(tokens), list(slots), [], list(slots)

    def cache(self, name: str) -> None:
        table = self.slots[name]
        insertion = self.tree.insert(self.tokens[name], table)
        known = insertion.node.path_slots()
        duplicates = [own for own, slot in zip(table, known, strict=False) if own != slot]
        table[: len(known)] = known
        self.free.extend(duplicates)
        self.freed, self.taken = duplicates, []

    def append(self, name: str, token: int) -> None:
        self.taken, self.freed = [self.free.popleft()], []
        self.tokens[name].append(token)
        self.slots[name] += self.taken

    def check(self) -> None:
        """A slot is free or named by a table or the tree; no free slot twice."""
        self.tree.check()
        named = {slot for table in self.slots.values() for slot in table}
        assert len(self.free) == len(set(self.free)), "a slot is free twice"
        assert not named & set(self.free), "a free slot is named by a table"

    def state(self) -> Result:
        tables = {f"slots_of_{name}": list(table) for name, table in self.slots.items()}
        return {**tables, "freed_slots": sorted(self.freed), "free_count": len(self.free)}


def check(case: dict[str, Any], path: Path) -> Findings:
    """Carry out every operation; what is expected after one is compared with the state after it."""
    given, expected = case["input"], case["expected"]
    findings, tables = Findings(), SlotTables(given["capacity_slots"], given.get("page_size", 1))
    freed: list[int] = []
    open_entries = dict(expected)
    for verb, name, *operands in given["ops"]:
        getattr(tables, verb)(name, *operands)
        tables.check()
        freed += tables.freed
        state = tables.state()
        for key, value in open_entries.pop(f"after_{verb}_{name}", {}).items():
            findings.equal(f"after {verb} {name}: {key}", state.get(key), value)
        untouched = open_entries.pop(f"{verb}_{name}_must_not_touch", ())
        if set(untouched) & set(tables.taken):
            findings.add(f"{verb} {name}", f"writes to {tables.taken}")
    if open_entries.pop("duplicates_freed_once", False):
        findings.equal("slots freed twice", sorted({slot for slot in freed if freed.count(slot) > 1}), [])
    for key in open_entries:
        findings.skip(f"no check for expected.{re.sub(r'[^a-zA-Z0-9_]', '?', key)}")
    return findings
