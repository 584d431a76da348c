"""Who may import whom: the table of the design, held against the imports that the files really make.

Every import counts, also one inside a function, because a late import is still a dependency.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("engine", "scenarios", "viz", "tests", "app")

PUBLIC_ENGINE = (
    "engine.trace",
    "engine.settings",
    "engine.request",
    "engine.loop",
    "engine.live",
    "engine.script",
    "engine.prediction",
    "engine.executor.cost_model",
    "engine.executor.calibration",
    "scenarios",
    "viz",
)

SIMULATED = ("executor", "simulated", "scripted", "cost_model", "calibration", "non_negative")
MODEL_PACKAGES = ("gguf", "jinja2", "safetensors", "tokenizers", "torch", "triton")

MODEL_DOOR = (
    "engine.executor.loaded_model",
    "engine.executor.model_error",
    "engine.executor.model_files",
    "engine.sequence",
)

# The first row whose name fits a module decides: what it may import of ours, and which packages from outside.
RULES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("engine.trace", ("engine.trace",), ("numpy",)),
    # the files of the simulator; what else an executor needs comes with the model that is chosen
    *((f"engine.executor.{name}", ("engine",), ("numpy",)) for name in SIMULATED),
    ("engine.executor", ("engine",), ("numpy", *MODEL_PACKAGES)),
    ("engine", ("engine",), ("numpy",)),
    ("scenarios.__main__", ("engine", "scenarios", "viz"), ("numpy",)),
    ("scenarios.commands", ("engine", "scenarios", "viz"), ("numpy",)),
    ("scenarios", ("engine", "scenarios"), ("numpy",)),
    # one page runs a model
    ("viz.pages.parts.live_model", (*PUBLIC_ENGINE, *MODEL_DOOR), ("streamlit",)),
    # the pages join the parts: they fill in settings and start engines, but never reach into scheduler or memory
    ("viz.pages", PUBLIC_ENGINE, ("numpy", "streamlit")),
    # the browser gets the words of a trace from the engine
    ("viz.player.vocabulary", ("engine.trace", "engine.request"), ()),
    ("viz.player", ("engine.trace", "scenarios", "viz"), ("minify", "numpy", "streamlit")),
    # what a file asks for can be drawn before anything has run
    ("viz.charts", ("engine.trace", "engine.request", "scenarios", "viz"), ("altair", "numpy")),
    ("viz", ("engine.trace", "scenarios", "viz"), ("altair", "numpy")),
    ("app", ("viz",), ("streamlit",)),
)


def _modules() -> dict[str, Path]:
    files = [ROOT / "app.py", *(p for name in ("engine", "scenarios", "viz") for p in (ROOT / name).rglob("*.py"))]
    return {_name(path): path for path in sorted(files)}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports_of(name: str, path: Path) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return _imports(path.read_text(encoding="utf-8"), package.split("."))


def _imports(source: str, package: list[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from engine import batch` may name a module: then that is what is imported
            names = [f"{module}.{alias.name}" for alias in node.names]
            yield from (full if _is_module(full) else module for full in names)


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def _complaints(name: str, imported: Iterator[str]) -> list[str]:
    ours, outside = next((ours, outside) for prefix, ours, outside in RULES if _within(name, (prefix,)))
    complaints = []
    for other in imported:
        top = other.split(".")[0]
        allowed = _within(other, ours) if top in OURS else top in sys.stdlib_module_names or top in outside
        if not allowed:
            complaints.append(f"{name} imports {other}")
    return complaints


@pytest.mark.parametrize("name", sorted(_modules()))
def test_a_module_imports_only_what_the_design_allows(name: str) -> None:
    assert _complaints(name, _imports_of(name, _modules()[name])) == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("engine.trace.trace", "engine.settings"),
        ("engine.scheduler.base", "scenarios.scenario"),
        ("engine.loop", "torch"),
        ("engine.executor.simulated", "torch"),
        ("scenarios.scenario", "viz.player"),
        ("viz.player.wire", "engine.scheduler.base"),
        ("viz.pages.stage", "engine.kv.paged"),
        ("viz.charts.latency", "streamlit"),
    ],
)
def test_the_table_refuses_what_the_design_forbids(name: str, other: str) -> None:
    assert _complaints(name, iter([other])) == [f"{name} imports {other}"]


def test_the_simulator_runs_without_the_packages_of_a_model() -> None:
    """Everything but a model: engine, live engine without one, command line."""
    modules = "engine.loop, engine.live, engine.script, engine.executor.calibration, scenarios.__main__, scenarios.run"
    code = f"import sys, {modules}; print(sorted({set(MODEL_PACKAGES) - {'jinja2'}!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_late_and_relative_imports_count() -> None:
    source = (
        "def late():\n    from ..settings import Settings\n    import numpy as np\n    from engine import request\n"
    )
    assert list(_imports(source, ["engine", "trace"])) == ["engine.settings", "numpy", "engine.request"]
