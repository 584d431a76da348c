"""Exported runs, read back as a viewer of Chrome trace events reads them."""

import io
import json
from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios.chrome_trace import Slice, events, slice_events, write

ONE_SECOND = 1_000_000  # microseconds


def request(request_id: str, arrival: float, prompt: int, output: int, n: int = 1) -> Request:
    return Request(request_id, arrival, Prompt.of_length(prompt), SamplingParams(n=n, max_tokens=output))


def run(requests: list[Request], **settings) -> Trace:
    return simulate(Settings(step_time=1.0, block_size=4, **settings), ListWorkload(requests))


def of_kind(trace: Trace, kind: str, pid: int | None = None) -> list[dict]:
    return [event for event in events(trace) if event["ph"] == kind and pid in (None, event["pid"])]


def slices_by_track(trace: Trace) -> dict[str, list[tuple[str, float, float]]]:
    """Track name -> (slice, start, end) in seconds, of the process that holds the requests."""
    names = {e["tid"]: e["args"]["name"] for e in of_kind(trace, "M", 2) if e["name"] == "thread_name"}
    tracks = defaultdict(list)
    for event in of_kind(trace, "X", 2):
        start = event["ts"] / ONE_SECOND
        tracks[names[event["tid"]]].append((event["name"], start, start + event["dur"] / ONE_SECOND))
    return dict(tracks)


def assert_no_partial_overlap(slices: list[dict]) -> None:
    tracks = defaultdict(list)
    for event in slices:
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(spans)))


def test_two_requests_that_overlap_get_two_tracks_and_touching_slices_share_one():
    a, b, a_again = Slice("A", "run", 0, 3), Slice("B", "run", 1, 4), Slice("A", "run", 3, 5)
    slices = [event for event in slice_events([a, b, a_again]) if event["ph"] == "X"]
    assert [(event["tid"], event["ts"], event["dur"]) for event in slices] == [
        (1, 0, 3 * ONE_SECOND),
        (2, 1 * ONE_SECOND, 3 * ONE_SECOND),
        (1, 3 * ONE_SECOND, 2 * ONE_SECOND),
    ]
    assert_no_partial_overlap(slices)


def test_overlapping_slices_of_one_track_are_refused():
    with pytest.raises(ValueError, match="'run' of 'A' begins at 2000000 us"):
        list(slice_events([Slice("A", "run", 0, 3), Slice("A", "run", 2, 4)]))


def test_a_request_waits_computes_its_prompt_and_decodes():
    trace = run([request("A", 0.0, 4, 3), request("B", 0.5, 4, 2)], max_num_seqs=1)
    assert slices_by_track(trace) == {
        "A": [("prefill", 0, 1), ("decode", 1, 3)],
        "B": [("waiting", 0.5, 3), ("prefill", 3, 4), ("decode", 4, 5)],
    }


def test_a_seat_that_idles_in_a_static_batch_is_drawn():
    trace = run([request("A", 0.0, 4, 3), request("B", 0.0, 4, 1)], policy="static", max_num_seqs=2)
    assert slices_by_track(trace)["B"] == [("prefill", 0, 1), ("idle seat", 1, 3)]


def test_a_preempted_request_says_so_and_computes_again():
    trace = run([request("A", 0.0, 4, 6), request("B", 0.0, 4, 6)], num_blocks=3)
    assert [name for name, _, _ in slices_by_track(trace)["B"]] == ["prefill", "preempted", "prefill", "decode"]
    (instant,) = of_kind(trace, "i", 2)
    assert (instant["name"], instant["ts"], instant["tid"]) == ("preempted", 1 * ONE_SECOND, 2)


def test_every_sample_has_a_track_of_its_own():
    trace = run([request("A", 0.0, 6, 2, n=2)])
    assert set(slices_by_track(trace)) == {"A sample 1", "A sample 2"}
    assert [event["name"] for event in of_kind(trace, "i", 2)] == ["copied", "written_in_place"]


def test_equal_ids_do_not_share_a_track():
    trace = run([request("A", 0.0, 4, 2), request("A", 0.0, 4, 2)])
    assert set(slices_by_track(trace)) == {"A", "A (request 2)"}


def test_counters_fall_to_zero_in_a_pause():
    trace = run([request("A", 0.0, 4, 2), request("B", 9.0, 4, 1)], num_blocks=8)
    used = [
        (e["ts"] // ONE_SECOND, e["args"]["used blocks"]) for e in of_kind(trace, "C") if e["name"] == "used blocks"
    ]
    assert used == [(0, 1), (1, 2), (2, 0), (9, 1), (10, 0)]


def test_output_tokens_of_the_slices_are_those_of_the_request():
    trace = run([request("A", 0.0, 4, 6), request("B", 0.0, 4, 6)], num_blocks=3)
    emitted = defaultdict(int)
    for event in of_kind(trace, "X", 2):
        emitted[event["tid"]] += event["args"]["output_tokens"]
    assert emitted == {1: 6, 2: 6}


def test_arrivals_before_zero_are_moved_to_zero():
    trace = run([request("A", -5.0, 4, 2)])
    assert min(event["ts"] for event in events(trace) if "ts" in event) == 0
    assert slices_by_track(trace)["A"] == [("waiting", 0, 5), ("prefill", 5, 6), ("decode", 6, 7)]


def test_a_run_without_a_request_is_a_valid_file():
    assert [event["name"] for event in events(run([]))] == ["process_name", "process_name"]


def test_runs_in_one_file_are_processes_of_their_own_and_names_are_plain_json():
    trace = run([request('<b>"é"\n</b>\ud800', 0.0, 4, 2)])
    file = io.StringIO()
    write({"first": trace, "second": trace}, file)
    text = file.getvalue()
    assert text.isascii()
    read = json.loads(text)["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in read if event["name"] == "process_name"}
    assert names == {1: "first: engine", 2: "first: requests", 3: "second: engine", 4: "second: requests"}
    assert {e["args"]["name"] for e in read if e["name"] == "thread_name"} == {"steps", '<b>"é"\n</b>\ud800'}


@given(
    st.lists(st.tuples(st.floats(0, 20), st.integers(1, 9), st.integers(1, 6), st.integers(1, 3)), max_size=6),
    st.sampled_from(["static", "continuous", "chunked"]),
    st.floats(1e-7, 2.0),
)
def test_slices_never_overlap_and_times_are_never_negative(arrivals, policy, step_time):
    requests = [request(f"R{i}", *arrival) for i, arrival in enumerate(sorted(arrivals))]
    settings = Settings(policy=policy, block_size=4, num_blocks=12, max_num_batched_tokens=12, step_time=step_time)
    written = list(events(simulate(settings, ListWorkload(requests))))
    assert_no_partial_overlap([event for event in written if event["ph"] == "X"])
    assert all(isinstance(event.get("ts", 0), int) and event.get("ts", 0) >= 0 for event in written)
    json.dumps(written, allow_nan=False)
