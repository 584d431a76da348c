"""The command line: what it prints, how it ends, and that bad input costs one sentence."""

import json
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import scenarios.commands.run as run_command
from scenarios.__main__ import COMMANDS, main
from scenarios.commands.progress import ProgressLine
from scenarios.shared import SHARED
from tests.scenarios.command import ROOT, json_of, sentence

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:{second:02d}.0000000,{100 + second},{5 + second}\n" for second in range(12)
)
FIGURES = {
    "name", "settings", "requests", "finished", "rejected", "steps", "duration_s", "throughput_tok_s", "ttft_s",
    "itl_s", "normalized_latency_s", "preemptions", "cow_copies", "hit_rate", "kv",
}  # fmt: skip
FOUR_RUNS = [word for name in ("max", "pow2", "oracle", "paged") for word in ("--run", name)]


@pytest.fixture
def azure(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text(AZURE)
    return path


def test_list_names_every_scenario_with_title_and_section(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json_of(capsys, "list")
    assert {
        "name": "step-by-step",
        "title": "Static and continuous batching, step by step",
        "section": "B04",
    }.items() <= (rows[0].items())
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 2


def test_run_reports_every_run_of_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    report = json_of(capsys, "run", "four-samples")
    assert (report["scenario"], report["run_format"]) == ("four-samples", 1)
    assert report["input"] == {"format": "scenario", "accepted": 1, "rejected": []}
    (run,) = report["runs"]
    assert run.keys() >= FIGURES
    assert (run["finished"], run["cow_copies"], run["hit_rate"]) == (1, 3, None)
    assert sum(run["kv"].values()) == pytest.approx(1)


def test_run_prints_a_table_with_a_line_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "step-by-step"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["continuous", "static"]


def test_a_trace_file_gets_three_runs(capsys: pytest.CaptureFixture[str], azure: Path) -> None:
    report = json_of(capsys, "run", azure)
    assert (report["input"]["format"], report["input"]["accepted"]) == ("azure_csv", 12)
    assert [run["name"] for run in report["runs"]] == ["static", "continuous", "chunked"]
    assert [run["finished"] for run in report["runs"]] == [12, 12, 12]
    static, continuous, chunked = (run["settings"] for run in report["runs"])
    assert (static["max_num_seqs"], static["static_start"], static["max_num_batched_tokens"]) == (8, "now", None)
    assert (continuous["max_num_seqs"], continuous["max_num_batched_tokens"]) == (256, None)
    assert (chunked["policy"], chunked["max_num_batched_tokens"]) == ("chunked", 2_048)
    assert {run["settings"]["num_blocks"] for run in report["runs"]} == {25_600}
    assert {run["settings"]["model"] for run in report["runs"]} == {"Llama-3-8B"}


def test_set_changes_all_runs(capsys: pytest.CaptureFixture[str], azure: Path) -> None:
    report = json_of(capsys, "run", azure, "--set", "num_blocks=7", "--set", "block_size=16")
    assert {run["settings"]["num_blocks"] for run in report["runs"]} == {7}
    assert all(run["rejected_reasons"] == {"never_fits": run["rejected"]} for run in report["runs"])
    refusal = report["runs"][1]["rejected_requests"][0]
    assert (refusal["reason"], refusal["needed"], refusal["available"]) == ("never_fits", 8, 7)


def test_first_window_and_rate_choose_rows(capsys: pytest.CaptureFixture[str], azure: Path) -> None:
    assert json_of(capsys, "run", azure, "--first", 3)["runs"][0]["requests"] == 3
    assert json_of(capsys, "run", azure, "--window", "2:5")["runs"][0]["requests"] == 3
    fast = json_of(capsys, "convert", azure, "--rate", 2)
    assert fast["last"][-1]["arrival_s"] == 5.5


def test_convert_says_what_was_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(AZURE + "2023-11-16 18:15:13.0000000,0,5\n2023-11-16 18:15:14.0000000,x,5\n")
    report = json_of(capsys, "convert", path)
    assert (report["format"], report["accepted"]) == ("azure_csv", 12)
    assert [(row["line"], row["reason"]) for row in report["rejected"]] == [(14, "zero_prompt"), (15, "text")]
    assert report["input"]["rejected"] == report["rejected"]
    assert [entry["prompt_len"] for entry in report["first"]] == [100, 101, 102, 103, 104]
    assert [entry["output_len"] for entry in report["last"]] == [12, 13, 14, 15, 16]
    assert report["last"][-1]["arrival_s"] == 11.0


def test_a_converted_file_runs_like_the_trace_file(
    capsys: pytest.CaptureFixture[str], azure: Path, tmp_path: Path
) -> None:
    written = tmp_path / "small.json"
    options = ("--first", 9, "--set", "num_blocks=20")
    json_of(capsys, "convert", azure, "-o", written, *options)
    assert json_of(capsys, "run", written)["runs"] == json_of(capsys, "run", azure, *options)["runs"]


@pytest.mark.skipif(not SHARED.exists(), reason="the trace extracts are not here (KVSCOPE_SHARED)")
@pytest.mark.parametrize("name", ["vllm_bench_rtx4090_requests.jsonl", "tracelab_multi_session_large.csv"])
def test_a_real_file_survives_conversion(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    written = tmp_path / "real.json"
    source = SHARED / "traces" / name
    account = json_of(capsys, "convert", source, "-o", written, "--first", 40)
    assert account["accepted"] + account["left_out"] + len(account["rejected"]) == account["rows"]
    assert json_of(capsys, "run", written)["runs"] == json_of(capsys, "run", source, "--first", 40)["runs"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "step-by-stepp"], "did you mean step-by-step?"),
        (["run", "nothing-like-it.csv"], "there is no scenario and no file"),
        (["run", "."], "is a folder"),
        (["run", "a\0b"], "cannot be read"),
        (["run"], "the following arguments are required"),
        (["fly"], "'fly' is no command; choose one of list"),
        (["run", "step-by-step", "--fast"], "unrecognized arguments: --fast"),
        (["run", "step-by-step", "--set", "policy"], "is no KEY=VALUE"),
        (["run", "step-by-step", "--set", "policy=fast"], "policy is 'fast'"),
        (["run", "step-by-step", "--set", "blocks=3"], "unknown setting 'blocks'"),
        (["run", "step-by-step", "--set", "num_blocks=1e400"], "num_blocks is '1e400'"),
        (["run", "step-by-step", "--set", "hardware=TPU"], "hardware is 'TPU'"),
        (["run", "step-by-step", "--first", "3"], "is no trace file"),
        (["run", "x.csv", "--first", "0"], "'0' is no whole number from 1 on"),
        (["run", "x.csv", "--rate", "nan"], "'nan' is no number above 0"),
        (["run", "x.csv", "--window", "5:2"], "FROM before TO"),
        (["run", "x.csv", "--window", "5"], "no FROM:TO"),
        (["run", "alan-turing", "--set", "kv_manager=oracle"], "operations need the paged one"),
        (["convert", "step-by-step"], "is no trace file"),
        (["convert", "step-by-step", "-o", "x.csv"], "has to end in .json"),
        (["export", "step-by-step"], "one of the arguments -o/--output --html is required"),
        (["export", "step-by-step", "-o", "x.txt"], "has to end in .html or .json or .kvscope"),
        (["export", "step-by-step", "--html", "x.json"], "has to end in .html"),
        (["export", "four-managers", "--html", "x.html", *FOUR_RUNS], "holds at most 3 of 4 runs"),
        (["export", "step-by-step", "-o", "x.kvscope", "--run", "static", "--run", "continuous"], "at most 1 of 2"),
        (["export", "step-by-step", "-o", "/nowhere/x.json"], "cannot be written"),
        (["export", "step-by-step", "-o", "x.json", "--run", "fast"], "no run 'fast'"),
    ],
)
def test_bad_arguments_cost_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert words in sentence(capsys, *arguments)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\1\2\3" * 100,
        b"KVSCOPE1",
        b"KVSCOPE1" + b"\xff" * 64,
        b"KVSCOPE9" + b"\0" * 64,
        b'{"kvscope_scenario": 1',
        b'{"kvscope_scenario": 2, "name": "x"}',
        b'{"kvscope_scenario": 1, "name": "x", "workload": {"generator": "fixed", "num_requests": 1e12}}',
        b"a,b,c\n1,2,3\n",
        b"TIMESTAMP,ContextTokens,GeneratedTokens\n",
        b"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:13.0000000,0,0\n",
    ],
)
def test_bad_files_cost_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    for command in ("run", "convert"):
        assert len(sentence(capsys, command, path)) < 400
    assert len(sentence(capsys, "export", path, "-o", tmp_path / "out.json")) < 400
    assert [entry.name for entry in tmp_path.iterdir()] == ["input"]


def test_a_run_that_does_not_fit_into_memory_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    requests = [{"id": f"{i}", "arrival_s": 0, "prompt": {"len": 2_000_000_000}, "output_len": 9} for i in range(50)]
    path = tmp_path / "huge.json"
    path.write_text(json.dumps({"kvscope_scenario": 1, "name": "huge", "requests": requests}))
    assert "of memory" in sentence(capsys, "run", path)


def test_a_prompt_larger_than_the_pool_is_refused_and_the_rest_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "large.csv"
    path.write_text(AZURE + "2023-11-16 18:15:20.0000000,2000000000,5\n2023-11-16 18:15:21.0000000,50,5\n")
    for run in json_of(capsys, "run", path)["runs"]:
        assert (run["requests"], run["finished"], run["rejected_reasons"]) == (14, 13, {"never_fits": 1})


def test_max_steps_stops_a_run_and_the_report_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "four-samples", "--set", "max_steps=10"]) == 0
    assert "stopped after 10 steps (max_steps), 1 unfinished" in capsys.readouterr().out


def test_ctrl_c_keeps_the_runs_that_are_complete(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = run_command.run

    def interrupted(scenario: Any, name: str, *rest: Any) -> Any:
        if name == "static":
            raise KeyboardInterrupt
        return complete(scenario, name, *rest)

    monkeypatch.setattr(run_command, "run", interrupted)
    assert main(["run", "step-by-step", "--json"]) == 130
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["interrupted"] and [run["name"] for run in report["runs"]] == ["continuous"]
    assert err == "Stopped; 1 of 2 runs are complete.\n"


def test_ctrl_c_ends_a_real_process_with_one_line(tmp_path: Path) -> None:
    scenario = {
        "kvscope_scenario": 1,
        "name": "long",
        "settings": {"step_time": 0.01, "max_num_seqs": 2},
        "workload": {"generator": "fixed", "num_requests": 5000, "prompt_len": 2, "output_len": 300},
    }
    path = tmp_path / "long.json"
    path.write_text(json.dumps(scenario))
    process = subprocess.Popen(
        [sys.executable, "-m", "scenarios", "run", str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "of 5,000 requests" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "Stopped; 0 of 1 runs are complete.\n"
    assert "5,000 accepted" in out


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m scenarios list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], name: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    overview = capsys.readouterr().out
    assert all(f"  {name} " in overview for name in ("list", "run", "check", "convert", "export"))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_appears_on_a_terminal_at_once_and_elsewhere_after_a_second() -> None:
    for stream, due in ((Terminal(), 0.2), (StringIO(), 1.0)):
        now = [100.0]
        with ProgressLine(stream, clock=lambda now=now: now[0]) as line:
            now[0] += due - 0.01
            line.show("early")
            assert stream.getvalue() == ""
            now[0] += 0.02
            line.show("late")
            assert "late" in stream.getvalue()


def test_check_fails_with_status_1_only_for_a_missed_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import scenarios.commands.check as check_command

    row = {"id": "A01", "title": "t", "class": "D", "expected": "1", "ours": "1", "where": ""}
    for passed, status in ((True, 0), (None, 0), (False, 1)):
        rows = [{**row, "passed": passed}]
        report = {"rows": rows, "passed": int(passed is True), "failed": int(passed is False)}
        monkeypatch.setattr(check_command, "check", lambda progress, report=report: report)
        assert main(["check"]) == status
        assert f"{report['passed']} passed, {report['failed']} failed" in capsys.readouterr().out
