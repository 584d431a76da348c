"""nano-vllm (bb823b3), its BlockManager on the hashed manager: `add` looks up, allocates and computes the prompt,
`append` one more token, whose block is taken after the token is known; full blocks are known when they are computed.

All blocks return to one queue. Of equal blocks the last one to fill is the one that is found (`reachable`); the older
ones keep their content, out of reach, until they are taken.
"""

from typing import Any

from engine.kv.hashed import HashedKV
from engine.presets import NANO_VLLM
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from tests.cases.verdict import Findings
from tests.goldens.known_names import KnownNames

KEYS = frozenset({"engine", "note", "block_size", "num_blocks", "ops"})

Result = dict[str, Any]


class BlockManager:
    """The operations, each answering like the recorded engine."""

    def __init__(self, case: dict[str, Any]) -> None:
        values = {"num_blocks": case["num_blocks"], "block_size": case["block_size"]}
        self.kv = HashedKV(Settings.of({**NANO_VLLM.settings, **values}))
        self.sequences: dict[str, Sequence] = {}
        self._num_added = 0

    def apply(self, op: dict[str, Any]) -> Result:
        operands = {name: value for name, value in op.items() if name != "op"}
        result: Result = getattr(self, op["op"])(**operands)
        return result

    def state(self) -> Result:
        """Everything that a line shows beside `op` and `result`; each line names contents anew, by number of block."""
        names, held = KnownNames(), sorted(self.kv.known.held.items())
        return {
            "tables": {name: seq.block_table for name, seq in self.sequences.items()},
            "ref": {str(block): count for block, count in self.kv.pool.used.items()},
            "free_queue": self.kv.pool.free_list.ids(),
            "hashed": {str(block): names.of(prefix) for block, prefix in held},
            "reachable": [block for block, prefix in held if prefix.block == block],
        }

    def add(self, id: str, tokens: list[int]) -> Result:
        request = Request(id, 0.0, Prompt.of_ids(tokens), SamplingParams(1, 1_000_000))
        seq = SequenceGroup(request, self._num_added, self._num_added, 1_000_000, Ticks()).lead
        self._num_added += 1
        hit = self.kv.match(seq)
        if self._compute(seq, len(tokens) - hit) is None:
            return {"cached_blocks": -1}
        self.sequences[id] = seq
        return {"cached_blocks": hit // self.kv.block_size}

    def append(self, id: str, token: int) -> Result:
        seq = self.sequences[id]
        seq.sample_one()
        seq.output_token_ids.append(token)
        return {"can_append": self._compute(seq, seq.num_tokens - seq.num_computed_tokens) is not None}

    def free(self, id: str) -> Result:
        self.kv.free(self.sequences.pop(id))
        return {}

    def _compute(self, seq: Sequence, num_tokens: int) -> int | None:
        """Allocate, compute, register; None when there is no block."""
        if self.kv.allocate(seq, num_tokens) is None:
            return None
        seq.advance(num_tokens)
        self.kv.register(seq, seq.num_computed_tokens)
        return num_tokens


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation, every field of its line."""
    for key in sorted(set(case) - KEYS):
        findings.skip(f"no meaning for the field {key!r} of the case")
    manager = BlockManager(case)
    findings.equal("number of lines", len(case["ops"]), len(answers))
    for number, (op, wanted) in enumerate(zip(case["ops"], answers, strict=False)):
        ours = {"result": manager.apply(op), **manager.state()}
        for name, value in wanted.items():
            if name in ours:
                findings.equal(f"operation {number} ({op['op']}): {name}", ours[name], value)
            elif name != "op":
                findings.skip(f"no check for the field {name!r}")
        manager.kv.check(list(manager.sequences.values()))
