"""A scheduler step with a prefix cache, written down as plainly as possible: whole lists, contents spelled out.

It follows the description of vLLM V1: running requests in order, then waiting ones; blocks are known as soon as the
step that fills them is scheduled, by all tokens from the start; all equal blocks stay known, the first is found. The
engine has to take every decision as this does, block by block.
"""

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Asked:
    """A request; its model answers `emit` again and again."""

    name: str
    prompt: list[int]
    output: int
    emit: int = 0
    priority: int = 0
    arrival: float = 0.0
    computed: int = 0
    tokens: list[int] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    num_hashed: int = 0
    was_preempted: bool = False

    def __post_init__(self) -> None:
        self.tokens = list(self.prompt)

    @property
    def importance(self) -> tuple[int, float, str]:
        return self.priority, self.arrival, self.name


@dataclass(slots=True, kw_only=True)
class Limits:
    """The numbers of a run."""

    num_blocks: int
    block_size: int
    seats: int
    budget: int
    chunked: bool = True
    reserve_full: bool = True
    by_priority: bool = False
    watermark: float = 0.0
    threshold: int = 0
    caching: bool = True
    uncached_first: bool = True


class PlainCachedRules:
    """One step after the other; blocks have the ids 1 .. num_blocks."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.free = list(range(1, limits.num_blocks + 1))
        self.refs = dict.fromkeys(self.free, 0)
        self.content: dict[int, tuple[int, ...]] = {}
        self.running: list[Asked] = []
        self.waiting: list[Asked] = []
        self.scheduled: dict[str, int] = {}
        self.preempted: list[str] = []
        self.looked_up = [0, 0, 0, 0]

    def add(self, request: Asked) -> None:
        self.waiting.append(request)
        if self.limits.by_priority:
            self.waiting.sort(key=lambda other: other.importance)

    def schedule(self) -> None:
        """Who computes how many tokens in this step."""
        self.scheduled, self.preempted, self.looked_up = {}, [], [0, 0, 0, 0]
        self.left = self.limits.budget
        place = 0
        while place < len(self.running) and self.left > 0:
            place = self._serve(place)
        if not self.preempted:
            while self.waiting and self.left > 0 and len(self.running) < self.limits.seats:
                if not self._admit(self.waiting[0]):
                    break

    def update(self) -> list[str]:
        """Tokens are known, finished requests leave; returns these."""
        finished = []
        for request in list(self.running):
            if request.name not in self.scheduled or request.computed < len(request.tokens):
                continue
            request.tokens.append(request.emit)
            if len(request.tokens) == len(request.prompt) + request.output:
                finished.append(request.name)
                self.running.remove(request)
                self._give_back(request)
        return finished

    def _serve(self, place: int) -> int:
        """The running request at this place gets its tokens; returns the next place. Behind one that has to give up
        its own memory the others go on."""
        request = self.running[place]
        tokens = min(self._cut(len(request.tokens) - request.computed), self.left)
        while not self._allocate(request, [], tokens, 0):
            if self.limits.by_priority:
                in_parts = self.limits.chunked and not self.limits.reserve_full
                equals = reversed(self.running) if in_parts else self.running
                victim = max(equals, key=lambda other: (other.priority, other.arrival))
            else:
                victim = self.running[-1]
            if victim.name in self.scheduled:
                place -= 1
                self.left += self.scheduled.pop(victim.name)
            self._preempt(victim)
            if victim is request:
                return place
        self._compute(request, tokens)
        return place + 1

    def _preempt(self, victim: Asked) -> None:
        self.running.remove(victim)
        self._give_back(victim)
        victim.computed, victim.was_preempted = 0, True
        self.preempted.append(victim.name)
        self.waiting.insert(0, victim)
        if self.limits.by_priority:
            self.waiting.sort(key=lambda other: other.importance)

    def _admit(self, request: Asked) -> bool:
        hit = self._hit(request)
        computed = len(hit) * self.limits.block_size
        tokens = self._cut(len(request.tokens) - computed)
        if not self.limits.chunked and tokens > self.left:
            return False
        tokens = min(tokens, self.left)
        keep = int(self.limits.watermark * (self.limits.num_blocks + 1)) if self.running else 0
        if self.limits.reserve_full and self._needed(request, hit, len(request.tokens)) + keep > len(self.free):
            return False
        if not self._allocate(request, hit, tokens, keep):
            return False
        where = 2 if request.was_preempted else 0
        self.looked_up[where] += len(request.tokens) if self.limits.caching else 0
        self.looked_up[where + 1] += computed
        self.waiting.pop(0)
        self.running.append(request)
        request.computed = computed
        self._compute(request, tokens)
        return True

    def _cut(self, tokens: int) -> int:
        is_only = len(self.running) + len(self.waiting) == 1
        return min(tokens, self.limits.threshold) if self.limits.threshold and not is_only else tokens

    def _compute(self, request: Asked, tokens: int) -> None:
        self.scheduled[request.name] = tokens
        self.left -= tokens
        request.computed += tokens

    # blocks

    def _prefix(self, request: Asked, index: int) -> tuple[int, ...]:
        return tuple(request.tokens[: (index + 1) * self.limits.block_size])

    def _hit(self, request: Asked) -> list[int]:
        """The first block of each leading content that is known."""
        blocks: list[int] = []
        if not self.limits.caching:
            return blocks
        for index in range((len(request.tokens) - 1) // self.limits.block_size):
            known = [block for block, content in self.content.items() if content == self._prefix(request, index)]
            if not known:
                break
            blocks.append(known[0])
        return blocks

    def _needed(self, request: Asked, hit: list[int], num_tokens: int) -> int:
        """New blocks, and hits that would leave the free list."""
        new = -(-num_tokens // self.limits.block_size) - len(request.table) - len(hit)
        return max(new, 0) + sum(self.refs[block] == 0 for block in hit)

    def _allocate(self, request: Asked, hit: list[int], tokens: int, keep: int) -> bool:
        end = request.computed + len(hit) * self.limits.block_size + tokens
        if self._needed(request, hit, end) + keep > len(self.free):
            return False
        for block in hit:
            if self.refs[block] == 0:
                self.free.remove(block)
            self.refs[block] += 1
        request.table += hit
        if hit:
            request.num_hashed = len(hit)
        while len(request.table) * self.limits.block_size < end:
            block = self.free.pop(0)
            self.content.pop(block, None)
            self.refs[block] = 1
            request.table.append(block)
        while self.limits.caching and (request.num_hashed + 1) * self.limits.block_size <= end:
            self.content[request.table[request.num_hashed]] = self._prefix(request, request.num_hashed)
            request.num_hashed += 1
        return True

    def _give_back(self, request: Asked) -> None:
        gone = []
        for block in reversed(request.table):
            self.refs[block] -= 1
            if not self.refs[block]:
                gone.append(block)
        if self.limits.uncached_first:
            self.free = [block for block in gone if block not in self.content] + self.free
            gone = [block for block in gone if block in self.content]
        self.free += gone
        request.table, request.num_hashed = [], 0
