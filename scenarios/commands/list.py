"""`list`: the scenarios of the catalogue."""

import json
from argparse import ArgumentParser, Namespace

from scenarios import catalogue
from scenarios.commands.table import table


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def execute(arguments: Namespace) -> int:
    scenarios = catalogue.load().values()
    if arguments.json:
        rows = [
            {
                "name": scenario.name,
                "title": scenario.title["en"],
                "section": scenario.section,
                "chips": list(scenario.chips),
                "runs": [run.name for run in scenario.runs],
            }
            for scenario in scenarios
        ]
        print(json.dumps(rows, indent=1))
        return 0
    print(table(("name", "section", "title"), [(s.name, s.section, s.title["en"]) for s in scenarios]))
    print("section: the row of `python -m scenarios check`, and of the page Check, whose numbers the scenario shows")
    return 0
