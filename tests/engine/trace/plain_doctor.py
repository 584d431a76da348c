"""A second doctor, as plain as can be: while the engine runs it writes down every known prefix after every event, and it
compares what every admission looks up with what everybody has at that moment, token by token."""

from random import Random
from typing import Any, NamedTuple

from engine.kv.hashed import HashedKV
from engine.kv.radix import RadixKV
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence, SequenceGroup
from engine.settings import Settings
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace
from engine.workload import ListWorkload

Tokens = tuple[Any, ...]


class Finding(NamedTuple):
    request: int
    number: int
    reason: str
    hit: int
    shared: int
    blocking: int


class PlainDoctor(Recorder):
    """`findings` by request and number of the admission, and the block that was known for each whole page of what it
    looked up, -1 for none."""

    engine: Engine

    def __init__(self, settings: Settings) -> None:
        super().__init__(trace_header(settings, "plain"))
        self.page_size = settings.block_size
        self.prefixes: dict[Tokens, int] = {}
        self.lost: dict[Tokens, int] = {}
        self.groups: dict[int, SequenceGroup] = {}
        self.missing: dict[tuple[int, int], Tokens] = {}
        self.findings: dict[tuple[int, int], Finding] = {}
        self.blocks: dict[tuple[int, int], list[int]] = {}

    def close(self) -> None:
        super().close()
        known = self._prefixes_now()
        self.lost |= dict.fromkeys(self.prefixes.keys() - known.keys(), self.event)
        for name, prefix in list(self.missing.items()):
            if prefix in known:
                del self.missing[name]
                self.findings[name] = self.findings[name]._replace(blocking=self.event)
        self.prefixes = known

    def admitted(self, group: Any, num_tokens: int, resumed: bool) -> None:
        super().admitted(group, num_tokens, resumed)
        number = sum(1 for request, _ in self.findings if request == group.index)
        assert resumed == bool(number)
        mine, size, event = self._content(group.lead)[:num_tokens], self.page_size, self.event + 1
        findable = len(mine) - 1
        ends = range(size, len(mine) + 1, size)
        self.blocks[group.index, number] = [self.prefixes.get(mine[:end], -1) for end in ends]
        hit = 0
        while hit + size <= findable and mine[: hit + size] in self.prefixes:
            hit += size
        assert hit == group.lead.num_cached_tokens
        shared, text_shared = 0, 0
        for seq in (seq for other in self.groups.values() for seq in other.sequences):
            content = self._content(seq)
            common = next(
                (i for i, (a, b) in enumerate(zip(mine, content, strict=False)) if a != b), min(len(mine), len(content))
            )
            has_last = seq.status is SequenceStatus.FINISHED and len(content) > seq.group.prompt_len
            text_shared, shared = max(text_shared, common), max(shared, min(common, len(content) - has_last))
        page = mine[: hit + size]
        blocking = event
        if shared == len(mine) == hit + size:
            reason = "last_token"
        elif shared >= hit + size:
            reason = "evicted" if page in self.lost else "not_yet"
            blocking = self.lost.get(page, event)
            if reason == "not_yet":
                self.missing[group.index, number] = page
        elif text_shared >= hit + size:
            reason = "no_kv"
        elif shared == hit:
            reason = "differs" if hit else "nothing"
        else:
            reason = "tail" if hit else "shorter"
        self.findings[group.index, number] = Finding(group.index, number, reason, hit, shared, blocking)
        self.groups[group.index] = group

    def _content(self, seq: Sequence) -> Tokens:
        """All tokens that a sequence knows now."""
        kv, request = self.engine.kv, seq.group.request
        if isinstance(kv, RadixKV):
            return kv.token_ids.of(seq, seq.num_tokens)
        answer = request.output_script[seq.sample] if request.output_script else ()
        prompt = _flat(request.prompt.token_ids or request.prompt.runs)
        known = (*prompt, *answer)[: seq.num_tokens]
        return (*known, *(("output", seq.index, i - len(prompt)) for i in range(len(known), seq.num_tokens)))

    def _prefixes_now(self) -> dict[Tokens, int]:
        """Known prefix -> the block that a look-up finds, -1 in a tree."""
        kv = self.engine.kv
        known: dict[Tokens, int] = {}
        if isinstance(kv, HashedKV):
            for prefix in kv.known.held.values():
                if prefix.block is not None:
                    parts, at = [], prefix
                    while at is not None:
                        parts.append(_flat(at.tokens))
                        at = at.parent
                    known[sum(reversed(parts), ())] = prefix.block
        elif isinstance(kv, RadixKV):
            for node in kv.tree.root.below():
                path = node.path_tokens()
                known |= {tuple(path[:end]): -1 for end in range(self.page_size, len(path) + 1, self.page_size)}
        return known


def examined(settings: Settings, requests: list[Request]) -> tuple[Trace, PlainDoctor]:
    """The trace of a run and the plain doctor that watched it."""
    doctor = PlainDoctor(settings)
    doctor.engine = Engine(settings, doctor)
    doctor.engine.run(ListWorkload(requests))
    return doctor.trace(), doctor


def _flat(parts: Tokens) -> Tokens:
    tokens: list[Any] = []
    for part in parts:
        if isinstance(part, int):
            tokens.append(part)
        else:
            *content, start, length = part
            tokens += [(*content, start + i) for i in range(length)]
    return tuple(tokens)


def random_requests(rng: Random) -> list[Request]:
    """Prompts of tokens 0 and 1, or of runs, so that much is shared; answers that later prompts may continue."""
    requests = []
    for i in range(rng.randint(2, 12)):
        length, output = rng.randint(1, 14), rng.randint(1, 8)
        ids = tuple(rng.choice((0, 0, 0, 1)) for _ in range(length))
        earlier = rng.choice(requests) if requests and rng.random() < 0.3 else None
        if earlier is not None and earlier.output_script and earlier.prompt.token_ids:
            ids = earlier.prompt.token_ids + earlier.output_script[0] + ids[: rng.randint(0, 3)]
        part = rng.randint(0, length)
        runs = ((rng.randint(7, 8), 0, part), (9, 0, length - part))
        prompt = Prompt.of_ids(ids) if rng.random() < 0.7 or earlier else Prompt(tuple(run for run in runs if run[2]))
        n = rng.choice((1, 1, 1, 2))
        script = (
            tuple(tuple(rng.choice((0, 1)) for _ in range(output)) for _ in range(n)) if rng.random() < 0.6 else None
        )
        sampling = SamplingParams(n, output)
        requests.append(Request(f"r{i}", float(rng.randint(0, 20)), prompt, sampling, output_script=script))
    return sorted(requests, key=lambda request: request.arrival_time)


def random_settings(rng: Random, kind: str) -> Settings:
    values: dict[str, Any] = {
        "block_size": rng.choice((1, 4)),
        "policy": rng.choice(("continuous", "chunked", "static")),
        "max_num_batched_tokens": rng.choice((6, 40, None)),
        "max_num_seqs": rng.choice((2, 3, None)),
        "over_budget": "wait",
        "queue_order": rng.choice(("fcfs", "longest_prefix_first", "random")),
        "step_time": 1.0,
    }
    values["num_blocks"] = rng.choice((40, 60)) // values["block_size"]
    if kind == "radix":
        return Settings.of({**values, "kv_manager": "radix", "eviction": rng.choice(("lru", "lfu", "mru"))})
    own = {
        "prefix_caching": True,
        "register_at": rng.choice(("schedule", "update")),
        "on_duplicate": rng.choice(("one", "keep_first", "last_writer")),
        "free_list": rng.choice(("fifo", "left", "uncached_first", "all_at_tail")),
        "keep_unwritten": rng.random() < 0.5,
    }
    return Settings.of({**values, **own})
