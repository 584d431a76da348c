"""`python -m tests.bench [decode] [long_run] [caches] [player] [live]`: these measurements, all when none is named;
about an hour.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

from tests.bench import caches, decode, long_run, player
from tests.bench.player_bench import Plan, tiny

PARTS = ("decode", "long_run", "caches", "player", "live")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the engine and the player.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all when none is named")
    parser.add_argument("--minutes", type=float, default=10.0, help="play that long for the memory of the player")
    parser.add_argument("--tiny", action="store_true", help="player and live on tiny runs: only whether they work")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"There is no part {unknown[0]}; there are {', '.join(PARTS)}.")
    plan = tiny() if given.tiny else replace(Plan(), minutes=given.minutes)
    for part in given.parts or PARTS:
        for line in _report(part, plan, given.tiny):
            print(line, flush=True)
        print()


def _report(part: str, plan: Plan, is_tiny: bool) -> Iterator[str]:
    if part == "player":
        return player.report(plan)
    if part == "live":
        from tests.bench import live  # brings torch and transformers, which the other parts do without

        return live.report(is_tiny)
    return {"decode": decode, "long_run": long_run, "caches": caches}[part].report()


if __name__ == "__main__":
    main()
