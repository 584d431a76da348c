"""`python -m tests.workloads [--json]`: counts and rates of known workloads; exit status 1 if a count is not exact.

Rates are per second of processor time; they only compare with rates taken side by side on one machine.
"""

import argparse
import json
import sys

from tests.workloads.targets import TARGETS, WORKLOADS, misses


def main(argv: list[str]) -> int:
    """Print every workload, as JSON or as lines; the exit status says whether all counts are the engines'."""
    parser = argparse.ArgumentParser(prog="python -m tests.workloads", description="Known workloads on the managers.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args(argv).json
    results = {name: workload() for name, workload in WORKLOADS.items()}
    missed = misses(results)
    if as_json:
        shown = {name: {**figures, "targets": TARGETS.get(name, {})} for name, figures in results.items()}
        print(json.dumps({**shown, "missed": missed}, indent=1))
    else:
        for name, figures in results.items():
            print(name, ", ".join(f"{key} {_shown(value)}" for key, value in figures.items()))
        num_targets = sum(map(len, TARGETS.values()))
        print(*missed, f"{num_targets - len(missed)} of {num_targets} counts are exact", sep="\n")
    return int(bool(missed))


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.4f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
