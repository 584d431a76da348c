"""Closed loops: a later round waits for the one before it and knows what the session has seen."""

import json

from scenarios.readers import convert_summary, read
from tests.scenarios.readers.tokens import shared

HEADER = "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"


def tracelab(rows: str):
    return read((HEADER + rows).encode())


def flat(*records: dict):
    return read("\n".join(json.dumps(record) for record in records).encode())


def test_rounds_wait_for_the_one_before_them():
    trace_file = tracelab("0,117,0,0,100,20,300\n0,117,1,120,30,5,154\n0,117,2,155,10,5,0\n1,393,0,0,80,10,0\n")
    rows = [(r.request_id, r.arrival_time, r.after, r.delay, r.prompt.num_tokens) for r in trace_file.requests]
    assert rows == [
        ("0.0", 0.0, None, 0.0, 100),
        ("0.1", 0.0, "0.0", 0.3, 150),
        ("0.2", 0.0, "0.1", 0.154, 165),
        ("1.0", 0.276, None, 0.0, 80),
    ]
    assert (trace_file.num_rows, trace_file.num_accepted, trace_file.lines) == (4, 4, [2, 3, 4, 5])
    assert "Later rounds, each of which arrives when the one before it has ended: 2 of 4." in trace_file.notes


def test_convert_says_after_and_delay_in_place_of_an_arrival():
    second = convert_summary(tracelab("0,117,0,0,100,20,300\n0,117,1,120,30,5,0\n"))["first"][1]
    assert (second["arrival_s"], second["after"], second["delay_s"]) == (None, "0.0", 0.3)


def test_a_prompt_begins_with_the_whole_prompt_before_it():
    first, second, third = tracelab("0,0,0,0,100,20,0\n0,0,1,120,30,5,0\n0,0,2,155,10,5,0\n").requests
    assert first.prompt.runs == ((1, 0, 100),)
    assert second.prompt.runs == ((1, 0, 150),)
    assert third.prompt.runs == ((1, 0, 165),)


def test_a_shorter_prefix_branches_off():
    first, second, third = tracelab("0,0,0,0,100,20,0\n0,0,1,50,30,5,0\n0,0,2,85,10,5,0\n").requests
    assert shared(first.prompt, second.prompt) == 50
    assert second.prompt.num_tokens == 80
    assert shared(second.prompt, third.prompt) == 80
    assert shared(first.prompt, third.prompt) == 50


def test_tokens_after_a_bare_prefix_are_new_ones():
    first, second, third = tracelab("0,0,0,0,100,20,0\n0,0,1,50,0,5,0\n0,0,2,55,10,5,0\n").requests
    assert second.prompt.num_tokens == 50
    assert shared(first.prompt, third.prompt) == 50
    assert third.prompt.num_tokens == 65


def test_a_session_that_branches_too_often_starts_afresh():
    rows = "".join(f"0,0,{i},{max(0, 3 * i - 1)},3,2,0\n" for i in range(40))
    requests = tracelab(rows).requests
    assert [request.prompt.num_tokens for request in requests] == [max(0, 3 * i - 1) + 3 for i in range(40)]
    assert max(len(request.prompt.runs) for request in requests) <= 16


def test_sessions_share_nothing_and_rounds_are_put_in_order():
    trace_file = tracelab("b,5,1,30,5,5,0\na,9,0,0,20,10,7\nb,5,0,0,20,10,1000\n")
    assert [r.request_id for r in trace_file.requests] == ["b.0", "b.1", "a.0"]
    assert trace_file.requests[1].delay == 1.0
    assert shared(trace_file.requests[0].prompt, trace_file.requests[2].prompt) == 0


def test_a_rejected_round_leaves_its_session_whole():
    trace_file = tracelab("0,0,0,0,20,10,7\n0,0,1,30,5,0,8\n0,0,2,30,5,5,9\n")
    assert [(r.line, r.reason) for r in trace_file.rejected] == [(3, "zero_output")]
    assert [(r.request_id, r.after, r.delay) for r in trace_file.requests] == [
        ("0.0", None, 0.0),
        ("0.2", "0.0", 0.007),
    ]


def test_a_line_of_sub_requests_is_a_session():
    calls = [
        {"input_toks": 14, "output_toks": 3, "tool_duration_ns": 127_348_767},
        {"input_toks": 15, "output_toks": 2, "tool_duration_ns": 0},
    ]
    trace_file = flat(
        {"input_toks": 7, "output_toks": 3, "arrival_time_ns": 2_000_000_000},
        {"session_id": "s", "arrival_time_ns": 1_000_000_000, "sub_requests": calls},
    )
    rows = [(r.request_id, r.arrival_time, r.after, r.delay, r.prompt.num_tokens) for r in trace_file.requests]
    assert rows == [("s.0", 0.0, None, 0.0, 14), ("s.1", 0.0, "s.0", 0.127348767, 15), ("r0", 1.0, None, 0.0, 7)]
    assert (trace_file.num_rows, trace_file.num_accepted, len(trace_file.requests)) == (2, 2, 3)


def test_a_session_with_a_bad_call_is_rejected_as_a_whole_and_says_which():
    good = {"input_toks": 7, "output_toks": 3, "tool_duration_ns": 0}
    trace_file = flat(
        {"session_id": "s", "arrival_time_ns": 0, "sub_requests": [good, good | {"input_toks": -1}]},
        {"session_id": "s", "arrival_time_ns": 0, "sub_requests": []},
        {"session_id": "s", "arrival_time_ns": 0, "sub_requests": [good | {"tool_duration_ns": -1}]},
        {"session_id": "s", "arrival_time_ns": 0, "sub_requests": [5]},
    )
    assert [r.reason for r in trace_file.rejected] == ["negative", "no_sub_requests", "negative", "missing"]
    assert trace_file.rejected[0].text.startswith("sub_requests[1].input_toks is -1")
    assert trace_file.requests == []
    assert trace_file.notes == ["No row of the file can be used."]


def test_token_ids_are_kept_where_they_are_real():
    record = {"input_toks": 3, "output_toks": 3, "arrival_time_ns": 0, "input_tok_ids": [5, 6, 7]}
    trace_file = flat(record, record | {"input_toks": 4}, record | {"input_tok_ids": [5, 6, "x"]})
    assert trace_file.requests[0].prompt.token_ids == (5, 6, 7)
    assert [(r.line, r.reason) for r in trace_file.rejected] == [(2, "not_integer"), (3, "text")]
