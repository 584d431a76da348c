"""How much memory a run would take, and the refusal of one that would not fit.

A trace grows with what changes hands: a few rows for every block that is taken, filled and released, a few for every
request, one for every step; a radix tree keeps every token besides. The prices are measured and the estimate is an upper bound without preemptions; a request
that can never be served counts nothing. What an operation on the pool takes is counted in `ops.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.request import Request
from engine.settings import Settings
from scenarios.fields import ScenarioError

BYTES_PER_BLOCK = 550
"""Of one block from its allocation to its release: two rows of a table and three of the pool, each kept twice."""
BYTES_PER_REQUEST = 4_000
BYTES_PER_STEP = 400
BYTES_PER_PAGE = 230
"""Of one page in a radix tree, beyond what a block costs."""
BYTES_PER_TOKEN = 25
"""Of one token that a radix tree ever held: the trace keeps it and its slot."""
BYTES_PER_KEPT_TOKEN = 90
"""Of one token that is in the tree: its number and its slot in a node, and once more in who computed it."""
SHARE_OF_FREE_MEMORY = 0.5
"""Figures, files and the way to the browser need the rest."""
FEWER_REQUESTS = "fewer or shorter requests"
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that the trace of a run needs at most, by what they are spent on."""

    requests: int
    blocks: int
    steps: int
    tree: int = 0

    @classmethod
    def of(cls, num_requests: int, num_blocks: int, num_steps: int) -> "Need":
        return cls(num_requests * BYTES_PER_REQUEST, num_blocks * BYTES_PER_BLOCK, num_steps * BYTES_PER_STEP)

    def with_tree(self, num_tokens: int, settings: Settings) -> "Need":
        """The same for a radix tree that is given so many tokens; no more of them than the pool has slots are kept."""
        kept = num_tokens if settings.pool_tokens is None else min(num_tokens, settings.pool_tokens)
        num_pages = num_tokens // settings.block_size
        tree = num_pages * BYTES_PER_PAGE + num_tokens * BYTES_PER_TOKEN + kept * BYTES_PER_KEPT_TOKEN
        return replace(self, tree=tree)

    @property
    def total(self) -> int:
        return self.requests + self.blocks + self.steps + self.tree


def estimate(settings: Settings, requests: Iterable[Request]) -> Need:
    """What this run needs at most."""
    pool = settings.pool_blocks
    num_requests = num_blocks = num_steps = num_stored = 0
    for request in requests:
        num_requests += request.sampling.n
        num_steps += request.sampling.max_tokens
        num_tokens = request.prompt.num_tokens + max(request.sampling.max_tokens - 1, 0)
        if settings.max_model_len is not None:
            num_tokens = min(num_tokens, settings.max_model_len)
        needed = -(-num_tokens // settings.block_size)
        if settings.has_blocks and (pool is None or needed <= pool):
            num_blocks += request.sampling.n * needed
            num_stored += request.sampling.n * num_tokens
    need = Need.of(num_requests, num_blocks, min(num_steps, settings.max_steps))
    return need.with_tree(num_stored, settings) if settings.kv_manager == "radix" else need


def refuse_if_too_large(need: Need, advice: str = FEWER_REQUESTS) -> None:
    """Raises ScenarioError when the need exceeds the memory that this machine can spare.

    `advice` is what the caller's user can take less of; a setting is named where most of the memory depends on it.
    """
    limit = int(available() * SHARE_OF_FREE_MEMORY)
    if need.total <= limit:
        return
    setting = ""
    if need.blocks > need.total / 2:
        setting = ", or a larger block_size"
    elif need.steps > need.total / 2:
        setting = ", or a smaller max_steps"
    raise ScenarioError(
        f"this run would need about {_gigabytes(need.total)} of memory and {_gigabytes(limit)} can be spared; "
        f"take {advice}{setting}."
    )


def available() -> int:
    """Bytes that this process may still take: what the machine has left, or its control group, whichever is less."""
    return min(_machine_has(), _group_has())


def _machine_has() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return 4 * 2**30


def _group_has() -> int:
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        return limit - int((_CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return 2**62


def _gigabytes(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:,.1f} GB"
