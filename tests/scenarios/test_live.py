"""`live` on a model that says what the tests want: what is printed, what is refused, how it ends."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.executor.model_error import ModelError
from engine.live import LiveEngine
from engine.presets import PRESETS
from engine.presets import settings_of as settings_of_preset
from engine.trace.trace import Trace
from scenarios.__main__ import main
from scenarios.commands import live
from scenarios.commands.live import settings_of
from scenarios.commands.progress import ProgressLine
from scenarios.prompts import read_prompts
from tests.scenarios.command import json_of, sentence
from tests.scenarios.parrot import Parrot

ROOMY = ("--set", "num_blocks=64")


def test_the_report_has_an_entry_for_every_prompt(parrot: Parrot, capsys: pytest.CaptureFixture[str]) -> None:
    told = json_of(capsys, "live", "hi", "hello", "--n", 2, "--max-tokens", 3, *ROOMY)
    assert (told["model"], told["device"], told["dtype"]) == ("parrot", "cpu", "float32")
    first, second = told["requests"]
    assert (first["prompt"], first["prompt_token_ids"]) == ("hi", [1, 104, 105, 2])
    output = {"token_ids": [111, 107, 33], "text": "ok!", "finish_reason": "length"}
    assert first["outputs"] == second["outputs"] == [output, output]
    assert first["ttft_s"] == pytest.approx(0.5, abs=0.1)
    assert first["latency_s"] == pytest.approx(1.5, abs=0.1)
    assert told["kv"] == {"blocks": 64, "cow_copies": 2, "hit_tokens": 0, "preemptions": 0, "evictions": 0}


def test_raw_prompts_stand_as_they_are_and_a_stop_token_is_no_text(
    parrot: Parrot, capsys: pytest.CaptureFixture[str]
) -> None:
    (request,) = json_of(capsys, "live", "hi", "--raw")["requests"]
    assert request["prompt_token_ids"] == [104, 105]
    assert request["outputs"] == [{"token_ids": [111, 107, 33, 0], "text": "ok!", "finish_reason": "stop"}]


def test_the_numbers_of_the_memory_are_those_of_the_run(parrot: Parrot, capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks of 4: of "abcdefg" in chat format (9 tokens) the second request finds 8. In 3 blocks they take turns."""
    options = ("--set", "block_size=4", "--set", "num_blocks=3")
    kv = json_of(capsys, "live", "abcdefg", "abcdefg", *options)["kv"]
    assert (kv["blocks"], kv["hit_tokens"]) == (3, 8)
    kv = json_of(capsys, "live", "abcdefg", "tuvwxyz", *options)["kv"]
    assert (kv["hit_tokens"], kv["evictions"]) == (0, 3)
    options = ("--set", "block_size=4", "--set", "num_blocks=5", "--set", "prefix_caching=false")
    kv = json_of(capsys, "live", "abcde", "uvwxy", *options)["kv"]
    assert (kv["hit_tokens"], kv["preemptions"]) == (0, 1)


def test_people_read_prompts_and_answers(parrot: Parrot, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "one\ntwo\x1b[2J"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["> one", "> two\\x1b[2J", "  ok!", "  (4 tokens, stop)"]
    assert lines[-2].startswith("parrot, float32 on cpu: 4 tokens in 4 steps, ")


def test_a_prompt_that_cannot_be_served_costs_a_sentence_and_the_others_are_answered(
    parrot: Parrot, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", "x" * 99, " ", "hi", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "Prompt 1 is refused. The prompt needs a context of 102 tokens and there are 100; shorten it.",
        "Prompt 2 is refused. The prompt is empty; write at least one word.",
    ]
    long, empty, short = json.loads(out)["requests"]
    assert (long["outputs"], long["ttft_s"]) == ([], None)
    assert "context of 102 tokens" in long["error"]
    assert empty["error"] == "The prompt is empty; write at least one word."
    assert short["outputs"][0]["text"] == "ok!"


def test_an_answer_that_fills_the_memory_ends_with_its_length(
    parrot: Parrot, capsys: pytest.CaptureFixture[str]
) -> None:
    """One block of 4 holds "ab" in chat format; the first token is sampled from it and has no room itself."""
    options = ("--set", "block_size=4", "--set", "num_blocks=1")
    (request,) = json_of(capsys, "live", "ab", *options)["requests"]
    assert request["outputs"] == [{"token_ids": [111], "text": "o", "finish_reason": "length"}]
    assert request["ttft_s"] == request["latency_s"] == pytest.approx(0.5, abs=0.1)


def test_the_first_ctrl_c_ends_the_step_and_prints_what_is_there(
    parrot: Parrot, capsys: pytest.CaptureFixture[str]
) -> None:
    parrot.interrupted_at = 1
    assert main(["live", "hi", "--json"]) == 130
    out, err = capsys.readouterr()
    assert err == "Stopped; 0 of 1 requests are complete.\n"
    (request,) = json.loads(out)["requests"]
    assert request["outputs"] == [{"token_ids": [111, 107], "text": "ok", "finish_reason": "abort"}]
    assert request["latency_s"] is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_request_that_can_never_run_is_named(parrot: Parrot, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "policy=continuous", "--set", "max_num_batched_tokens=4", "--set", "over_budget=wait"]
    assert main(["live", "hi", "hello", *options]) == 0
    assert capsys.readouterr().err == (
        "Request r1 can never run with these settings; raise max_num_batched_tokens or choose policy chunked.\n"
    )


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        (["hello"], "raise max_num_batched_tokens or choose policy chunked."),
        (["hello", "hello"], "policy chunked. The other one cannot be served either."),
        (["hello", "", "hello"], "policy chunked. None of the other 2 can be served either."),
    ],
)
def test_when_no_request_can_ever_run_the_input_is_bad(
    parrot: Parrot, capsys: pytest.CaptureFixture[str], tmp_path: Path, prompts: list[str], words: str
) -> None:
    """5 letters in chat format are 7 tokens, and a step has 4."""
    options = ["--set", "policy=continuous", "--set", "max_num_batched_tokens=4", "--set", "over_budget=wait"]
    path = tmp_path / "live.kvscope"
    said = sentence(capsys, "live", *prompts, *options, "-o", path)
    assert said.startswith("Request r0 can never run with these settings;") and said.endswith(words)
    assert not path.exists()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_decides_as_for_a_simulated_run(parrot: Parrot, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """All that it sets, but nothing that no model can have; 8,192 tokens in blocks of its size."""
    told = json_of(capsys, "live", "hi", "--set", f"preset={name}")
    assert told["requests"][0]["outputs"][0]["text"] == "ok!"
    chosen, preset = told["settings"], settings_of_preset(name, kv_capacity_tokens=8_192).as_dict()
    differ = {"policy", "max_num_batched_tokens", "max_num_seqs"} - PRESETS[name].settings.keys()
    differ |= {"max_model_len", "keep_unwritten", "swap_sharing"}
    assert {key for key in chosen if chosen[key] != preset[key]} <= differ
    assert (chosen["keep_unwritten"], chosen["swap_sharing"]) == (False, "kept")
    assert told["kv"]["blocks"] * chosen["block_size"] == 8_192


def test_what_is_set_beside_a_preset_wins() -> None:
    chosen = settings_of({"max_num_seqs": "5", "preset": "vllm-v1", "num_blocks": "9"})
    assert (chosen.max_num_seqs, chosen.pool_blocks, chosen.null_block) == (5, 9, True)


def test_the_run_begins_with_its_first_request(
    parrot: Parrot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is there at 0 s, the prompts come at 7 s and later; four steps of half a second begin at 10 s."""
    times = iter([0.0, 7.0, 8.0, *[10.0] * 99])
    monkeypatch.setattr(
        parrot,
        "engine",
        lambda settings, vocabulary=(): LiveEngine(
            settings.with_(max_model_len=100), parrot, clock=lambda: next(times)
        ),
    )
    told = json_of(capsys, "live", "hi", "hello")
    assert told["duration_s"] == 5.0  # 10 + 4 / 2 - 7


def test_while_a_model_is_fetched_nothing_is_told_but_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, parrot: Parrot, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(path: Path | None = None, *, progress: Any, **options: Any) -> Parrot:
        for done in range(5):
            progress(done, 5)
        raise ModelError("The model could not be fetched.")

    monkeypatch.setattr(sys.modules["engine.executor.loaded_model"], "load_model", fetch)
    monkeypatch.setattr(live, "ProgressLine", _HastyLine)
    assert sentence(capsys, "live", "hi") == "The model could not be fetched."


class _HastyLine(ProgressLine):
    """Every time is right for the next line."""

    def __init__(self) -> None:
        super().__init__(clock=iter(range(0, 10_000, 10)).__next__)


def test_a_run_is_not_saved_over_its_model(
    parrot: Parrot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither over the file nor, by a link, over a part of a folder."""
    model, folder, link = tmp_path / "model.kvscope", tmp_path / "folder", tmp_path / "link.kvscope"
    model.write_bytes(b"GGUF")
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    link.symlink_to(folder / "model.safetensors")
    assert "is the input itself" in sentence(capsys, "live", "hi", "--model", model, "-o", model)
    assert "is the input itself" in sentence(capsys, "live", "hi", "--model", folder, "-o", link)
    monkeypatch.setenv("KVSCOPE_MODEL", str(model))
    assert "is the input itself" in sentence(capsys, "live", "hi", "-o", model)
    assert model.read_bytes() == b"GGUF"


def test_a_live_run_is_saved_and_read_again(parrot: Parrot, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "live.kvscope"
    json_of(capsys, "live", "hi", "-o", path, "--set", "kv_manager=radix")
    trace = Trace.load(path)
    assert trace.header["vocabulary"][104] == "h"
    assert (trace.header["title"], trace.header["remark"]) == ("A live run", "parrot · CPU, float32")
    (run,) = json_of(capsys, "run", path)["runs"]
    assert (run["requests"], run["finished"], run["unfinished"]) == (1, 1, 0)


def test_a_request_that_was_taken_back_is_not_unfinished(
    parrot: Parrot, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, parrot.interrupted_at = tmp_path / "live.kvscope", 1
    assert main(["live", "hi", "-o", str(path)]) == 130
    capsys.readouterr()
    (run,) = json_of(capsys, "run", path)["runs"]
    assert (run["requests"], run["finished"], run["aborted"], run["unfinished"]) == (1, 0, 1, 0)


def test_prompts_come_from_a_file(parrot: Parrot, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines, texts = tmp_path / "prompts.txt", tmp_path / "prompts.json"
    lines.write_text("one\n\n  two 😀\n", encoding="utf-8")
    texts.write_text('["one\\ntwo", "three"]')
    assert read_prompts(lines) == ["one", "  two 😀"]
    lines.write_bytes("a\u2028b\r\nc\x0cd\x85e\u0085f\x1cg\r\n\r\nh\u2029".encode())
    assert read_prompts(lines) == ["a\u2028b", "c\x0cd\x85e\u0085f\x1cg", "h\u2029"]
    assert [request["prompt"] for request in json_of(capsys, "live", "--file", texts)["requests"]] == [
        "one\ntwo",
        "three",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "There is no prompt; give one in quotes, or a file of them with --file."),
        (["hi", "--file", "x"], "There are prompts and a file of prompts; give one or the other."),
        (["--file", "missing.txt"], "'missing.txt' is no file; give a file with one prompt a line"),
        ([""], "The prompt is empty; write at least one word."),
        (["", "x" * 99], "write at least one word. The other one cannot be served either."),
        (["", "x" * 99, " "], "None of the other 2 can be served either."),
        (["hi", "--set", "preset=nope"], "there is no preset 'nope'; known are vllm-v1"),
        (["hi", "--set", "keep_unwritten=true"], "keep_unwritten is true, which keeps blocks known that no model has"),
        (["hi", "--set", "max_steps=2"], "max_steps is 2, which means something in simulated runs only"),
        (["hi", "--set", "preset=vllm-v1", "--set", "step_time=1"], "step_time is 1.0, which means something in"),
        (["hi", "--max-tokens", "0"], "argument --max-tokens: '0' is no whole number from 1 to"),
        (["hi", "--n", "65"], "argument --n: '65' is no whole number from 1 to 64"),
        (["hi", "--temperature", "nan"], "argument --temperature: 'nan' is no number from 0 to 100"),
        (["hi", "--top-p", "0"], "argument --top-p: '0' is no number"),
        (["hi", "--dtype", "int8"], "argument --dtype: invalid choice: 'int8'"),
        (["hi", "--set", "policy=magic"], "policy is 'magic'; choose one of"),
        (["hi", "--set", "kv_manager=oracle"], "kv_manager is 'oracle', which knows how long an answer gets"),
        (["hi", "--model", "nowhere"], "There is no model at 'nowhere'"),
        (["hi", "-o", "a.html"], "'a.html' has to end in .kvscope."),
        (["x" * 50, "--set", "num_blocks=2"], "needs 4 blocks and the memory has 2"),
    ],
)
def test_bad_input_costs_one_sentence(
    parrot: Parrot, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in sentence(capsys, "live", *arguments)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", b"", "There is no prompt"),
        ("a.txt", b"caf\xe9", "is no text in UTF-8 (byte 3)"),
        ("a.json", b"[1]", "is no JSON list of texts"),
        ("a.json", b"[" * 100_000, "is no JSON"),
        ("a.json", b'["\\ud800"]', "Prompt 1 has half a character in it"),
    ],
)
def test_a_bad_file_of_prompts_costs_one_sentence(
    parrot: Parrot, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert words in sentence(capsys, "live", "--file", path)


def test_what_is_not_set_is_small_and_cached() -> None:
    assert settings_of({}).prefix_caching
    assert not settings_of({"kv_manager": "radix"}).prefix_caching
    assert settings_of({"kv_capacity_tokens": "64"}).pool_blocks == 4
    assert settings_of({"prefix_caching": "false"}).manager == "paged"
