"""Which runner knows which kind of case, and what the kinds without one need.

The runners bring the whole program with them, so they are imported here and not by the command.
"""

from pathlib import Path
from typing import Any

from tests.cases import (
    admission,
    batching,
    block_pool,
    chunk_config,
    export,
    formula,
    invariants,
    lookup,
    radix,
    schedule,
    slots,
    trace_file,
)
from tests.cases.verdict import Findings, Runner, Unsupported

RUNNERS: dict[str, Runner] = {
    "admission": admission.check,
    "batching": batching.check,
    "block_pool": block_pool.check,
    "config": chunk_config.check,
    "export": export.check,
    "formula": formula.check,
    "invariants": invariants.check,
    "lookup": lookup.check,
    "lookup_collision": lookup.check_collision,
    "queue_order": radix.check_order,
    "radix": radix.check,
    "schedule": schedule.check_run,
    "schedule_invariants": schedule.check_run,
    "slots": slots.check,
    "trace_file": trace_file.check,
}
LATER = {
    "ui": "is seen in a browser",
}


def check(case: dict[str, Any], path: Path) -> Findings:
    """Hand the case to the runner of its kind."""
    kind = case["input"]["kind"]
    if kind in LATER:
        raise Unsupported(f"kind {kind} {LATER[kind]}, which this command does not have")
    if kind not in RUNNERS:
        raise Unsupported(f"there is no runner for the kind {kind!r}")
    return RUNNERS[kind](case, path)
