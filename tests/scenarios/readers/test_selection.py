"""Order of arrival, windows, rates, limits and ids: what runs, when, and that nothing is lost on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.readers import ReadError, read
from scenarios.readers import reading as reading_module
from scenarios.readers.format import Row
from scenarios.readers.selection import longest

HEADER = "id,arrival_s,prompt_len,output_len\n"
FIVE = HEADER + "a,10,5,2\nb,12.5,5,2\nc,15,5,2\nd,20,5,2\ne,30,5,2\n"


def generic(rows: str, **options):
    return read((HEADER + rows).encode(), **options)


def arrivals(trace_file) -> list[tuple[str, float]]:
    return [(request.request_id, request.arrival_time) for request in trace_file.requests]


def test_rows_are_sorted_by_arrival_and_equal_ones_keep_their_order():
    trace_file = generic("late,9,5,2\nx,4,5,2\ny,4,5,2\nearly,1,5,2\n")
    assert arrivals(trace_file) == [("early", 0.0), ("x", 3.0), ("y", 3.0), ("late", 8.0)]
    assert trace_file.lines == [5, 3, 4, 2]


def test_times_count_from_the_first_accepted_row():
    assert arrivals(generic("bad,0,0,2\na,1,5,2\nb,3,5,2\n")) == [("a", 0.0), ("b", 2.0)]


def test_decimal_fractions_are_subtracted_exactly():
    assert arrivals(generic("a,0.1,5,2\nb,0.3,5,2\n")) == [("a", 0.0), ("b", 0.2)]


def test_a_window_holds_its_start_and_not_its_end():
    trace_file = read(FIVE.encode(), window=(2.5, 10))
    assert arrivals(trace_file) == [("b", 0.0), ("c", 2.5)]
    assert (trace_file.num_rows, trace_file.num_accepted, trace_file.num_left_out) == (5, 2, 3)
    assert trace_file.notes[0].startswith("Arrivals in the window from 2.5 to 10 s: 2 of 5; times count from the first")


def test_an_empty_window_is_an_account_not_an_error():
    trace_file = read(FIVE.encode(), window=(100, 200))
    assert (trace_file.requests, trace_file.num_left_out) == ([], 5)


def test_a_rate_of_two_halves_the_gaps_but_not_the_waits():
    assert [time for _, time in arrivals(read(FIVE.encode(), rate=2.0))] == [0.0, 1.25, 2.5, 5.0, 10.0]
    rows = "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"
    rows += "0,0,0,0,5,5,800\n0,0,1,10,5,5,0\n1,1000,0,0,5,5,0\n"
    first, later, other = read(rows.encode(), rate=2.0).requests
    assert (first.arrival_time, later.delay, other.arrival_time) == (0.0, 0.8, 0.5)


def test_the_first_two_are_the_first_to_arrive():
    assert arrivals(generic("c,9,5,2\na,1,5,2\nb,4,5,2\n", first=2)) == [("a", 0.0), ("b", 3.0)]


def test_asking_for_more_than_there_is_gives_what_there_is_and_says_so():
    rows = "1,GPT-4,10,5,15,API log\n2,GPT-4,10,0,10,API log\n3,ChatGPT,10,5,15,API log\n"
    data = f"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n{rows}".encode()
    trace_file = read(data, filter={"Model": "GPT-4"}, first=3)
    assert (trace_file.num_rows, trace_file.num_accepted, trace_file.num_left_out) == (3, 1, 1)
    assert [(r.line, r.reason) for r in trace_file.rejected] == [(3, "zero_output")]
    assert trace_file.notes == ["Requests asked for: 3; requests that can be used: 1; none is repeated."]


def test_a_filter_on_json_lines_compares_values_as_text():
    rows = [f'{{"input_toks": {n}, "output_toks": 1, "arrival_time_ns": 0, "kind": {n % 2}}}' for n in range(1, 6)]
    trace_file = read("\n".join(rows).encode(), filter={"kind": "1"})
    assert [request.prompt.num_tokens for request in trace_file.requests] == [1, 3, 5]


def test_ids_that_come_again_get_a_number():
    trace_file = generic("a,0,5,2\na,1,5,2\na#2,2,5,2\na,3,5,2\n,4,5,2\n")
    assert [request.request_id for request in trace_file.requests] == ["a", "a#2", "a#2#2", "a#3", "r4"]
    assert trace_file.notes == ["Requests whose id came before, and which got a number like a#2: 3."]


def test_very_long_ids_are_cut_and_stay_apart():
    trace_file = generic(f"{'x' * 300},0,5,2\n{'x' * 300},1,5,2\n")
    first, second = (request.request_id for request in trace_file.requests)
    assert (len(first), len(second), first != second) == (200, 200, True)


def test_later_rounds_follow_the_new_id_of_their_first():
    rows = '{"session_id": "s", "arrival_time_ns": 0, "sub_requests": [%s, %s]}\n' % ((CALL,) * 2)
    requests = read((rows * 2).encode()).requests
    assert [(r.request_id, r.after) for r in requests] == [
        ("s.0", None),
        ("s.1", "s.0"),
        ("s.0#2", None),
        ("s.1#2", "s.0#2"),
    ]


CALL = '{"input_toks": 5, "output_toks": 1, "tool_duration_ns": 0}'


def test_a_row_far_after_all_others_is_a_bad_time():
    trace_file = generic("a,0,5,2\nb,5e9,5,2\nc,1,5,2\n")
    assert [(r.line, r.reason) for r in trace_file.rejected] == [(3, "bad_time")]
    assert arrivals(trace_file) == [("a", 0.0), ("c", 1.0)]
    assert arrivals(generic("a,0,5,2\nb,5e9,5,2\n", rate=10.0)) == [("a", 0.0), ("b", 5e8)]


AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def test_one_very_early_row_costs_itself_only():
    rows = "".join(f"2023-11-16 18:17:0{second},10,5\n" for second in range(9))
    trace_file = read(f"{AZURE}1970-01-01 00:00:00,10,5\n{rows}".encode())
    assert len(trace_file.requests) == 9
    (rejection,) = trace_file.rejected
    assert (rejection.line, rejection.reason) == (2, "bad_time")
    assert rejection.text == (
        "the row arrives 1,700,158,620 seconds before the first of the 9 rows in use; "
        "a run spans at most 1,000,000,000 seconds."
    )


def test_of_several_stretches_the_one_with_most_rows_is_used():
    rows = "a,0,5,2\nb,4e9,5,2\nc,4000000007,5,2\nd,8e9,5,2\n"
    trace_file = generic(rows)
    assert arrivals(trace_file) == [("b", 0.0), ("c", 7.0)]
    assert [(rejection.line, rejection.text.partition(" rows")[0]) for rejection in trace_file.rejected] == [
        (2, "the row arrives 4,000,000,000 seconds before the first of the 2"),
        (5, "the row arrives 3,999,999,993 seconds after the last of the 2"),
    ]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(1, 60))
def test_no_other_rows_within_the_limit_are_more(times, limit):
    rows = [Row(number, "", 1, 1, time) for number, time in enumerate(sorted(times))]
    first, past = longest(rows, limit)
    assert rows[past - 1].time - rows[first].time <= limit
    assert past - first == max(sum(0 <= row.time - start.time <= limit for row in rows) for start in rows)


def test_a_rate_that_stretches_the_file_too_far_is_named():
    trace_file = generic("a,0,5,2\nb,0.5,5,2\nc,3,5,2\n", rate=1e-9)
    assert arrivals(trace_file) == [("a", 0.0), ("b", pytest.approx(5e8))]
    assert "after the last of the 2 rows in use at the rate 1e-09" in trace_file.rejected[0].text


def test_lengths_need_a_rate_of_arrivals():
    data = b"num_prefill_tokens,num_decode_tokens\n" + b"48,10\n" * 2000
    with pytest.raises(ReadError, match=r"the file has lengths but no arrival times; say how many .* --qps"):
        read(data)
    trace_file = read(data, qps=4.0)
    times = [request.arrival_time for request in trace_file.requests]
    assert times[0] == 0.0
    assert times == sorted(times)
    assert times == [request.arrival_time for request in read(data, qps=4.0).requests]
    assert times[-1] == pytest.approx(500, rel=0.1)
    assert "drawn, 4 a second on average" in trace_file.notes[0]


def test_a_file_with_arrivals_says_that_it_needs_no_qps():
    trace_file = read(FIVE.encode(), qps=4.0)
    assert arrivals(trace_file) == arrivals(read(FIVE.encode()))
    assert "--qps is not used" in trace_file.notes[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"first": 0}, "first is 0; it has to be at least 1 request."),
        ({"rate": 0.0}, "rate is 0.0; it has to be a number from 1e-9 to 1e9."),
        ({"rate": float("nan")}, "rate is nan"),
        ({"qps": -1.0}, "qps is -1.0"),
        ({"window": (5.0, 5.0)}, "window is 5.0:5.0"),
        ({"window": (-1.0, 5.0)}, "window is -1.0:5.0"),
        ({"window": (0.0, float("nan"))}, "window is 0.0:nan"),
    ],
)
def test_an_option_out_of_range_is_one_sentence(options, sentence):
    with pytest.raises(ReadError) as error:
        read(FIVE.encode(), **options)
    assert str(error.value).startswith(sentence)


def test_rows_beyond_the_cap_are_not_read_and_a_note_says_so(monkeypatch):
    monkeypatch.setattr(reading_module, "MAX_ROWS", 3)
    trace_file = read(FIVE.encode())
    assert [request.request_id for request in trace_file.requests] == ["a", "b", "c"]
    assert trace_file.notes == ["Only the first 3 rows or requests were read; the rest of the file is not used."]
    monkeypatch.setattr(reading_module, "MAX_ROWS", 5)
    assert read(FIVE.encode()).notes == []


def test_prompt_pieces_beyond_the_cap_are_not_read_and_a_note_says_so(monkeypatch):
    monkeypatch.setattr(reading_module, "MAX_PIECES", 4)
    row = b'{"input_toks": 3, "output_toks": 1, "arrival_time_ns": 0, "input_tok_ids": [1, 2, 3]}\n'
    trace_file = read(row * 5)
    assert len(trace_file.requests) == 2
    assert "Only the first 4 block ids and token ids were read" in trace_file.notes[0]


def test_progress_is_told_and_may_stop_the_reading():
    def stop(num_rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(FIVE.encode(), progress=stop)
    seen: list[int] = []
    generic("".join(f"r{i},{i},5,2\n" for i in range(5000)), progress=seen.append)
    assert seen == [0, 4096]


numbers = st.one_of(st.integers(-2, 9).map(str), st.sampled_from(["", "x", "nan", "1.5", "1e1", "-0"]))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), numbers, numbers, numbers), min_size=1, max_size=12), st.integers(1, 9)
)
def test_every_row_is_accepted_rejected_or_left_out(rows, first):
    trace_file = generic("".join(",".join(row) + "\n" for row in rows), first=first, window=(1.0, 6.0))
    assert trace_file.num_rows == len(rows)
    accepted, rejected = set(trace_file.lines), {rejection.line for rejection in trace_file.rejected}
    assert not accepted & rejected
    assert trace_file.num_left_out == len(rows) - len(accepted) - len(rejected) >= 0
    times = [request.arrival_time for request in trace_file.requests]
    assert times == sorted(times)
    assert all(request.prompt.num_tokens and request.sampling.max_tokens for request in trace_file.requests)
