"""vLLM V0 (0.6.2), both block managers without caching: fork, copy-on-write, swap, on the paged manager.

Manager v1 hands out blocks from a stack and frees a table in the order of a set of objects, which nobody can foretell.
So its block ids are compared as they are until several blocks of a pool have returned at once; from then on only the
pattern of equal ids counts for that pool. Manager v2 is compared as it is; it copies a shared block once for every
reader when it swaps, which the paged manager does not do.
"""

from collections import Counter
from typing import Any

from engine.kv.paged import PagedKV, num_blocks_for
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from tests.cases.verdict import Findings, Unsupported

PRESETS = {"v1": {"free_list": "stack"}, "v2": {"free_list": "left"}}
DEFAULT_WATERMARK = 0.01
DEFAULT_HOST_BLOCKS = 8

Result = dict[str, Any]


class BlockManager:
    """The operations of both managers, each answering like the recorded engine."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.version: str = case["manager"]
        if case.get("caching"):
            raise Unsupported("needs prefix caching, which is not built yet")
        self.num_gpu: int = case["num_gpu"]
        self.num_cpu: int = case.get("num_cpu", DEFAULT_HOST_BLOCKS)
        self.kv = PagedKV(
            Settings.of(
                {
                    **PRESETS[self.version],
                    "num_blocks": self.num_gpu,
                    "num_host_blocks": self.num_cpu,
                    "block_size": case["block_size"],
                    "watermark": case.get("watermark", DEFAULT_WATERMARK),
                }
            )
        )
        self.sequences: dict[str, Sequence] = {}
        self.family: dict[str, str] = {}
        self._num_added = 0

    def apply(self, op: dict[str, Any]) -> Any:
        operands = {name: value for name, value in op.items() if name != "op"}
        return getattr(self, op["op"])(**operands)

    def name_of(self, block: int) -> str:
        """`gpuK` or `cpuK`; manager v2 numbers its host blocks on and calls them gpu as well."""
        if block < self.num_gpu or self.version == "v2":
            return f"gpu{block}"
        return f"cpu{block - self.num_gpu}"

    def tables(self) -> dict[str, list[str]]:
        return {name: [self.name_of(block) for block in seq.block_table] for name, seq in self.sequences.items()}

    def ref(self) -> dict[str, int]:
        used = {**self.kv.pool.used, **self.kv.host.used}
        return {self.name_of(block): count for block, count in used.items()}

    def add(self, id: str, tokens: list[int]) -> Result:
        seq = self._sequence(id, len(tokens))
        need = num_blocks_for(len(tokens), self.kv.block_size)
        if need + self.kv.watermark() > self.num_gpu:
            return {"can_allocate": "NEVER"}
        if self.kv.fits(seq, len(tokens), self.kv.watermark()) is not None:
            return {"can_allocate": "LATER"}
        self.kv.allocate(seq, len(tokens))
        seq.advance(len(tokens))
        self.sequences[id], self.family[id] = seq, id
        return {"can_allocate": "OK"}

    def append(self, id: str, token: int) -> Result:
        seq = self.sequences[id]
        if self.kv.num_free < len(self._relatives(id)):
            return {"can_append": False}
        allocation = self.kv.allocate(seq, 1)
        assert allocation is not None, "there is a block for every sequence of the group"
        seq.advance(1)
        return {"can_append": True, "copies": [list(copy) for copy in allocation.copies]}

    def fork(self, id: str, child: str) -> None:
        parent = self.sequences[id]
        self.sequences[child] = self._sequence(child, parent.num_computed_tokens)
        self.family[child] = self.family[id]
        self.kv.fork(parent, self.sequences[child])

    def free(self, id: str) -> None:
        self.kv.free(self.sequences.pop(id))
        del self.family[id]

    def swap_out(self, id: str) -> Result:
        group = self._group(id)
        if self.version == "v2" and max(Counter(self._blocks(group)).values()) > 1:
            raise Unsupported("manager v2 loses the sharing of blocks when it swaps, which is not built yet")
        moved = self.kv.move_out(group)
        if moved is None:
            return {"can": False}
        return {"can": True, "map": [[block, host - self.num_gpu] for block, host in moved]}

    def swap_in(self, id: str) -> Result:
        """Manager v1 also wants a block for the next token of each sequence."""
        group = self._group(id)
        need = len(set(self._blocks(group))) + (len(group.sequences) if self.version == "v1" else 0)
        if need > self.num_gpu:
            return {"can": "NEVER"}
        moved = self.kv.move_in(group) if self.kv.num_free - need >= self.kv.watermark() else None
        if moved is None:
            return {"can": "LATER"}
        return {"can": "OK", "map": [[host - self.num_gpu, block] for host, block in moved]}

    def _sequence(self, name: str, num_tokens: int) -> Sequence:
        request = Request(name, 0.0, Prompt.of_length(num_tokens), SamplingParams(1, 1_000_000))
        index = self._num_added
        self._num_added += 1
        return SequenceGroup(request, index, index, 1_000_000, Ticks()).lead

    def _relatives(self, name: str) -> list[Sequence]:
        """All living sequences forked from one `add`."""
        return [self.sequences[other] for other, root in self.family.items() if root == self.family[name]]

    def _group(self, name: str) -> SequenceGroup:
        """The relatives as one request, which is what moves."""
        seq = self.sequences[name]
        group = SequenceGroup(seq.group.request, seq.index, seq.index, 1_000_000, Ticks())
        group.sequences = self._relatives(name)
        return group

    @staticmethod
    def _blocks(group: SequenceGroup) -> list[int]:
        return [block for seq in group.sequences for block in seq.block_table]


class Renaming:
    """Their block name -> ours, one to one among the blocks in use. In an exact pool both names are the same."""

    def __init__(self) -> None:
        self.exact = {"gpu": True, "cpu": True}
        self._ours: dict[str, str] = {}

    def update(self, ours: dict[str, list[str]], theirs: dict[str, list[str]]) -> str | None:
        """Learn new blocks from two states of the tables; says where the states differ."""
        in_use = {block for table in theirs.values() for block in table}
        self._ours = {theirs: ours for theirs, ours in self._ours.items() if theirs in in_use}
        if list(ours) != list(theirs) or any(len(ours[name]) != len(theirs[name]) for name in ours):
            return f"tables are {ours}, expected {theirs}"
        for name, table in theirs.items():
            for mine, block in zip(ours[name], table, strict=True):
                if self._ours.setdefault(block, mine) != mine or mine[:3] != block[:3]:
                    return f"table of {name} is {ours[name]}, expected {table}"
                if self.exact[block[:3]] and mine != block:
                    return f"table of {name} is {ours[name]}, expected exactly {table}"
        if len(set(self._ours.values())) != len(self._ours):
            return f"two blocks of theirs are one of ours: {self._ours}"
        return None

    def ours(self, block: str) -> str:
        return self._ours.get(block, f"unknown {block}")


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation: result, tables, counts and free numbers."""
    manager, renaming = BlockManager(case), Renaming()
    findings.equal("number of lines", len(case["ops"]), len(answers))
    for number, (op, wanted) in enumerate(zip(case["ops"], answers, strict=False)):
        where = f"operation {number} ({op['op']})"
        before = _in_use(manager)
        result = manager.apply(op)
        theirs = _their_tables(manager, wanted)
        problem = renaming.update(manager.tables(), theirs)
        findings.add(where, problem)
        if problem:
            return
        _compare_results(findings, where, manager, renaming, result, wanted["result"])
        counts = {renaming.ours(block): count for block, count in wanted["ref"].items()}
        findings.equal(f"{where}: ref", dict(sorted(manager.ref().items())), dict(sorted(counts.items())))
        findings.equal(f"{where}: free_gpu", manager.kv.num_free, wanted["free_gpu"])
        findings.equal(f"{where}: free_cpu", manager.kv.host.num_free, wanted["free_cpu"])
        manager.kv.check(list(manager.sequences.values()))
        if manager.version == "v1":
            for pool, gone in Counter(block[:3] for block in before - _in_use(manager)).items():
                renaming.exact[pool] = renaming.exact[pool] and gone < 2


def _in_use(manager: BlockManager) -> set[str]:
    return set(manager.ref())


def _their_tables(manager: BlockManager, wanted: Result) -> dict[str, list[str]]:
    """Recorded tables are numbers; which pool a number is in follows from the reference counts (manager v1)."""
    tables = {}
    for name, numbers in wanted["tables"].items():
        names = [[f"{pool}{number}" for pool in ("gpu", "cpu")] for number in numbers]
        on_host = manager.version == "v1" and manager.sequences.get(name) is not None and _is_on_host(manager, name)
        tables[name] = [pair[on_host] for pair in names]
    return tables


def _is_on_host(manager: BlockManager, name: str) -> bool:
    table = manager.sequences[name].block_table
    return bool(table) and table[0] >= manager.num_gpu


def _compare_results(
    findings: Findings, where: str, manager: BlockManager, renaming: Renaming, ours: Any, wanted: Any
) -> None:
    """Copies are compared through the renaming; of moved blocks, whose old ids are gone, the number where ids are not
    exact."""
    if not isinstance(wanted, dict) or not isinstance(ours, dict):
        findings.equal(f"{where}: result", ours, wanted)
        return
    for key in sorted(set(ours) | set(wanted)):
        mine, theirs = ours.get(key), wanted.get(key)
        if key == "copies" and mine is not None and theirs is not None:
            theirs = [[renaming.ours(f"gpu{block}") for block in copy] for copy in theirs]
            findings.equal(f"{where}: copies", [[manager.name_of(block) for block in copy] for copy in mine], theirs)
        elif key == "map" and mine is not None and theirs is not None and not all(renaming.exact.values()):
            findings.equal(f"{where}: number of moved blocks", len(mine), len(theirs))
        else:
            findings.equal(f"{where}: {key}", mine, theirs)
