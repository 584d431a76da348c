"""SGLang (0.5.23): its radix tree with every eviction policy (mode `tree`), and its waiting-queue orders (mode `policy`).

The recorded harness numbers slots by the tokens that it was given, cached or not. Handles are nodes: `as` names the node
in which a match or an insertion ended, which stays the lower half when it is split.
"""

from collections.abc import Callable
from typing import Any

from engine.kv.eviction import policy_of
from engine.kv.radix_node import Match, RadixListener, RadixNode
from engine.kv.radix_tree import RadixTree
from engine.presets import SGLANG, Preset
from engine.scheduler.order import QueueOrder, Waiting
from tests.cases.verdict import Findings

ORDERS = {
    "fcfs": ("fcfs", "CacheAgnosticPolicy.FCFS"),
    "lof": ("lof", "CacheAgnosticPolicy.LOF"),
    "lpm": ("longest_prefix_first", "CacheAwarePolicy.LPM"),
    "dfs-weight": ("depth_first", "CacheAwarePolicy.DFS_WEIGHT"),
    "shortest-prefill-first": ("shortest_prefill_first", "CacheAwarePolicy.SHORTEST_PREFILL_FIRST"),
}
"""Their name of a policy: ours, and what they call it when it is active."""
LABELS = dict(ORDERS.values())
NUM_MATCHED_SHOWN = 12

Result = dict[str, Any]


def _event(kind: str, num_blocks: int, tokens: list[Any]) -> Result:
    return {"type": kind, "n": num_blocks, "tokens": tokens}


class Events(RadixListener):
    """The KV events of one operation; blocks are pages. All removals of an operation are one event."""

    def __init__(self, page_size: int) -> None:
        self.events: list[Result] = []
        self._page_size = page_size

    def inserted(self, node: RadixNode, num_new: int) -> None:
        if num_new:
            self.events.append(_event("BlockStored", len(node.key) // self._page_size, list(node.key)))

    def evicted(self, node: RadixNode) -> None:
        num_pages = len(node.key) // self._page_size
        if self.events and self.events[-1]["type"] == "BlockRemoved":
            self.events[-1]["n"] += num_pages
        else:
            self.events.append(_event("BlockRemoved", num_pages, []))

    def cleared(self) -> None:
        self.events.append(_event("AllBlocksCleared", 0, []))


class TreeMode:
    """The operations of mode `tree`, each answering like the recorded engine."""

    def __init__(self, case: dict[str, Any], preset: Preset = SGLANG) -> None:
        page_size = case.get("page_size", preset.tree["page_size"])
        policy = policy_of(case.get("evict", preset.tree["evict"]), case.get("evict_config"))
        self.told = Events(page_size)
        self.tree = RadixTree(page_size, policy, preset.tree["split_age"], self.told)
        self.told.cleared()
        self.nodes: dict[str, RadixNode] = {}
        self._num_slots = 0

    def apply(self, op: dict[str, Any]) -> Result:
        operands = {name: value for name, value in op.items() if name not in ("op", "as")}
        result, node = getattr(self, op["op"])(**operands)
        if "as" in op:
            self.nodes[op["as"]] = node
        return result

    def insert(self, tokens: list[int], priority: int = 0) -> tuple[Result, RadixNode]:
        slots = range(self._num_slots, self._num_slots + len(tokens))
        self._num_slots += len(tokens)
        inserted = self.tree.insert(tokens, slots, priority)
        return {"already_cached": inserted.num_cached}, inserted.node

    def match(self, tokens: list[int]) -> tuple[Result, RadixNode]:
        match = self.tree.match_prefix(tokens)
        return {"matched": match.num_tokens, "slots": match.node.path_slots()}, match.node

    def lock(self, name: str) -> tuple[Result, RadixNode]:
        self.tree.lock(self.nodes[name])
        return {}, self.nodes[name]

    def unlock(self, name: str) -> tuple[Result, RadixNode]:
        self.tree.unlock(self.nodes[name])
        return {}, self.nodes[name]

    def evict(self, n: int) -> tuple[Result, RadixNode]:
        gone = self.tree.evict(n)
        result = {"evicted": sum(len(node.key) for node in gone), "freed_slots": [list(node.slots) for node in gone]}
        return result, self.tree.root

    def reset(self) -> tuple[Result, RadixNode]:
        self.tree.clear()
        return {}, self.tree.root

    def state(self) -> Result:
        """Everything that a line shows beside `op` and `result`."""
        tree, told = self.tree, self.told.events
        self.told.events = []
        times = sorted({node.last_access for node in (tree.root, *tree.root.below())})
        ranks = {time: rank for rank, time in enumerate(times)}
        return {
            "evictable": tree.num_evictable,
            "protected": tree.num_protected,
            "total": tree.num_tokens,
            "leaves": sorted(list(leaf.key) for leaf in tree.leaves_to_evict()),
            "tree": drawn(tree.root, lambda node: {"hits": node.hit_count, "age_rank": ranks[node.last_access]}),
            "events": told,
        }


def drawn(node: RadixNode, more: Callable[[RadixNode], Result]) -> list[Result]:
    """The nodes below `node` as the recorded lines show them, with what `more` adds."""
    return [
        {
            "key": list(child.key),
            "slots": list(child.slots),
            "lock": child.lock_ref,
            **more(child),
            "children": drawn(child, more),
        }
        for child in node.children.values()
    ]


class PolicyMode:
    """The operations of mode `policy`: fill the tree, fill the queue, sort the queue as it was filled."""

    def __init__(self, case: dict[str, Any]) -> None:
        page_size = case.get("page_size", SGLANG.tree["page_size"])
        self.tree = RadixTree(page_size, split_age=SGLANG.tree["split_age"])
        self.queue: list[Waiting] = []
        self.matched: dict[str, int] = {}

    def cache(self, tokens: list[int] | None = None, first: int = 0, len: int = 0) -> None:
        self.tree.insert(range(first, first + len) if tokens is None else tokens)

    def add(self, id: str, tokens: list[int] | None = None, spans: Any = (), max_new: int = 0) -> None:
        if tokens is None:
            tokens = [token for first, length in spans for token in range(first, first + length)]
        self.queue.append(Waiting(id, len(tokens), tokens, max_new))

    def sort(self, policy: str) -> Result:
        name, _ = ORDERS[policy]
        done = QueueOrder(name, **SGLANG.queue).sort(self.queue, self._match)
        for entry, match in zip(self.queue, done.matches or [], strict=False):
            self.matched[entry.request] = entry.hit(match)
        return {
            "policy": policy,
            "active": LABELS[done.name],
            "queue_len": len(self.queue),
            "order": [self.queue[place].request for place in done.places],
            "matched": {e.request: self.matched.get(e.request) for e in self.queue[:NUM_MATCHED_SHOWN]},
        }

    def _match(self, entry: Waiting) -> Match:
        return self.tree.match_prefix(entry.tokens)


def compare_tree(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every operation, every field of its line."""
    engine = TreeMode(case)
    findings.equal("number of lines", len(case["ops"]), len(answers))
    for number, (op, wanted) in enumerate(zip(case["ops"], answers, strict=False)):
        compare_line(findings, f"operation {number} ({op['op']})", wanted, engine.apply(op), engine.state())
        engine.tree.check()


def compare_line(findings: Findings, where: str, wanted: Result, result: Result, state: Result) -> None:
    """A recorded line against our answer; a field of it that we do not have is not checked."""
    ours = {"result": result, **state}
    for name, value in wanted.items():
        if name in ours:
            findings.equal(f"{where}: {name}", ours[name], value)
        elif name != "op":
            findings.skip(f"no check for the field {name!r}")


def compare_policy(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every sort. A long order is cut with `...`: what is listed is compared."""
    engine, ours = PolicyMode(case), []
    for op in case["ops"]:
        operands = {name: value for name, value in op.items() if name != "op"}
        if op["op"] == "cache":
            engine.cache(**operands)
        elif op["op"] == "queue":
            engine.add(**operands)
        elif operands["policy"] in ORDERS:
            ours.append(engine.sort(**operands))
        else:
            findings.skip(f"no check for the policy {operands['policy']!r}")
            return
        engine.tree.check()
    findings.equal("number of lines", len(ours), len(answers))
    for number, (mine, wanted) in enumerate(zip(ours, answers, strict=False)):
        listed = [name for name in wanted["order"] if name != "..."]
        shown = mine["order"][: len(listed)] + ["..."] * (len(mine["order"]) > len(listed))
        compare_line(findings, f"sort {number} ({mine['policy']})", wanted, {}, {**mine, "order": shown})
