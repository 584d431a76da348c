"""Which comparison knows the recorded runs of which engine, and what those without one need.

Each engine is a file of its own beside this one, imported when one of its cases comes; here the recorded lines of a
case are found and handed over.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.cases.verdict import Findings, Unsupported

Answer = dict[str, Any]

RUNNERS: dict[tuple[str, str | None], tuple[str, str]] = {
    ("mini-sglang", "tree"): ("mini_sglang", "compare"),
    ("nano-vllm", None): ("nano_vllm", "compare"),
    ("sglang", "policy"): ("sglang", "compare_policy"),
    ("sglang", "tree"): ("sglang", "compare_tree"),
    ("vllm-v0", None): ("vllm_v0", "compare"),
    ("vllm-v1", "cache"): ("vllm_v1", "compare"),
    ("vllm-v1", "sched"): ("vllm_v1", "compare"),
}
"""(engine, mode) -> the module and its function (findings, case, answers) that compares every line."""

NEEDS = {
    "mini_sglang": "the radix tree",
    "nano_vllm": "prefix caching",
    "sglang": "the radix tree",
}


def check(case: dict[str, Any], path: Path) -> Findings:
    """Run the operations of a case and compare every line. Raises Unsupported where nothing here knows the engine."""
    engine, mode = case["engine"], case.get("mode")
    if (engine, mode) not in RUNNERS:
        raise Unsupported(f"there is no runner for the engine {engine!r} in mode {mode!r}")
    name, function = RUNNERS[engine, mode]
    try:
        runner = import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__package__}.{name}":
            raise
        raise Unsupported(f"needs {NEEDS[name]}, which is not built yet") from None
    findings = Findings()
    getattr(runner, function)(findings, case, _answers(path))
    return findings


def _answers(path: Path) -> list[Answer]:
    """The recorded lines beside a case. Raises FileNotFoundError."""
    lines = (path.parent.parent / "expected" / f"{path.stem}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
