"""`export`: what a written file has to contain. Intervals are written by the program's own exporter and read back.

`chrome_trace_events` are complete ("X") slices; a viewer expects slices of one thread to nest or to follow each other.
"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from scenarios.chrome_trace import Slice, slice_events
from tests.cases.sentences import Sentences, as_list
from tests.cases.verdict import Findings, Unsupported

Event = dict[str, Any]
Span = tuple[float, float]

MUST_HOLD = Sentences()


def check(case: dict[str, Any], path: Path) -> Findings:
    """Write the intervals, one track a request, and check the sentences on the events."""
    given, expected = case["input"], case["expected"]
    if given.get("format") != "chrome_trace_events":
        raise Unsupported(f"there is no export to {given.get('format')!r}")
    slices = [
        Slice(entry["request"], entry["request"], entry["start_s"], entry["end_s"]) for entry in given["intervals"]
    ]
    findings = Findings()
    MUST_HOLD.check(findings, as_list(expected.get("must_hold", [])), list(slice_events(slices)))
    for key in sorted(set(expected) - {"must_hold"}):
        findings.skip(f"no check for expected.{key}")
    return findings


def _threads(events: list[Event]) -> dict[tuple[int, int], list[Event]]:
    threads: dict[tuple[int, int], list[Event]] = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    return threads


def _spans(events: list[Event], name: str) -> Iterator[Span]:
    """(start, end) in microseconds of the slices with that name, by start."""
    yield from sorted(
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event.get("name") == name and event["ph"] == "X"
    )


@MUST_HOLD.says(r"no two slices with the same pid and tid overlap in part")
def _nested(events: list[Event]) -> str | None:
    for thread, slices in _threads(events).items():
        spans = [(event["ts"], event["ts"] + event["dur"]) for event in slices]
        for one, other in combinations(spans, 2):
            first, second = sorted((one, other), key=lambda span: (span[0], -span[1]))
            if first[0] < second[0] < first[1] < second[1]:
                return f"{first} and {second} of thread {thread} overlap"
    return None


@MUST_HOLD.says(r"(\S+) and (\S+) have different tid")
def _different_threads(events: list[Event], one: str, other: str) -> str | None:
    threads = {
        name: {(event["pid"], event["tid"]) for event in events if event["ph"] == "X" and event["name"] == name}
        for name in (one, other)
    }
    if not all(threads.values()):
        return f"one of them has no slice: {threads}"
    return f"both are on {threads[one]}" if threads[one] & threads[other] else None


@MUST_HOLD.says(r"the two slices of (\S+) touch at (\d+(?:\.\d+)?) without overlapping")
def _touch(events: list[Event], name: str, seconds: str) -> str | None:
    spans = list(_spans(events, name))
    at = float(seconds) * 1e6
    if len(spans) != 2 or spans[0][1] != at or spans[1][0] != at:
        return f"its slices are {spans} microseconds"
    return None
