"""vLLM V1 (0.33.0): KVCacheManager (mode `cache`) on the hashed and the paged manager; mode `sched` is `vllm_v1_sched`.

`add` looks up and allocates the whole prompt, `append` one decode a token, `preempt` frees and forgets what was
computed, `resume` looks up and allocates again. A refused operation leaves the request with what it held before; a
refused token stays known.
"""

from typing import Any

from engine.kv import MANAGERS
from engine.kv.hashed import HashedKV
from engine.kv.paged import PagedKV
from engine.kv.prefix_cache import Prefix
from engine.presets import VLLM_V1
from engine.request import Prompt, Request, SamplingParams
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.listener import Listener
from tests.cases.verdict import Findings
from tests.goldens import vllm_v1_sched
from tests.goldens.known_names import KnownNames

CACHE_KEYS = frozenset({"engine", "mode", "note", "block_size", "num_blocks", "caching", "ops"})

Result = dict[str, Any]


class KVEvents(Listener):
    """What happens in the cache: the prefixes whose blocks are stored by one call, or the one whose block is removed."""

    def __init__(self) -> None:
        self.kv: HashedKV | None = None
        self.happened: list[tuple[str, list[Prefix]]] = []

    def registered(self, seq: Sequence, blocks: list[int]) -> None:
        self._happened("BlockStored", blocks)

    def evicted(self, blocks: list[int]) -> None:
        for block in blocks:
            self._happened("BlockRemoved", [block])

    def published(self, names: KnownNames) -> list[Result]:
        """As the engine publishes it."""
        return [
            stored(prefixes, names) if kind == "BlockStored" else removed(prefixes, names)
            for kind, prefixes in self.happened
        ]

    def _happened(self, kind: str, blocks: list[int]) -> None:
        assert self.kv is not None
        self.happened.append((kind, [self.kv.known.held[block] for block in blocks]))


def stored(prefixes: list[Prefix], names: KnownNames) -> Result:
    parent = prefixes[0].parent
    return {
        "type": "BlockStored",
        "parent": None if parent is None else names.of(parent),
        "hashes": [names.of(prefix) for prefix in prefixes],
        "tokens": [token for prefix in prefixes for token in prefix.tokens],
    }


def removed(prefixes: list[Prefix], names: KnownNames) -> Result:
    return {"type": "BlockRemoved", "hashes": [names.of(prefix) for prefix in prefixes]}


class CacheMode:
    """The operations of the mode, each answering like the recorded engine."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.names = KnownNames()
        self.events = KVEvents()
        self.has_reset = False
        values = {"num_blocks": case["num_blocks"] - 1, "block_size": case["block_size"]}
        settings = Settings.of({**VLLM_V1.settings, **values, "prefix_caching": case.get("caching", True)})
        kv = MANAGERS[settings.manager](settings, self.events)
        assert isinstance(kv, PagedKV)
        self.kv = kv
        self.events.kv = kv if isinstance(kv, HashedKV) else None
        self.requests: dict[str, Sequence] = {}
        self._num_added = 0

    def apply(self, op: dict[str, Any]) -> Any:
        self.events.happened, self.has_reset = [], False
        operands = {name: value for name, value in op.items() if name != "op"}
        return getattr(self, op["op"])(**operands)

    def state(self) -> Result:
        """Everything that a line shows beside `op` and `result`; new content is named by the number of its block."""
        held = self.events.kv.known.held if self.events.kv else {}
        return {
            "tables": {name: seq.block_table for name, seq in self.requests.items()},
            "ref": {str(block): count for block, count in self.kv.pool.used.items()},
            "free_queue": self.kv.pool.free_list.ids(),
            "hashed": {str(block): self.names.of(prefix) for block, prefix in sorted(held.items())},
            "events": [{"type": "AllBlocksCleared"}] if self.has_reset else self.events.published(self.names),
        }

    def add(self, id: str, tokens: list[int]) -> Result:
        request = Request(id, 0.0, Prompt.of_ids(tokens), SamplingParams(1, 1_000_000))
        index = self._num_added
        self._num_added += 1
        self.requests[id] = SequenceGroup(request, index, index, 1_000_000, Ticks()).lead
        return self._allocate(self.requests[id])

    def append(self, id: str, tokens: list[int]) -> list[Result]:
        results = []
        for token in tokens:
            self.requests[id].sample_one()
            self.requests[id].output_token_ids.append(token)
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
        self.has_reset = self.events.kv.reset() if self.events.kv else not self.kv.num_used
        return {"ok": self.has_reset}

    def _allocate(self, seq: Sequence) -> Result:
        known = self.events.kv
        hit = known.match(seq) if known and not seq.num_computed_tokens else 0
        missing = seq.num_tokens - seq.num_computed_tokens - hit
        allocation = self.kv.allocate(seq, missing)
        if allocation is None:
            return {"ok": False, "hit_tokens": hit}
        seq.advance(missing)
        return {"ok": True, "hit_tokens": allocation.hit_tokens, "new_blocks": list(allocation.new_blocks)}


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation, every field of its line."""
    if case["mode"] == "sched":
        vllm_v1_sched.compare(findings, case, answers)
        return
    for key in sorted(set(case) - CACHE_KEYS):
        findings.skip(f"no meaning for the field {key!r} of the case")
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
