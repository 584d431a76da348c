"""A format is told by what a file holds; what is no trace is refused with one sentence."""

import gzip
from pathlib import Path

import pytest

from scenarios.readers import FORMATS, ReadError, read

FILES = {
    "azure_csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,48,10\n",
    "burstgpt_csv": "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,48,10,58,API log\n",
    "mooncake_jsonl": '{"timestamp": 0, "input_length": 48, "output_length": 10, "hash_ids": [0]}\n',
    "bailian": '{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 48, "output_length": 10, '
    '"hash_ids": [0, 1, 2]}\n',
    "flat_jsonl": '{"input_toks": 48, "output_toks": 10, "arrival_time_ns": 7}\n',
    "vllm_bench_jsonl": '{"request_id": "a", "input_toks": 48, "output_toks": 10, "arrival_time": 1787267980.08}\n',
    "vidur_csv": "arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,48,10\n",
    "tracelab_csv": "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"
    "0,117,0,0,48,10,300\n",
    "splitwise_csv": "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
    "0,2,0,1,1,48,10\n",
    "lengths_csv": "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n48,10,58,4.8\n",
    "generic_csv": "id,arrival_s,prompt_len,output_len\na,0.5,48,10\n",
}


def test_every_format_has_an_example_here():
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_recognised_and_read_alike(name):
    for data in (FILES[name].encode(), gzip.compress(FILES[name].encode())):
        trace_file = read(data, qps=1.0)
        assert trace_file.format == name
        (request,) = trace_file.requests
        assert (request.arrival_time, request.prompt.num_tokens, request.sampling.max_tokens) == (0.0, 48, 10)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_may_be_named(name):
    assert read(FILES[name].encode(), format=name, qps=1.0).num_accepted == 1


def test_the_name_of_a_file_says_nothing(tmp_path: Path):
    path = tmp_path / "mooncake.jsonl.gz"
    path.write_text(FILES["azure_csv"])
    assert read(path).format == "azure_csv"


def test_columns_may_stand_in_any_order_and_extra_ones_are_named():
    data = b"Session ID,Response tokens,Request tokens,Timestamp\ns,10,48,5\n"
    trace_file = read(data)
    assert (trace_file.format, trace_file.ignored_columns) == ("burstgpt_csv", ["Session ID"])
    assert trace_file.requests[0].prompt.num_tokens == 48


def test_semicolons_and_tabs_separate_columns_too():
    for sign in ";\t":
        data = FILES["generic_csv"].replace(",", sign).encode()
        assert read(data).requests[0].request_id == "a"


def test_a_first_line_that_is_broken_does_not_hide_the_format():
    data = '{"timestamp": 0, "input_length": 4 5}\n' + FILES["mooncake_jsonl"]
    trace_file = read(data.encode())
    assert trace_file.format == "mooncake_jsonl"
    assert [(r.line, r.reason) for r in trace_file.rejected] == [(1, "not_json")]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty."),
        (b"\n \r\n", "the file holds blank lines only."),
        (b"\xef\xbb\xbf\n", "the file holds blank lines only."),
        (b"\x00\x01\x02" * 100, "binary data"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"t,running,waiting\n1,2,3\n", "begins with 't', 'running', 'waiting', the header of no known format"),
        (b'{"a": 1, "b": 2}\n', "has JSON lines with the keys 'a', 'b'"),
        (b'[{"timestamp": 0}]\n', "none of its first lines is an object by itself"),
        (b"TIMESTAMP,ContextTokens,GeneratedTokens\n", "has the header of azure_csv but no rows."),
        (b"x" * 2_000_000, "begins with a line of more than a million characters"),
        (b'"open\n' * 3, "is no header"),
    ],
)
def test_what_is_no_trace_is_refused_with_one_sentence(data, sentence):
    with pytest.raises(ReadError) as error:
        read(data)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_file_is_answered_with_all_formats():
    with pytest.raises(ReadError) as error:
        read(b"a,b\n1,2\n")
    assert all(name in str(error.value) for name in FORMATS)


def test_a_named_format_has_to_fit():
    with pytest.raises(ReadError, match="azure_csv needs the columns TIMESTAMP, ContextTokens, GeneratedTokens"):
        read(FILES["vidur_csv"].encode(), format="azure_csv")
    with pytest.raises(ReadError, match="'pandas' is no format; there are azure_csv"):
        read(FILES["vidur_csv"].encode(), format="pandas")
    with pytest.raises(ReadError, match="has no column 'Model' to filter by"):
        read(FILES["vidur_csv"].encode(), filter={"Model": "GPT-4"})


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path):
    with pytest.raises(ReadError, match=r"trace\.csv cannot be read: No such file or directory\."):
        read(tmp_path / "trace.csv")
