"""vLLM V1 (0.33.0), mode `sched`: the whole scheduler step on the engine, with a model that always emits one token.

A line shows the engine after its schedule and before its update; what is finished, the figures of the prefix cache and
the use of memory are those after the update. Finished requests are still in the tables of their line.
"""

from dataclasses import astuple
from typing import Any

from engine.batch import Batch, StepOutput
from engine.kv.paged import PagedKV
from engine.loop import Engine
from engine.presets import VLLM_V1
from engine.request import Prompt, Request, SamplingParams
from engine.scheduler.scheduler import CacheStats
from engine.sequence import SequenceGroup
from engine.settings import Settings
from tests.cases.verdict import Findings, Unsupported

DEFAULTS: dict[str, Any] = {"max_num_seqs": 4, "max_num_batched_tokens": 512}
SCHED_KEYS = frozenset(
    {
        "max_num_seqs",
        "max_num_batched_tokens",
        "max_model_len",
        "policy",
        "watermark",
        "long_prefill_token_threshold",
        "chunked",
        "reserve_full",
    }
)
UNORDERED = ("preempted",)
"""A set in the engine: the order of its names says nothing."""
FIGURES = ("queries", "hits", "preempted_queries", "preempted_hits")

Result = dict[str, Any]


def settings_of(case: dict[str, Any]) -> Settings:
    """The settings of a case: the preset, its numbers, and what `sched` changes."""
    given = {**DEFAULTS, **case.get("sched", {})}
    unknown = sorted(set(given) - SCHED_KEYS)
    if unknown:
        raise Unsupported(f"the scheduler setting {unknown[0]!r} has no meaning here")
    by_priority = given.get("policy", "fcfs") == "priority"
    return Settings.of(
        {
            **VLLM_V1.settings,
            "num_blocks": case["num_blocks"] - 1,
            "block_size": case["block_size"],
            "prefix_caching": case.get("caching", True),
            "policy": "chunked" if given.get("chunked", True) else "continuous",
            "queue_order": "priority" if by_priority else "fcfs",
            "victim": "lowest_priority" if by_priority else "last_admitted",
            "max_num_seqs": given["max_num_seqs"],
            "max_num_batched_tokens": given["max_num_batched_tokens"],
            "max_model_len": given.get("max_model_len"),
            "watermark": given.get("watermark", 0.0),
            "admit_full_prompt": given.get("reserve_full", True),
            "long_prefill_token_threshold": given.get("long_prefill_token_threshold") or None,
            "step_time": 1.0,
        }
    )


class SchedMode:
    """The operations of the mode; every step answers with a line."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.engine = Engine(settings_of(case))
        self.groups: list[SequenceGroup] = []
        self._emit: int = case.get("emit", 1000)
        self._num_lines = 0

    @property
    def kv(self) -> PagedKV:
        kv = self.engine.kv
        assert isinstance(kv, PagedKV)
        return kv

    def add(
        self,
        id: str,
        tokens: list[int] | None = None,
        first: int = 0,
        len: int = 0,
        max_tokens: int = 16,
        priority: int = 0,
        arrival: float | None = None,
    ) -> None:
        ids = tokens if tokens is not None else list(range(first, first + len))
        time = float(self.num_added if arrival is None else arrival)
        sampling, script = SamplingParams(1, max_tokens), ((self._emit,) * max_tokens,)
        request = Request(id, time, Prompt.of_ids(ids), sampling, priority=priority, output_script=script)
        group = self.engine.submit(request)
        if group.is_finished or group.status.name == "REJECTED":
            raise Unsupported(f"request {id!r} can never run here; the recorded engine refuses nothing")
        self.groups.append(group)

    @property
    def num_added(self) -> int:
        return len(self.engine.groups)

    def step(self, n: int = 1) -> list[Result]:
        return [self._step() for _ in range(n)]

    def _step(self) -> Result:
        engine, scheduler = self.engine, self.engine.scheduler
        self._num_lines += 1
        before = astuple(scheduler.cache_stats)
        was_running = {seq.group.index for seq in scheduler.running.values()}
        was_waiting = {group.index: group.num_preemptions for group in self.groups}
        batch = engine.schedule()
        scheduled = {} if batch is None else {row.sequence.group.index: row.num_tokens for row in batch.rows}
        running = [seq.group for seq in scheduler.running.values()]
        in_order = [group for group in running if group.index in scheduled]
        entered = [group for group in in_order if group.index not in was_running]
        entered.sort(key=lambda group: group.num_preemptions > 0)
        preempted = [group for group in self.groups if group.num_preemptions > was_waiting[group.index]]
        line: Result = {
            "step": self._num_lines,
            "scheduled": {self._name(index): count for index, count in scheduled.items()},
            "total": sum(scheduled.values()),
            "new": [group.request.request_id for group in entered],
            "cached_reqs": [group.request.request_id for group in in_order if group.index in was_running],
            "resumed": [],
            "preempted": [group.request.request_id for group in preempted],
            "sampled": []
            if batch is None
            else [row.sequence.group.request.request_id for row in batch.rows if row.num_samples],
            "running": [group.request.request_id for group in running],
            "waiting": [group.request.request_id for group in scheduler.waiting],
            "computed": {group.request.request_id: group.lead.num_computed_tokens for group in self.groups},
            "tables": {group.request.request_id: list(group.lead.block_table) for group in self.groups},
            "ref": {str(block): count for block, count in self.kv.pool.used.items()},
            "free_queue": self.kv.pool.free_list.ids(),
            "prefix_cache": None,
            "finished": [],
        }
        if batch is not None:
            line |= self._update(batch, before)
        return line

    def _update(self, batch: Batch, before: tuple[int, ...]) -> Result:
        self.engine.update(batch, StepOutput(1.0))
        finished = sorted((group for group in self.groups if group.is_finished), key=lambda group: group.lead.order)
        self.groups = [group for group in self.groups if not group.is_finished]
        stats: CacheStats = self.engine.scheduler.cache_stats
        figures = dict(
            zip(FIGURES, (now - then for now, then in zip(astuple(stats), before, strict=True)), strict=True)
        )
        self.engine.check()
        return {
            "finished": [group.request.request_id for group in finished],
            "prefix_cache": figures,
            "kv_cache_usage": round(self.kv.num_used / self.kv.pool.size, 4),
        }

    def _name(self, index: int) -> str:
        return self.engine.groups[index].request.request_id


def compare(findings: Findings, case: dict[str, Any], answers: list[Result]) -> None:
    """Every step, every field of its line."""
    engine = SchedMode(case)
    lines: list[Result] = []
    for op in case["ops"]:
        operands = {name: value for name, value in op.items() if name != "op"}
        if op["op"] == "add":
            engine.add(**operands)
        elif op["op"] == "step":
            lines += engine.step(**operands)
        else:
            raise Unsupported(f"the operation {op['op']!r} has no meaning here")
    findings.equal("number of lines", len(lines), len(answers))
    for ours, wanted in zip(lines, answers, strict=False):
        where = f"step {wanted.get('step')}"
        for name, value in wanted.items():
            if name not in ours:
                findings.add(where, f"{name} is missing, expected {value}")
            elif name in UNORDERED:
                findings.equal(f"{where}: {name}", sorted(ours[name]), sorted(value))
            else:
                findings.equal(f"{where}: {name}", ours[name], value)
        findings.equal(f"{where}: fields", sorted(set(ours) - set(wanted)), [])
