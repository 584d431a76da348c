"""The scenarios that come with KVScope, one file each.

A file holds a story as its docstring and `SCENARIO`; it is found by being here. Beside it lies a recorded summary of
its runs, `<name>.json`, which the tests compare with a fresh run; `python -m scenarios.summary` records them anew.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from scenarios.scenario import Scenario

FOLDER = Path(__file__).parent


@cache
def load() -> dict[str, Scenario]:
    """Every scenario by name, ordered by section of the acceptance list, then by name."""
    modules = [import_module(f"{__name__}.{info.name}") for info in iter_modules([str(FOLDER)])]
    scenarios = sorted((module.SCENARIO for module in modules), key=lambda s: (s.section, s.name))
    return {scenario.name: scenario for scenario in scenarios}
