"""What the commands write: saved runs, Chrome traces and offline pages, each file whole or not at all."""

import json
from pathlib import Path

import pytest

from engine.trace.check import told
from engine.trace.trace import Trace
from scenarios.__main__ import main
from scenarios.commands.output import check_place, whole_file
from scenarios.fields import ScenarioError
from tests.scenarios.command import json_of


def test_a_saved_run_gives_the_figures_of_the_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    saved = tmp_path / "run.kvscope"
    written = json_of(capsys, "export", "three-wastes", "-o", saved, "--run", "oracle")
    assert (written["runs"], written["bytes"]) == (["oracle"], saved.stat().st_size)
    again = json_of(capsys, "run", saved)
    fresh = json_of(capsys, "run", "three-wastes")
    assert (again["scenario"], again["input"]["format"]) == ("three-wastes", "saved_run")
    assert again["runs"] == [run for run in fresh["runs"] if run["name"] == "oracle"]


def test_a_chrome_trace_holds_all_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    assert json_of(capsys, "export", "step-by-step", "-o", path)["runs"] == ["continuous", "static"]
    events = json.loads(path.read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2, 3, 4}


def test_saving_one_of_several_runs_says_which(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["export", "step-by-step", "-o", str(tmp_path / "demo.kvscope")]) == 0
    assert capsys.readouterr().err == "continuous is written; --run chooses another of continuous, static.\n"


def test_an_offline_replay_is_written_by_suffix_or_by_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for option, name in (("-o", "a.html"), ("--html", "b.html")):
        path = tmp_path / name
        written = json_of(capsys, "export", "step-by-step", option, path, "--run", "static", "--run", "continuous")
        assert (written["runs"], written["bytes"]) == (["static", "continuous"], path.stat().st_size)
        assert "<title>Static and continuous batching, step by step</title>" in path.read_text(encoding="utf-8")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_saved_run_becomes_an_offline_replay(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    saved, page = tmp_path / "run.kvscope", tmp_path / "run.html"
    json_of(capsys, "export", "three-wastes", "-o", saved, "--run", "oracle")
    assert json_of(capsys, "export", saved, "--html", page)["runs"] == ["oracle"]
    assert "<title>three-wastes</title>" in page.read_text(encoding="utf-8")


def test_a_saved_run_with_a_title_of_its_own_is_headed_by_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    saved, page = tmp_path / "run.kvscope", tmp_path / "run.html"
    json_of(capsys, "export", "three-wastes", "-o", saved, "--run", "oracle")
    trace = Trace.load(saved)
    Trace.of({**trace.header, **told("<i>Mine</i>", "a model")}, trace.chunks()).save(saved)
    assert json_of(capsys, "export", saved, "--html", page)["runs"] == ["oracle"]
    assert "<title>&lt;i&gt;Mine&lt;/i&gt;</title>" in page.read_text(encoding="utf-8")


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("out.json", "old")]
    with whole_file(path) as draft:
        draft.write_text("new")
    assert path.read_text() == "new"


def test_no_other_file_is_written_over_on_the_way(tmp_path: Path) -> None:
    for name in (".out.json.draft", "plain"):
        (tmp_path / name).write_text("mine")
    with whole_file(tmp_path / "out.json") as first, whole_file(tmp_path / "out.json") as second:
        first.write_text("first")
        second.write_text("second")
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {
        ".out.json.draft": "mine",
        "plain": "mine",
        "out.json": "first",
    }
    assert (tmp_path / "out.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real.json", tmp_path / "out.json"
    link.symlink_to(target)
    with whole_file(link) as draft:
        assert draft.parent.parent == target.parent
        draft.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path) -> None:
    link = tmp_path / "out.json"
    link.symlink_to(tmp_path / "none" / "real.json")
    with pytest.raises(ScenarioError, match=r"out\.json' cannot be written: No such file"), whole_file(link):
        pass


def test_a_place_that_cannot_become_a_file_is_named_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for name, words in (
        ("folder.json", "is a folder"),
        ("none/a.json", "there is no folder"),
        ("a.txt", "end in .json"),
    ):
        with pytest.raises(ScenarioError, match=words):
            check_place(tmp_path / name, (".json",), "demo")
