"""The rules of a run, written down as plainly as possible: one loop, whole lists, no cleverness.

It is slow and knows one sample a request. The engine has to take every decision as this does.
"""

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Asked:
    """A request of `prompt` + `output` tokens that arrives at `arrival`."""

    name: str
    arrival: int
    prompt: int
    output: int
    computed: int = 0
    emitted: int = 0
    held: int = 0

    @property
    def known(self) -> int:
        return self.prompt + self.emitted


@dataclass(slots=True)
class Step:
    """What happened in one step, ids in the order of the rules."""

    time: int
    scheduled: dict[str, int] = field(default_factory=dict)
    emitted: list[str] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    preempted: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    free_blocks: int = 0


class PlainRules:
    """Runs requests step by step. `chunked` lets a prompt be computed in parts, `static` batches start and end together."""

    def __init__(
        self, num_blocks: int, block_size: int, seats: int, budget: int, *, chunked: bool, static: bool, full: bool
    ) -> None:
        self.num_blocks = self.free = num_blocks
        self.block_size, self.seats, self.budget = block_size, seats, budget
        self.chunked, self.static, self.full = chunked, static, full
        self.running: list[Asked] = []
        self.waiting: list[Asked] = []

    def run(self, requests: list[Asked]) -> list[Step]:
        """All steps. Requests have to be in order of arrival."""
        steps, time, pending = [], 0, list(requests)
        while pending or self.running or self.waiting:
            step = Step(time)
            while pending and pending[0].arrival <= time:
                request = pending.pop(0)
                if self.can_never_run(request):
                    step.rejected.append(request.name)
                else:
                    self.waiting.append(request)
            if not self.running and not self.waiting:
                time = pending[0].arrival if pending else time
                continue
            self.left, was_running = self.budget, bool(self.running)
            self.serve(step)
            if not step.preempted and not (self.static and was_running):
                self.admit(step)
            self.emit(step)
            step.free_blocks = self.free
            steps.append(step)
            time += 1
        return steps

    def can_never_run(self, request: Asked) -> bool:
        too_long = self.blocks(request.prompt + request.output - 1) > self.num_blocks
        return request.output == 0 or too_long or (not self.chunked and request.prompt > self.budget)

    def blocks(self, tokens: int) -> int:
        return -(-tokens // self.block_size)

    def serve(self, step: Step) -> None:
        """Running requests in order of admission; who lacks a block takes it from the one admitted last."""
        for request in list(self.running):
            tokens = min(request.known - request.computed, self.left)
            if request not in self.running or tokens == 0:
                continue
            while self.blocks(request.computed + tokens) - request.held > self.free:
                victim = self.running.pop()
                self.free += victim.held
                victim.held = victim.computed = 0
                self.waiting.insert(0, victim)
                step.preempted.append(victim.name)
                if victim is request:
                    break
            else:
                self.compute(step, request, tokens)

    def admit(self, step: Step) -> None:
        while self.waiting and len(self.running) < self.seats and self.left > 0:
            request = self.waiting[0]
            tokens = min(request.known, self.left) if self.chunked else request.known
            alone = not self.running and tokens > self.budget
            if tokens > self.left and not alone:
                return
            if self.blocks(request.known if self.full else tokens) > self.free:
                return
            self.running.append(self.waiting.pop(0))
            step.admitted.append(request.name)
            self.compute(step, request, tokens)

    def compute(self, step: Step, request: Asked, tokens: int) -> None:
        more = self.blocks(request.computed + tokens) - request.held
        request.held += more
        self.free -= more
        request.computed += tokens
        self.left -= tokens
        step.scheduled[request.name] = tokens

    def emit(self, step: Step) -> None:
        for request in list(self.running):
            if request.name in step.scheduled and request.computed == request.known:
                request.emitted += 1
                step.emitted.append(request.name)
                if request.emitted == request.output:
                    self.running.remove(request)
                    self.free += request.held
                    step.finished.append(request.name)
