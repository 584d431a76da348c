"""Bad input on the command line: one sentence, the input stays as it is, nothing is lost and nothing is obeyed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import scenarios.commands.run as run_command
from engine.settings import Settings
from scenarios import memory
from scenarios.__main__ import main
from scenarios.commands.inputs import fewer_requests
from scenarios.request_fields import read_requests
from scenarios.run import result, run
from scenarios.scenario import Run, Scenario
from scenarios.source import find
from tests.scenarios.command import sentence

ROWS = "id,arrival_s,prompt_len,output_len\n" + "".join(f"r{number},{number},100,20\n" for number in range(10))
STUCK = ("--set", "max_num_batched_tokens=1", "--set", "over_budget=wait")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.json"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize("command", ["convert", "export"])
def test_the_input_is_never_written_over(capsys: pytest.CaptureFixture[str], rows: Path, command: str) -> None:
    link = rows.with_name("link.json")
    link.symlink_to(rows)
    for place in (rows, link, rows.parent / ".." / rows.parent.name / rows.name):
        assert "is the input itself; name another file to write." in sentence(capsys, command, rows, "-o", place)
    assert rows.read_text() == ROWS


def test_a_pipe_is_refused_without_waiting_for_its_writer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for command in ("run", "convert"):
        assert "/pipe' is a pipe; save what comes out of it to a file first." in sentence(
            capsys, command, tmp_path / "pipe"
        )


@pytest.mark.parametrize("name", ["pipe.html", "null.html"])
def test_what_is_no_file_is_not_replaced_by_one(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    (tmp_path / "null.html").symlink_to(os.devnull)
    text = sentence(capsys, "export", "step-by-step", "-o", tmp_path / name)
    assert f"{name}' is a pipe or a device; give a file name." in text


@pytest.mark.parametrize(
    "arguments", [("run", ""), ("export", "", "-o", "a.html"), ("export", "step-by-step", "-o", ""), ("convert", "")]
)
def test_an_empty_name_is_answered_by_what_to_give(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert "has no name; give a file name" in sentence(capsys, *arguments)


def test_a_format_of_another_version_is_named_with_the_one_that_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps({"kvscope_scenario": 2, "name": "two"}))
    assert sentence(capsys, "run", path).endswith("kvscope_scenario is 2; it has to be 1.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--window", "-1:5"], "argument --window: '-1:5' is no FROM:TO in seconds from 0 on"),
        (["--window", "-inf:5"], "'-inf:5' is no FROM:TO"),
        (["--rate", "-1e5"], "argument --rate: '-1e5' is no number above 0"),
        (["--first", "-3"], "'-3' is no whole number from 1 on"),
        (["--first", "9" * 500], f"'{'9' * 60}…' is no whole number"),
        (["--set", "x" * 500], f"'{'x' * 60}…' is no KEY=VALUE"),
        ([f"--{'x' * 500}"], f"unrecognized arguments: --{'x' * 62}…;"),
        (["-o", "rows.json"], "unrecognized arguments: -o rows.json"),
    ],
)
def test_a_value_that_is_wrong_is_named_and_shortened(
    capsys: pytest.CaptureFixture[str], rows: Path, arguments: list[str], words: str
) -> None:
    assert words in sentence(capsys, "run", rows, *arguments)


@pytest.mark.parametrize("name", ["x" * 5000, "\x1b[2J" * 50, "no\nfile"])
def test_a_name_that_is_no_file_is_short_and_obeyed_by_no_terminal(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    for arguments in ((name,), ("run", name), ("export", "step-by-step", "-o", name)):
        text = sentence(capsys, *arguments)
        assert len(text) < 250 and text.isprintable()


def test_ids_and_columns_of_a_file_are_printed_escaped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "evil.jsonl"
    record = {"input_toks": 5, "output_toks": 2, "arrival_time_ns": 0, "\x1b[31mKEY\nnext": 1}
    ids = ("\x1b[2Jred", "a\nb", "\u202eabc", "x" * 150)
    path.write_text("".join(json.dumps({**record, "request_id": each}) + "\n" for each in ids))
    for arguments in (("convert", path), ("run", path, *STUCK)):
        assert main(list(map(str, arguments))) == 0
        out = capsys.readouterr().out
        assert all(line.isprintable() for line in out.split("\n"))
        assert r"\x1b[2Jred" in out
    assert main(["convert", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert r"  ignored: \x1b[31mKEY\nnext" in lines
    assert lines[-1].startswith("x" * 60 + "…  ")


def test_a_saved_run_is_never_written_that_cannot_be_opened(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, saved = tmp_path / "half.json", tmp_path / "half.kvscope"
    request = {"id": "\ud800", "prompt": [1], "output_len": 2}
    path.write_text(json.dumps({"kvscope_scenario": 1, "name": "half", "story": "", "requests": [request]}))
    assert "surrogate" in sentence(capsys, "export", path, "-o", saved)
    assert not saved.exists()


def test_requests_that_can_never_start_are_counted_with_the_reason(
    capsys: pytest.CaptureFixture[str], rows: Path
) -> None:
    assert main(["run", str(rows), *STUCK]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"{name}: 10 unfinished, because 'r0' waits for ever (no_token): it needs 100 tokens and gets 1"
        for name in ("static", "continuous")
    ]
    assert main(["run", str(rows), *STUCK, "--json"]) == 0
    static, _, chunked = json.loads(capsys.readouterr().out)["runs"]
    assert static["unfinished"] == 10
    assert static["unfinished_reason"] == {
        "id": "r0", "reason": "no_token", "resource": "tokens", "needed": 100, "available": 1
    }  # fmt: skip
    assert (chunked["finished"], chunked["unfinished"], chunked["unfinished_reason"]) == (10, 0, None)


def test_rounds_that_a_run_never_comes_to_are_unfinished_too() -> None:
    entries: list[dict[str, Any]] = [
        {"id": "first", "prompt": {"len": 9}, "output_len": 2},
        {"id": "then", "prompt": {"len": 1}, "output_len": 2, "after": "first"},
    ]
    waiting = Settings(max_num_batched_tokens=5, over_budget="wait", step_time=1.0)
    story = Scenario("chat", {"en": ""}, {"en": ""}, waiting, (Run("run", {}),), read_requests(entries))
    figures = result("run", run(story), len(story.all_requests()))
    assert (figures["requests"], figures["unfinished"], figures["unfinished_reason"]["id"]) == (1, 2, "first")


def test_sequences_of_operations_that_are_never_freed_are_not_unfinished() -> None:
    story = Scenario("ops", {"en": ""}, {"en": ""}, ops=(("allocate", "a", 9), ("allocate", "b", 9), ("free", "b")))
    figures = result("run", run(story))
    assert (figures["requests"], figures["finished"], figures["unfinished"]) == (2, 1, 0)


def test_only_a_trace_file_is_cut_by_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rows: Path
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 0)
    assert "take fewer (--first N) or shorter requests" in sentence(capsys, "run", rows)
    assert "take fewer or shorter requests" in sentence(capsys, "run", "step-by-step")
    assert "take fewer or smaller operations" in sentence(capsys, "run", "alan-turing")
    assert fewer_requests(find(str(rows))) != fewer_requests(find("step-by-step"))


def test_a_second_ctrl_c_does_not_cost_what_is_complete(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    complete, table = run_command.run, run_command.table

    def interrupted(scenario: Any, name: str, *rest: Any) -> Any:
        if name == "static":
            raise KeyboardInterrupt
        return complete(scenario, name, *rest)

    def again(*arguments: Any, **options: Any) -> str:
        os.kill(os.getpid(), 2)
        return table(*arguments, **options)

    monkeypatch.setattr(run_command, "run", interrupted)
    monkeypatch.setattr(run_command, "table", again)
    assert main(["run", "step-by-step"]) == 130
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("continuous ")
    assert err == "Stopped; 1 of 2 runs are complete.\n"
