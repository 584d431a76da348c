"""`live` on a model that says what the tests want: what is printed, what is refused, how it ends."""

import json
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine.batch import Batch, StepOutput
from engine.executor.model_error import ModelError
from engine.live import LiveEngine
from engine.settings import Settings
from engine.trace.trace import Trace
from scenarios.__main__ import main
from scenarios.commands.live import settings_of
from scenarios.prompts import read_prompts
from tests.scenarios.command import json_of, sentence

EOS = 0
ANSWER = "ok!"
ROOMY = ("--set", "num_blocks=64")


class Parrot:
    """A model of characters: answers "ok!" and stops. In step `interrupted_at` Ctrl-C is pressed."""

    name, device, dtype, context, stop_token_ids = "parrot", "cpu", "float32", 100, (EOS,)
    interrupted_at = -1

    @property
    def words(self) -> list[str]:
        return [chr(code) for code in range(128)]

    def encode(self, prompt: str, raw: bool = False) -> list[int]:
        return list(prompt.encode()) if raw else [1, *prompt.encode(), 2]

    def decode(self, token_ids: list[int]) -> str:
        return bytes(token for token in token_ids if token != EOS).decode()

    def engine(self, settings: Settings, *, vocabulary: Any = ()) -> LiveEngine:
        return LiveEngine(settings.with_(max_model_len=self.context), self, vocabulary=vocabulary)

    def execute(self, batch: Batch) -> StepOutput:
        if batch.step == self.interrupted_at:
            signal.raise_signal(signal.SIGINT)
        return StepOutput(0.5, [self._next(row) for row in batch.rows])

    def _next(self, row: Any) -> list[int]:
        known = row.start + row.num_tokens - row.sequence.group.prompt_len
        return [[*ANSWER.encode(), EOS][known]] * row.num_samples


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Parrot:
    model = Parrot()
    module = ModuleType("engine.executor.loaded_model")
    module.load_model = lambda path=None, **options: _load(model, path)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return model


def _load(model: Parrot, path: Path | None) -> Parrot:
    if path is not None:
        raise ModelError(f"There is no model at {str(path)!r}; choose a .gguf file or a folder with config.json.")
    return model


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
    assert capsys.readouterr().err == ("Request r1 can never run with these settings; raise max_num_batched_tokens.\n")


def test_a_live_run_is_saved_and_read_again(parrot: Parrot, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "live.kvscope"
    json_of(capsys, "live", "hi", "-o", path, "--set", "kv_manager=radix")
    trace = Trace.load(path)
    assert trace.header["vocabulary"][104] == "h"
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
        (["", "x" * 99], "None of the other 1 can be served either."),
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
