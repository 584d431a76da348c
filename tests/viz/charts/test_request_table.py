"""The table of the requests of a run, and its CSV file."""

import csv
import io
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from tests.engine.test_early_ends import STOP, finish, live, submit
from viz.charts.drawing import Measured
from viz.pages.parts.request_table import as_csv, columns, safe

IDS = ["会话.1", "a[0]", 'he said "hi"', "two\nlines", "=1+1", "🙂"]


@cache
def _run() -> Measured:
    """Six requests of 5 + 2 tokens, half a second apart, in steps of 0.1 s; a seventh needs more blocks than exist."""
    requests = [
        Request(
            name, 0.5 * i, Prompt.of_length(5), SamplingParams(max_tokens=2), measured={"ttft_s": 0.25} if i else {}
        )
        for i, name in enumerate(IDS)
    ]
    requests.append(Request("long", 3.0, Prompt.of_length(5_000), SamplingParams(max_tokens=2)))
    return Measured.of(simulate(Settings(num_blocks=64, block_size=16, step_time=0.1), ListWorkload(requests)))


def _table() -> dict[str, list]:
    return columns(_run().trace, _run().metrics)


def _read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_a_row_says_what_became_of_a_request() -> None:
    first = {title: values[0] for title, values in _table().items()}
    assert first == {
        "request": "会话.1",
        "arrival s": 0.0,
        "prompt tokens": 5,
        "output tokens": 2,
        "asked for": 2,
        "status": "finished",
        "reason": "length",
        "first token after s": 0.1,
        "latency s": 0.2,
        "latency per token s": 0.1,
        "preempted": 0,
        "measured ttft s": None,
    }
    assert _table()["measured ttft s"][1:] == [0.25] * 5 + [None]


def test_a_row_says_how_an_answer_ended() -> None:
    """A says its stop token second, B has all 4 tokens, C is taken back while it waits, D while one of two samples has
    stopped."""
    engine = live(Settings(block_size=4, num_blocks=16, max_num_seqs=4), A=[1, STOP], D0=[STOP])
    for name, n in (("A", 1), ("B", 1), ("D", 2), ("C", 1)):
        submit(engine, name, 4, max_tokens=4, n=n)
    engine.step()
    engine.step()
    engine.abort("C")
    engine.abort("D")
    finish(engine)
    measured = Measured.of(engine.trace())
    table = columns(measured.trace, measured.metrics)
    rows = dict(zip(table["request"], zip(table["status"], table["reason"], strict=True), strict=True))
    assert rows == {
        "A": ("finished", "stop"),
        "B": ("finished", "length"),
        "C": ("aborted", "abort"),
        "D": ("aborted", "stop, abort"),
    }


def test_a_refused_request_names_the_rule_with_its_numbers() -> None:
    last = {title: values[-1] for title, values in _table().items()}
    assert (last["status"], last["output tokens"], last["first token after s"]) == ("refused", 0, None)
    assert last["reason"] == "never fits: needs 313 blocks, there are 64"


def test_the_file_has_every_request_with_its_exact_id_and_no_formula() -> None:
    rows = _read(as_csv(_table()))
    assert [row["request"] for row in rows] == ["会话.1", "a[0]", 'he said "hi"', "two\nlines", "'=1+1", "🙂", "long"]
    assert rows[0]["first token after s"] == "0.1" and rows[-1]["first token after s"] == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert safe(text) == "'" + text


@pytest.mark.parametrize("cell", ["a=b", " =1", "'quoted'", "", -1.5, 0, None])
def test_every_other_cell_stays_as_it_is(cell: object) -> None:
    assert safe(cell) == cell


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_id_comes_back_exact_or_behind_an_apostrophe(name: str) -> None:
    (row,) = _read(as_csv({"request": [name], "n": [1]}))
    assert row["request"] in (name, "'" + name)
    assert not row["request"].startswith(("=", "+", "-", "@"))


def test_a_run_that_was_stopped_says_who_still_runs() -> None:
    requests = [Request(name, 0.0, Prompt.of_length(5), SamplingParams(max_tokens=50)) for name in ("A", "B")]
    settings = Settings(num_blocks=64, step_time=0.1, max_num_seqs=1, max_steps=4)
    measured = Measured.of(simulate(settings, ListWorkload(requests)))
    assert columns(measured.trace, measured.metrics)["status"] == ["running", "waiting"]


def test_a_run_without_requests_has_a_file_with_a_header() -> None:
    measured = Measured.of(simulate(Settings(num_blocks=4), ListWorkload([])))
    assert as_csv(columns(measured.trace, measured.metrics)).startswith(b"\xef\xbb\xbfrequest,arrival s,")
