"""Which comparison knows the recorded runs of which engine, and what those without one need.

Each engine is a file of its own beside this one; here the recorded lines of a case are found and handed over.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cases.verdict import Findings, Unsupported
from tests.goldens import vllm_v0, vllm_v1

Answer = dict[str, Any]
Comparison = Callable[[Findings, dict[str, Any], list[Answer]], None]

RUNNERS: dict[tuple[str, str | None], Comparison] = {
    ("vllm-v0", None): vllm_v0.compare,
    ("vllm-v1", "cache"): vllm_v1.compare,
}
LATER = {
    ("mini-sglang", "tree"): "needs the radix tree",
    ("nano-vllm", None): "needs prefix caching",
    ("sglang", "policy"): "needs the radix tree",
    ("sglang", "tree"): "needs the radix tree",
    ("vllm-v1", "sched"): "needs the scheduler preset of vLLM V1",
}


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run the operations of a case and compare every line."""
    kind = (case["engine"], case.get("mode"))
    if kind in LATER:
        raise Unsupported(f"{LATER[kind]}, which is not built yet")
    if kind not in RUNNERS:
        raise Unsupported(f"there is no runner for the engine {kind[0]!r} in mode {kind[1]!r}")
    findings = Findings()
    RUNNERS[kind](findings, case, _answers(path))
    return findings


def _answers(path: Path) -> list[Answer]:
    """The recorded lines beside a case. Raises FileNotFoundError."""
    lines = (path.parent.parent / "expected" / f"{path.stem}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
