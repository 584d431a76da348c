"""`python -m tests.bench [decode] [long_run] [caches] [player]`: these measurements, all when none is named;
a good quarter of an hour.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

from tests.bench import caches, decode, long_run, player
from tests.bench.player_bench import Plan, tiny

PARTS = ("decode", "long_run", "caches", "player")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the engine and the player.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all when none is named")
    parser.add_argument("--minutes", type=float, default=10.0, help="play that long for the memory of the player")
    parser.add_argument("--tiny", action="store_true", help="the player on a tiny run: only whether it works")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"There is no part {unknown[0]}; there are {', '.join(PARTS)}.")
    plan = tiny() if given.tiny else replace(Plan(), minutes=given.minutes)
    for part in given.parts or PARTS:
        for line in _report(part, plan):
            print(line, flush=True)
        print()


def _report(part: str, plan: Plan) -> Iterator[str]:
    if part == "player":
        return player.report(plan)
    return {"decode": decode, "long_run": long_run, "caches": caches}[part].report()


if __name__ == "__main__":
    main()
