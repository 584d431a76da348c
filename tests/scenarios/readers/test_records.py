"""Rows and objects out of lines: quotes, blank lines, wrong widths, broken JSON."""

import pytest

from scenarios.readers import read

HEADER = "id,arrival_s,prompt_len,output_len\n"


def read_rows(rows: str):
    return read((HEADER + rows).encode())


def ids(trace_file) -> list[str]:
    return [request.request_id for request in trace_file.requests]


def rejected(trace_file) -> list[tuple[int, str]]:
    return [(rejection.line, rejection.reason) for rejection in trace_file.rejected]


def test_ids_are_plain_text_whatever_they_hold():
    rows = '"会话.1",0,5,2\n"he said ""hi""",1,5,2\n"two\nlines",2,5,2\n=1+1,3,5,2\n<b>🙂</b>,4,5,2\n'
    assert ids(read_rows(rows)) == ["会话.1", 'he said "hi"', "two\nlines", "=1+1", "<b>🙂</b>"]


def test_a_row_after_a_quoted_line_break_has_the_right_line():
    trace_file = read_rows('"two\nlines",0,5,2\nb,1,x,2\n')
    assert trace_file.lines == [2]
    assert rejected(trace_file) == [(4, "text")]


def test_a_quote_that_stays_open_costs_its_own_line_only():
    rows = '"open,0,5,2\n' + "".join(f"r{i},{i},5,2\n" for i in range(150))
    trace_file = read_rows(rows)
    assert rejected(trace_file) == [(2, "text")]
    assert (len(trace_file.requests), trace_file.num_rows) == (150, 151)


def test_a_quote_inside_a_field_is_a_letter():
    assert ids(read_rows('5" disk,0,5,2\n')) == ['5" disk']


def test_blank_lines_are_listed_and_are_no_rows():
    trace_file = read_rows("\na,0,5,2\n  \r\nb,1,5,2\n\n")
    assert trace_file.blank_lines == [2, 4, 6]
    assert (trace_file.num_rows, ids(trace_file)) == (2, ["a", "b"])


def test_a_row_with_a_field_too_many_is_not_guessed_at():
    trace_file = read_rows("a,0,1,024,5\nb,1,5\nc,2,5,2,\n")
    assert rejected(trace_file) == [(2, "text"), (3, "missing")]
    assert ids(trace_file) == ["c"]
    assert trace_file.rejected[0].text.startswith("the row has 5 fields, the header 4")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"timestamp": 0, "input_length": 17448, "output_length":2748 610, "hash_ids": []}', "not_json"),
        ("[1, 2]", "not_json"),
        ('"text"', "not_json"),
        ("[" * 100_000, "not_json"),
        ('{"timestamp": ' + "9" * 5000 + "}", "not_json"),
        ('{"timestamp": 1e99999999999999999999, "input_length": 5, "output_length": 5}', "not_json"),
        ('{"timestamp": 0, "output_length": 5, "hash_ids": []}', "missing"),
        ('{"timestamp": 0, "input_length": null, "output_length": 5}', "missing"),
        ('{"timestamp": 0, "input_length": true, "output_length": 5}', "not_integer"),
        ('{"timestamp": 0, "input_length": [5], "output_length": 5}', "not_integer"),
        ('{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": "x"}', "not_integer"),
        ('{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [-1]}', "negative"),
    ],
)
def test_a_bad_json_line_costs_itself_only(line, reason):
    good = '{"timestamp": 3, "input_length": 5, "output_length": 5, "hash_ids": [1]}'
    trace_file = read(f"{good}\n{line}\n{good}".encode(), format="mooncake_jsonl")
    assert rejected(trace_file) == [(2, reason)]
    assert trace_file.lines == [1, 3]
    assert all("\n" not in r.text and len(r.text) < 200 for r in trace_file.rejected)


def test_keys_and_columns_that_nobody_reads_are_named():
    data = b'{"input_toks": 5, "output_toks": 5, "arrival_time_ns": 0, "user": 1, "kind": "a"}\n'
    assert read(data).ignored_columns == ["user", "kind"]
