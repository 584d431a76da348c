"""The command line as tests call it: what it prints for machines, and the one sentence that bad input costs."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


def json_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def sentence(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(list(map(str, arguments))) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and "Traceback" not in err
    return err.strip()
