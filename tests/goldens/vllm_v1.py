"""vLLM V1 (0.33.0), mode `cache`, without prefix caching: KVCacheManager on the paged manager.

`add` allocates the whole prompt, `append` one decode a token, `preempt` frees and forgets what was computed, `resume`
allocates again. A refused operation leaves the request with what it held before; a refused token stays known.
"""

from typing import Any

from engine.kv.paged import PagedKV
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from tests.cases.verdict import Findings, Unsupported

PRESET = {"free_list": "uncached_first", "null_block": True}
"""Block 0 is the null block; a returned block without content is the next to be used."""

Result = dict[str, Any]


class CacheMode:
    """The operations of the mode, each answering like the recorded engine."""

    def __init__(self, case: dict[str, Any]) -> None:
        usable = case["num_blocks"] - 1
        self.kv = PagedKV(Settings.of({**PRESET, "num_blocks": usable, "block_size": case["block_size"]}))
        self.requests: dict[str, Sequence] = {}
        self.events: list[Result] = []
        self._num_added = 0

    def apply(self, op: dict[str, Any]) -> Any:
        self.events = []
        operands = {name: value for name, value in op.items() if name != "op"}
        return getattr(self, op["op"])(**operands)

    def state(self) -> Result:
        """Everything that a line shows beside `op` and `result`."""
        return {
            "tables": {name: seq.block_table for name, seq in self.requests.items()},
            "ref": {str(block): count for block, count in self.kv.pool.used.items()},
            "free_queue": self.kv.pool.free_list.ids(),
            "hashed": {},
            "events": self.events,
        }

    def add(self, id: str, tokens: list[int]) -> Result:
        request = Request(id, 0.0, Prompt.of_ids(tokens), SamplingParams(1, 1_000_000))
        index = self._num_added
        self._num_added += 1
        self.requests[id] = SequenceGroup(request, index, index, 1_000_000, Ticks()).lead
        return self._allocate(self.requests[id])

    def append(self, id: str, tokens: list[int]) -> list[Result]:
        results = []
        for _ in tokens:
            self.requests[id].sample_one()
            results.append(self._allocate(self.requests[id]))
            if not results[-1]["ok"]:
                break
        return results

    def free(self, id: str) -> Result:
        self.kv.free(self.requests.pop(id))
        return {}

    def preempt(self, id: str) -> Result:
        self.kv.free(self.requests[id])
        self.requests[id].reset()
        return {}

    def resume(self, id: str) -> Result:
        return self._allocate(self.requests[id])

    def reset(self) -> Result:
        done = not self.kv.num_used
        self.events = [{"type": "AllBlocksCleared"}] if done else []
        return {"ok": done}

    def _allocate(self, seq: Sequence) -> Result:
        missing = seq.num_tokens - seq.num_computed_tokens
        allocation = self.kv.allocate(seq, missing)
        if allocation is None:
            return {"ok": False, "hit_tokens": 0}
        seq.advance(missing)
        return {"ok": True, "hit_tokens": allocation.hit_tokens, "new_blocks": list(allocation.new_blocks)}


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation, every field of its line."""
    if case.get("caching", True):
        raise Unsupported("needs prefix caching, which is not built yet")
    engine = CacheMode(case)
    findings.equal("number of lines", len(case["ops"]), len(answers))
    for number, (op, wanted) in enumerate(zip(case["ops"], answers, strict=False)):
        ours = {"result": engine.apply(op), **engine.state()}
        for name, value in wanted.items():
            if name in ours:
                findings.equal(f"operation {number} ({op['op']}): {name}", ours[name], value)
            elif name != "op":
                findings.skip(f"no check for the field {name!r}")
        engine.kv.check(list(engine.requests.values()))
