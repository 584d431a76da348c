"""How much memory this process may still take, so that a model too large is refused before it is read.

Linux says how much of the host is free, and a control group may allow less; the smaller of the two counts. Where neither
is known, nothing is refused ahead of time and the allocation itself has to fail.
"""

import resource
from pathlib import Path

from engine.executor.model_error import ModelError

CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def require_memory(num_bytes: int, what: str, change: str) -> None:
    """Raises ModelError when `what` needs more than is free; `change` says what helps."""
    free = free_memory()
    if free is not None and num_bytes > free:
        raise ModelError(f"{what} needs {_megabytes(num_bytes)}, but {_megabytes(free)} of memory are free; {change}.")


def free_memory() -> int | None:
    """Bytes that can still be allocated, None where the system does not say."""
    limits = [limit for limit in (_host(), *map(_group, CONTROL_GROUPS), _address_space()) if limit is not None]
    return max(0, min(limits)) if limits else None


def _host() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def _group(files: tuple[str, str]) -> int | None:
    try:
        limit, used = (int(Path(file).read_text()) for file in files)
    except (OSError, ValueError):
        return None  # no such group, or "max"
    return limit - used


def _address_space() -> int | None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return None
    return limit - used


def _megabytes(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:,.0f} MB"
