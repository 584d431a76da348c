"""What is recorded of a run beside its scenario: a few counts, and the hash of the state at five moments.

The tests run every scenario again and compare. A change that is meant is recorded anew by
`python -m scenarios.summary [NAME ...]`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from engine.trace.metrics import measure
from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run_all
from scenarios.scenario import Scenario

NUM_MOMENTS = 5


def summary(trace: Trace) -> dict[str, Any]:
    """Counts of the whole run; peaks over its `scheduled` cuts; the CRC-32 of some of these cuts by step, in hex."""
    figures = measure(trace)
    last = trace.num_steps - 1
    moments = sorted({round(last * i / (NUM_MOMENTS - 1)) for i in range(NUM_MOMENTS)}) if trace.num_steps else []
    return {
        "steps": trace.num_steps,
        "events": trace.num_events,
        "requests": len(trace.requests),
        "finished": figures.num_finished,
        "rejected": figures.num_rejected,
        "preemptions": figures.num_preemptions,
        "copies": figures.num_cow_copies,
        "peak_running": int(trace.steps["num_running"].max(initial=0)),
        "peak_used": int(trace.steps["num_used"].max(initial=0)),
        "duration_s": round(figures.duration, 6),
        "frames": {str(step): f"{trace.cut(step=step, at='scheduled').crc():08x}" for step in moments},
    }


def summaries(scenario: Scenario) -> dict[str, Any]:
    """The summary of every run by name."""
    return {name: summary(trace) for name, trace in run_all(scenario).items()}


def recorded_at(scenario: Scenario) -> Path:
    return catalogue.FOLDER / f"{scenario.name.replace('-', '_')}.json"


def main(names: list[str]) -> None:
    """Record the named scenarios, all of them without a name."""
    scenarios = catalogue.load()
    for name in names or scenarios:
        path = recorded_at(scenarios[name])
        path.write_text(json.dumps(summaries(scenarios[name]), indent=1) + "\n", encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
