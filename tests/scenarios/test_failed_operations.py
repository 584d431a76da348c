"""What `scenarios run` says of operations that failed in a story of block operations."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.__main__ import main
from tests.scenarios.command import json_of


def _story(path: Path, ops: list[list[Any]], **settings: Any) -> Path:
    given = {"kvscope_scenario": 1, "name": "story", "title": {"en": ""}, "story": {"en": ""}, "ops": ops}
    path.write_text(json.dumps(given | {"settings": settings}))
    return path


def test_operations_that_fail_are_named_with_their_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ops = [["allocate", "a", 8], ["append", "a", 1], ["free", "b"], ["free", "a"]]
    path = _story(tmp_path / "story.json", ops, block_size=4, num_blocks=2)
    assert main(["run", str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith(": 2 of 4 operations failed: 2 append (out_of_blocks), 3 free (unknown_seq)")
    (run,) = json_of(capsys, "run", path)["runs"]
    assert [(one["number"], one["error"]) for one in run["failed_operations"]] == [
        (2, "out_of_blocks"),
        (3, "unknown_seq"),
    ]


def test_of_many_failed_operations_five_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = _story(tmp_path / "story.json", [["free", "a"]] * 7, block_size=4, num_blocks=2)
    assert main(["run", str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.count("unknown_seq") == 5 and last.endswith(", 2 more")


def test_a_story_whose_operations_all_succeed_has_no_remark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "fork-and-copy"]) == 0
    assert "failed" not in capsys.readouterr().out
