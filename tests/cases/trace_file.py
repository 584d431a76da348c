"""`trace_file`: what a reader has to make of a file: requests, refused lines, ignored columns, blank lines.

The reasons of refused lines are phrases in the cases and codes in the program; `CODES` joins them. Sentences about what
is drawn are checked on the run of these requests as it goes to the browser.
"""

import base64
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.kv.hashed import HashedKV
from engine.loop import simulate
from engine.request import Request
from engine.sequence import SequenceGroup, Ticks
from engine.settings import Settings
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios.readers import ReadError, TraceFile, read
from tests.cases.lookup import compute
from tests.cases.sentences import Sentences, as_list
from tests.cases.verdict import Findings
from viz.player.wire import wire

REQUEST_FIELDS = {
    "arrival_s": lambda request: request.arrival_time if request.after is None else None,
    "prompt_len": lambda request: request.prompt.num_tokens,
    "output_len": lambda request: request.sampling.max_tokens,
    "id": lambda request: request.request_id,
    "after": lambda request: request.after,
    "delay_s": lambda request: request.delay,
}
# phrase of a case -> codes of the reader that say the same; the first phrase that occurs decides
CODES = (
    (r"no sub-?requests", ("no_sub_requests",)),
    (r"zero output", ("zero_output",)),
    (r"zero prompt", ("zero_prompt",)),
    (r"missing", ("missing",)),
    (r"is text|quoted", ("text",)),
    (r"not an integer|fraction", ("not_integer", "text")),
    (r"not a number|nan", ("not_finite", "text", "not_integer")),
    (r"not finite|infinite", ("not_finite",)),
    (r"negative", ("negative",)),
    (r"json", ("not_json",)),
    (r"time ?stamp|time|date", ("bad_time",)),
)
# What is allowed is our own: constants, the script for the address, in which every text is percent-encoded, and the covers
# of the gallery, which are drawn of the catalogue and never of a file.
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|unsafe_allow_html"
    r"|st\.html\((?!_[A-Z_]+(?:, unsafe_allow_javascript=True)?\)|script\(page, wanted\)|squares\(first, end\))"
    r'|DOMParser(?!\(\)\.parseFromString\(data, "image/svg\+xml"\))'
)
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
VIEWS = Path(__file__).parents[2] / "viz"
MUST_HOLD = Sentences()


@dataclass(slots=True)
class FileFacts:
    """A file as it was read."""

    trace_file: TraceFile
    findings: Findings


def check(case: dict[str, Any], path: Path) -> Findings:
    """Read the text or the bytes, then compare entry by entry."""
    given, expected = case["input"], case["expected"]
    data = base64.b64decode(given["bytes_base64"]) if "bytes_base64" in given else given["text"].encode()
    findings = Findings()
    options: dict[str, Any] = {"filter": given["filter"]} if "filter" in given else {}
    try:
        trace_file = read(
            data,
            name=given.get("file_name", "case"),
            format=given.get("format", "auto"),
            first=given.get("limit"),
            **options,
        )
    except ReadError as error:
        return _refused(findings, expected, str(error))
    facts = FileFacts(trace_file, findings)
    for key, value in expected.items():
        if key == "hit_tokens_unlimited_cache_in_order":
            findings.equal(key, hits_in_order(trace_file.requests, given["block_size"]), value)
        else:
            _check_entry(facts, key, value, expected)
    return findings


def hits_in_order(requests: list[Request], block_size: int) -> list[int]:
    """Hit tokens of each request, one after the other, with memory without limit."""
    kv = HashedKV(Settings(block_size=block_size, prefix_caching=True))
    return [compute(kv, SequenceGroup(r, i, i, 1, Ticks()).lead) for i, r in enumerate(requests)]


def _refused(findings: Findings, expected: dict[str, Any], message: str) -> Findings:
    """A file that cannot be read at all is right where the case says so."""
    if "error" in expected:
        findings.add("error", None if expected["error"] is True or str(expected["error"]) in message else message)
    elif "an error that names" in " ".join(map(str, expected.get("allowed", []))):
        numbers = [str(expected[key]) for key in ("available_after_filter", "requested") if key in expected]
        findings.add("error", None if all(number in message for number in numbers) else message)
    else:
        findings.add("the file is refused", message)
    return findings


def _check_entry(facts: FileFacts, key: str, value: Any, expected: dict[str, Any]) -> None:
    findings, trace_file = facts.findings, facts.trace_file
    tolerance = expected.get("tolerance_s", 1e-9)
    if key in ("rows_ok", "rows_ok_strict"):
        noted = _accepted_with_a_note(trace_file, expected.get("errors", []))
        findings.equal(key, trace_file.num_accepted - len(noted), value)
    elif key == "rows_total":
        findings.equal(key, trace_file.num_rows, value)
    elif key in ("requests", "requests_sorted"):
        _compare_requests(findings, key, trace_file.requests, value, tolerance)
    elif key == "ids":
        findings.equal(key, [request.request_id for request in trace_file.requests], value)
    elif key == "measured":
        _compare_measured(findings, trace_file.requests, value, tolerance)
    elif key == "errors":
        _compare_errors(findings, trace_file, value)
    elif key in ("ignored_columns", "blank_lines"):
        findings.equal(key, list(getattr(trace_file, key)), value)
    elif key == "allowed":
        _compare_shortage(findings, trace_file, value, expected)
    elif key == "must_hold":
        MUST_HOLD.check(findings, as_list(value), facts)
    elif key not in ("tolerance_s", "also_allowed", "available_after_filter", "requested", "format"):
        findings.skip(f"no check for expected.{key}")
    elif key == "format":
        findings.equal(key, trace_file.format, value)


def _compare_requests(
    findings: Findings, key: str, ours: list[Request], expected: list[dict[str, Any]], tolerance: float
) -> None:
    findings.equal(f"number of {key}", len(ours), len(expected))
    for number, (request, wanted) in enumerate(zip(ours, expected, strict=False)):
        for name, value in wanted.items():
            if name not in REQUEST_FIELDS:
                findings.skip(f"no check for {name} of a request")
                continue
            mine = REQUEST_FIELDS[name](request)
            same = (
                math.isclose(mine, value, rel_tol=0, abs_tol=tolerance) if _both_numbers(mine, value) else mine == value
            )
            if not same:
                findings.equal(f"request {number}: {name}", mine, value)


def _compare_measured(
    findings: Findings, ours: list[Request], expected: list[dict[str, float]], tolerance: float
) -> None:
    for number, (request, wanted) in enumerate(zip(ours, expected, strict=False)):
        for name, value in wanted.items():
            mine = request.measured.get(name)
            if mine is None or not math.isclose(mine, value, rel_tol=0, abs_tol=max(tolerance, 1e-6)):
                findings.equal(f"request {number}: measured {name}", mine, value)


def _compare_errors(findings: Findings, trace_file: TraceFile, expected: list[dict[str, Any]]) -> None:
    """Every refused line with a reason that says the same, and no other line refused."""
    ours = {rejection.line: rejection.reason for rejection in trace_file.rejected}
    noted = _accepted_with_a_note(trace_file, expected)
    for entry in expected:
        line, phrase = entry["line"], str(entry["reason"])
        codes = (phrase,) if phrase in ours.values() else _codes(phrase)
        if not codes:
            findings.skip(f'no code for the reason "{phrase}"')
        elif line not in noted and ours.get(line) not in codes:
            findings.equal(f"line {line}", ours.get(line, "accepted"), phrase)
    extra = sorted(set(ours) - {entry["line"] for entry in expected})
    if extra:
        findings.add("errors", f"line {extra[0]} is refused as {ours[extra[0]]}")


def _accepted_with_a_note(trace_file: TraceFile, expected: list[dict[str, Any]]) -> list[int]:
    """Lines that the case lets through with a note, and that were let through with one."""
    return [
        entry["line"]
        for entry in expected
        if "may be accepted" in str(entry["reason"]) and entry["line"] in trace_file.lines and trace_file.notes
    ]


def _compare_shortage(findings: Findings, trace_file: TraceFile, allowed: list[str], expected: dict[str, Any]) -> None:
    """Fewer requests than were asked for: as many as there are, and a note with both numbers."""
    available, requested = expected.get("available_after_filter"), expected.get("requested")
    if available is None or requested is None or not any("visible note" in str(option) for option in allowed):
        findings.skip(f"no check for {allowed}")
        return
    findings.equal("requests", len(trace_file.requests), available)
    said = any({str(available), str(requested)} <= set(re.findall(r"\d+", note)) for note in trace_file.notes)
    findings.add("notes", None if said else f"none names {available} and {requested}: {trace_file.notes}")


def _codes(phrase: str) -> tuple[str, ...]:
    return next((codes for pattern, codes in CODES if re.search(pattern, phrase, re.IGNORECASE)), ())


def _both_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


@MUST_HOLD.says(r"rows_total = rows_ok \+ rows reported as dropped")
def _rows_add_up(facts: FileFacts) -> str | None:
    trace_file = facts.trace_file
    dropped = len({rejection.line for rejection in trace_file.rejected})
    if trace_file.num_rows == trace_file.num_accepted + dropped:
        return None
    return f"{trace_file.num_rows} rows are {trace_file.num_accepted} and {dropped}"


@MUST_HOLD.says(r"ids are shown as text, not evaluated or rendered as markup")
def _shown_as_text(facts: FileFacts) -> str | None:
    """The browser gets every id letter by letter, and no view has a way to turn a text into markup or code."""
    ids = [request.request_id for request in facts.trace_file.requests]
    received = [request["id"] for request in _in_the_browser(facts).requests]
    if received != ids:
        return f"the browser gets {received}"
    for path in sorted([*VIEWS.rglob("*.js"), *VIEWS.rglob("*.py")]):
        found = MARKUP.search(path.read_text(encoding="utf-8"))
        if found:
            return f"{path.name} uses {found[0]}"
    return None


@MUST_HOLD.says(r"charts draw all (\w+) although ids contain .*")
def _all_are_drawn(facts: FileFacts, count: str) -> str | None:
    """The lanes of the player: one for each sequence, each with rows to draw and the exact id of its request."""
    expected = NUMBER_WORDS.index(count) if count in NUMBER_WORDS else int(count)
    trace = _in_the_browser(facts)
    drawn = set(trace.tracks["sequences"].columns["key"].tolist())
    lanes = {request["id"]: request["first_sequence"] for request in trace.requests}
    missing = [name for name, sequence in lanes.items() if sequence not in drawn]
    if missing or len(lanes) != expected or len(drawn) != expected:
        return f"{len(lanes)} lanes are drawn, without rows: {missing}"
    ids = {request.request_id for request in facts.trace_file.requests}
    return None if set(lanes) == ids else f"the lanes are called {sorted(lanes)}"


def _in_the_browser(facts: FileFacts) -> Trace:
    """A run of the requests, from the bytes that the player gets."""
    trace = simulate(Settings(max_num_seqs=8), ListWorkload(facts.trace_file.requests), facts.trace_file.name)
    return Trace.load(wire(trace, title="case"))
