"""Made-up but consistent runs: a serving engine in small, for tests and measurements of everything that reads traces.

Sequences are admitted, fill blocks, fork, copy, are preempted and finish; every row is what a recorder would write. It
shares no code with the engine, so that a fault in one of the two cannot hide in the other.
"""

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.request import SequenceStatus as S
from engine.trace.chunk import Chunk
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, DECISION_COLUMNS, HAPPENING_COLUMNS, HAPPENINGS, REASONS, RESOURCES, SPECS
from engine.trace.track import STEP_COLUMNS as STEPS


@dataclass(slots=True, eq=False)
class Answer:
    """One sequence: `blocks` is its table, `left` the tokens still to come, `computed` those in memory."""

    index: int
    request: int
    prompt_len: int
    left: int
    computed: int = 0
    seat: int = -1
    blocks: list[int] = field(default_factory=list)
    border: int = -1


def small(seed: int = 1) -> Trace:
    """64 blocks of 4 slots, 200 steps, with copies and preemptions."""
    return SyntheticRun(num_blocks=64, block_size=4, max_num_seqs=12, load=0.2, seed=seed).run(200)


def large(seed: int = 1, num_steps: int = 10_000) -> Trace:
    """25,600 blocks of 16 slots; about 200 sequences run at a time."""
    run = SyntheticRun(25_600, 16, max_num_seqs=256, load=0.75, prompt=(50, 400), output=(100, 450), seed=seed)
    return run.run(num_steps)


class SyntheticRun:
    """`load` is the mean number of requests that arrive at a step; `prompt` and `output` are ranges of tokens."""

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        max_num_seqs: int,
        load: float,
        prompt: tuple[int, int] = (3, 30),
        output: tuple[int, int] = (2, 60),
        seed: int = 0,
    ) -> None:
        self.block_size, self.max_num_seqs, self.load = block_size, max_num_seqs, load
        self.num_blocks, self.prompt, self.output, self.seed = num_blocks, prompt, output, seed
        self.random, self.arrivals = random.Random(seed), np.random.default_rng(seed)
        self.free = deque(range(num_blocks))
        self.refs, self.owner = [0] * num_blocks, [-1] * num_blocks
        self.event = self.step = self.num_sequences = 0
        self.requests: list[dict[str, Any]] = []
        self.answers: list[list[Answer]] = []
        self.waiting: deque[int] = deque()
        self.running: list[Answer] = []
        self.fresh: list[Answer] = []
        self.at_border: dict[int, list[Answer]] = {}
        self.slots: dict[tuple[int, int], int] = {}
        self.preemptions: dict[int, int] = {}
        self.rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in SPECS if name != "strips"}
        self.steps: list[tuple[int, ...]] = []
        self.times: list[tuple[float, float]] = []
        self.happenings: list[tuple[int, ...]] = []
        self.decisions: list[tuple[int, ...]] = []
        self.clock = 0.0

    def run(self, num_steps: int) -> Trace:
        for self.step in range(num_steps):
            self._one_step()
        header = {
            "format": 1,
            "name": "synthetic",
            "settings": {"block_size": self.block_size, "num_blocks": self.num_blocks, "seed": self.seed},
            "pools": [{"name": "gpu", "first": 0, "size": self.num_blocks}],
            "block_size": self.block_size,
            "tracks": list(self.rows),
            "time_unit": "s",
        }
        return Trace.of(header, [self.chunk()])

    def chunk(self) -> Chunk:
        def table(rows: list[tuple[int, ...]], num_columns: int) -> np.ndarray:
            return np.array(rows, np.int32).reshape(-1, num_columns)

        return Chunk(
            num_events=self.event,
            requests=self.requests,
            rows={name: table(rows, 2 + len(SPECS[name].columns)) for name, rows in self.rows.items()},
            keys={"tables": table(list(self.slots), 2)},
            steps=table(self.steps, len(STEPS)),
            times=np.array(self.times, np.float64).reshape(-1, 2),
            happenings=table(self.happenings, len(HAPPENING_COLUMNS)),
            decisions=table(self.decisions, len(DECISION_COLUMNS)),
        )

    def _one_step(self) -> None:
        begin = self.event
        self._arrive()
        for answer in self.at_border.pop(self.step, []):
            if answer.border == self.step:
                self._grow(answer)
        self._admit()
        self._event("advanced", amount=len(self.running))
        for answer in self.fresh:
            self._put("sequences", answer.index, S.PREFILL, answer.seat, answer.computed, answer.computed, 0)
            for index, block in enumerate(answer.blocks):
                self._block(block, min(self.block_size, answer.computed - index * self.block_size))
        scheduled = self.event
        waiting, running = len(self.waiting), len(self.running)
        used = self.num_blocks - len(self.free)
        for answer in self.fresh:
            self._start_decoding(answer)
        for answer in [a for a in self.running if a.left == 0]:
            self._finish(answer)
        duration = 0.01 + 0.00001 * running + 0.001 * len(self.fresh)
        self.fresh = []
        self.steps.append((begin, scheduled, scheduled, self.event, running, running, running, waiting, used, running))
        self.times.append((self.clock, self.clock + duration))
        self.clock += duration
        for answer in self.running:
            answer.computed += 1
            answer.left -= 1

    def _arrive(self) -> None:
        for _ in range(int(self.arrivals.poisson(self.load))):
            request, n = len(self.requests), self.random.choice((1, 1, 1, 3))
            prompt_len, output_len = self.random.randint(*self.prompt), self.random.randint(*self.output)
            fields = {"id": f"r{request}", "prompt_len": prompt_len, "output_len": output_len, "n": n}
            fields |= {"arrival_s": self.clock, "tenant": "", "priority": 0, "after": None}
            self.requests.append({**fields, "first_sequence": self.num_sequences})
            first = self.num_sequences
            self.answers.append([Answer(first + i, request, prompt_len, output_len) for i in range(n)])
            self.num_sequences += n
            self._event("arrived", request, amount=prompt_len)
            self._put("requests", request, S.WAITING, len(self.waiting), 0)
            self.waiting.append(request)

    def _admit(self) -> None:
        while self.waiting:
            request = self.waiting[0]
            first, *others = self.answers[request]
            tokens = first.prompt_len + first.computed
            needed = -(-tokens // self.block_size)
            if needed + 1 + len(others) > self.num_blocks // 2:
                self._event("rejected", request, amount=needed)
                self._decide("reject", "never_fits", request, "blocks", needed, self.num_blocks // 2)
                self._put("requests", request, S.REJECTED, -1, 0)
                self.waiting.popleft()
                continue
            if needed > len(self.free):
                return self._decide("skip", "no_block", request, "blocks", needed, len(self.free))
            num_coming = sum(len(self.answers[answer.request]) - 1 for answer in self.fresh)
            if len(self.running) + num_coming + 1 + len(others) > self.max_num_seqs:
                return self._decide("skip", "no_seat", request, "seats", 1 + len(others), self.max_num_seqs)
            self.waiting.popleft()
            self._event("admitted", request, amount=tokens)
            self._decide("admit", "fits", request, "blocks", needed, len(self.free))
            self._put("requests", request, S.PREFILL, -1, self.preemptions.get(request, 0))
            first.blocks = [self._take(first) for _ in range(needed)]
            first.computed = tokens
            self._happen("allocated", request, first.index, first.blocks[-1], amount=needed)
            self._seat(first)
            self._put("sequences", first.index, S.PREFILL, first.seat, tokens, 0, 0)
            for index, block in enumerate(first.blocks):
                self._entry(first, index, block)
                self._block(block, 0)
            self.fresh.append(first)

    def _seat(self, answer: Answer) -> None:
        answer.seat = min(set(range(self.max_num_seqs)) - {a.seat for a in self.running})
        self.running.append(answer)

    def _start_decoding(self, first: Answer) -> None:
        """The first token is there: the other samples fork, and each sequence grows by one token a step from now on."""
        self.event += 1
        self._put("requests", first.request, S.DECODE, -1, self.preemptions.get(first.request, 0))
        for answer in self.answers[first.request]:
            if answer is not first:
                self.event += 1
                self._seat(answer)
                answer.blocks, answer.computed = list(first.blocks), first.computed
                for index, block in enumerate(answer.blocks):
                    self._entry(answer, index, block)
                    self.refs[block] += 1
                    self._happen("shared", answer.request, answer.index, block, amount=self.refs[block])
                    self._block(block, min(self.block_size, first.computed - index * self.block_size))
            answer.border = self.step + 1
            self.at_border.setdefault(self.step + 1, []).append(answer)
            counters = (answer.computed + 1, answer.computed, int(answer.left > 0))
            self._put("sequences", answer.index, S.DECODE, answer.seat, *counters)

    def _grow(self, answer: Answer) -> None:
        """The next token needs a new block, or a block of its own where others still read the last one."""
        filled = answer.computed % self.block_size
        shared = filled > 0 and self.refs[answer.blocks[-1]] > 1
        if (shared or not filled) and not self.free and not self._preempt(answer):
            return
        if shared:
            source = answer.blocks[-1]
            self._event("copied", answer.request, answer.index, source, self.free[0], amount=filled)
            self._give(answer, len(answer.blocks) - 1, self._take(answer))
            self.refs[source] -= 1
            self._block(source, filled)
        elif not filled:
            self._event("allocated", answer.request, answer.index, self.free[0], amount=1)
            self._block(answer.blocks[-1], self.block_size)
            self._give(answer, len(answer.blocks), self._take(answer))
        else:
            self._event("written_in_place", answer.request, answer.index, answer.blocks[-1])
        self._block(answer.blocks[-1], filled, rate=1)
        answer.border = self.step + self.block_size - filled
        self.at_border.setdefault(answer.border, []).append(answer)

    def _preempt(self, needy: Answer) -> bool:
        """Make room for `needy` at the cost of the request admitted last; False when that is its own."""
        request = self.running[-1].request
        self._event("preempted", request, amount=self.running[-1].computed)
        self._decide("preempt", "no_block", request, "blocks", 1, 0, needy.request)
        self.preemptions[request] = self.preemptions.get(request, 0) + 1
        for answer in self.answers[request]:
            self._leave(answer, S.PREEMPTED)
        self.fresh = [a for a in self.fresh if a.request != request]
        self.waiting.appendleft(request)
        self._put("requests", request, S.PREEMPTED, 0, self.preemptions[request])
        return needy.request != request

    def _finish(self, answer: Answer) -> None:
        self._event("released", answer.request, answer.index, amount=len(answer.blocks))
        self._leave(answer, S.FINISHED)
        if all(a.left == 0 for a in self.answers[answer.request]):
            request = self.requests[answer.request]
            self._event("finished", answer.request, amount=request["output_len"] * request["n"])
            self._put("requests", answer.request, S.FINISHED, -1, self.preemptions.get(answer.request, 0))

    def _leave(self, answer: Answer, status: S) -> None:
        if answer in self.running:
            self.running.remove(answer)
        self._put("sequences", answer.index, status, -1, answer.computed, answer.computed, 0)
        for index, block in enumerate(answer.blocks):
            self._entry(answer, index, -1)
            self.refs[block] -= 1
            if not self.refs[block]:
                self.owner[block] = -1
                self.free.append(block)
                self._put("blocks", block, *SPECS["blocks"].defaults, 0)
            else:
                self._block(block, min(self.block_size, max(answer.prompt_len - index * self.block_size, 0)))
        answer.blocks, answer.border, answer.seat = [], -1, -1
        if status != S.FINISHED:
            answer.computed = 0

    def _take(self, answer: Answer) -> int:
        block = self.free.popleft()
        self.refs[block], self.owner[block] = 1, answer.index
        return block

    def _give(self, answer: Answer, index: int, block: int) -> None:
        answer.blocks[index:] = [block]
        self._entry(answer, index, block)

    def _block(self, block: int, fill: int, rate: int = 0) -> None:
        self._put("blocks", block, 1, self.refs[block], self.owner[block], fill, rate)

    def _entry(self, answer: Answer, index: int, block: int) -> None:
        slot = self.slots.setdefault((answer.index, index), len(self.slots))
        self._put("tables", slot, block)

    def _put(self, track: str, key: int, *values: int) -> None:
        self.rows[track].append((self.event, key, *values))

    def _event(self, kind: str, request: int = -1, *columns: int, amount: int = 0) -> None:
        self.event += 1
        self._happen(kind, request, *columns, amount=amount)

    def _happen(
        self, kind: str, request: int, sequence: int = -1, block: int = -1, target: int = -1, *, amount: int = 0
    ) -> None:
        self.happenings.append((self.event, HAPPENINGS.index(kind), request, sequence, block, target, amount))

    def _decide(
        self, action: str, reason: str, request: int, resource: str, needed: int, available: int, other: int = -1
    ) -> None:
        codes = (ACTIONS.index(action), REASONS.index(reason), request, RESOURCES.index(resource))
        self.decisions.append((max(self.event, 1), *codes, needed, available, other))
