"""vLLM V0 (0.6.2), both block managers without caching: fork, copy-on-write, swap, on the paged manager.

Every block id is compared as it is. One thing nobody can foretell: manager v1 frees a table in the order of a set of
objects. So the order in which such blocks came back is read off the recorded run, from the order in which it hands
them out again; that they are these blocks, and everything else, is ours.
"""

from collections.abc import Iterator
from typing import Any

from engine.kv.paged import PagedKV, num_blocks_for
from engine.presets import PRESETS
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from tests.cases.verdict import Findings, Unsupported

DEFAULT_WATERMARK = 0.01
DEFAULT_HOST_BLOCKS = 8

Result = dict[str, Any]
Tables = dict[str, list[str]]


class BlockManager:
    """The operations of both managers, each answering like the recorded engine."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.version: str = case["manager"]
        if case.get("caching"):
            raise Unsupported("needs the prefix caching of vLLM V0, which is not built")
        self.num_gpu: int = case["num_gpu"]
        own = {
            "num_blocks": self.num_gpu,
            "num_host_blocks": case.get("num_cpu", DEFAULT_HOST_BLOCKS),
            "block_size": case["block_size"],
            "watermark": case.get("watermark", DEFAULT_WATERMARK),
        }
        self.kv = PagedKV(Settings.of({**PRESETS[f"vllm-v0-{self.version}"].settings, **own}))
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

    def tables(self) -> Tables:
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
        if self.kv.num_free < sum(self._may_take_a_block(other, seq) for other in self._relatives(id)):
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
        moved = self.kv.move_out(self._group(id))
        if moved is None:
            return {"can": False}
        return {"can": True, "map": [[block, host - self.num_gpu] for block, host in moved]}

    def swap_in(self, id: str) -> Result:
        """Manager v1 also wants a block for the next token of each sequence."""
        group = self._group(id)
        blocks = {block for seq in group.sequences for block in seq.block_table}
        need = len(blocks) + (len(group.sequences) if self.version == "v1" else 0)
        if need > self.num_gpu:
            return {"can": "NEVER"}
        moved = self.kv.move_in(group) if self.kv.num_free - need >= self.kv.watermark() else None
        if moved is None:
            return {"can": "LATER"}
        return {"can": "OK", "map": [[host - self.num_gpu, block] for host, block in moved]}

    def only_reader(self, name: str) -> dict[str, int]:
        """The blocks of a sequence that nobody else reads, by their names."""
        counts = {**self.kv.pool.used, **self.kv.host.used}
        return {self.name_of(block): block for block in self.sequences[name].block_table if counts[block] == 1}

    def return_in(self, name: str, order: list[int]) -> None:
        """Let the next `free` of this sequence return its blocks in this order; a table returns from its end."""
        table = self.sequences[name].block_table
        self.sequences[name].block_table = [*(block for block in table if block not in order), *reversed(order)]

    def _may_take_a_block(self, seq: Sequence, writer: Sequence) -> bool:
        """What the check before an append counts: manager v2 knows that one with a full last block writes nothing."""
        is_open = seq.num_computed_tokens % self.kv.block_size > 0
        return seq is writer or is_open or self.version == "v1"

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


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation: result, tables, counts and free numbers; the first difference ends it."""
    manager, theirs = BlockManager(case), list(_recorded_tables(case, answers))
    findings.equal("number of lines", len(case["ops"]), len(answers))
    for number, (op, wanted) in enumerate(zip(case["ops"], answers, strict=False)):
        where = f"operation {number} ({op['op']})"
        if op["op"] == "free" and manager.version == "v1":
            blocks = manager.only_reader(op["id"])
            manager.return_in(op["id"], [blocks[name] for name in _order_of_return(set(blocks), theirs[number:])])
        findings.equal(f"{where}: result", manager.apply(op), wanted["result"])
        findings.equal(f"{where}: tables", manager.tables(), theirs[number])
        findings.equal(f"{where}: ref", manager.ref(), wanted["ref"])
        findings.equal(f"{where}: free_gpu", manager.kv.num_free, wanted["free_gpu"])
        findings.equal(f"{where}: free_cpu", manager.kv.host.num_free, wanted["free_cpu"])
        manager.kv.check(list(manager.sequences.values()))
        if findings.wrong:
            return


def _recorded_tables(case: dict[str, Any], answers: list[Result]) -> Iterator[Tables]:
    """The tables of every line with names instead of numbers; of manager v1 the moves say which pool a number is in."""
    family: dict[str, str] = {}
    on_host: set[str] = set()
    for op, answer in zip(case["ops"], answers, strict=False):
        if op["op"] in ("add", "fork"):
            family[op.get("child", op["id"])] = family.get(op["id"], op["id"])
        elif op["op"] == "swap_out" and answer["result"]["can"] and case["manager"] == "v1":
            on_host.add(family[op["id"]])
        elif op["op"] == "swap_in" and answer["result"]["can"] == "OK":
            on_host.discard(family[op["id"]])
        pools = {name: "cpu" if family[name] in on_host else "gpu" for name in answer["tables"]}
        yield {name: [f"{pools[name]}{block}" for block in table] for name, table in answer["tables"].items()}


def _order_of_return(blocks: set[str], tables: list[Tables]) -> list[str]:
    """These blocks of a stack in the order of their return: what is handed out again first came back last."""
    handed_out = (block for line in tables for table in line.values() for block in table if block in blocks)
    reused = list(dict.fromkeys(handed_out))
    return [*sorted(blocks.difference(reused)), *reversed(reused)]
