"""Whatever bytes come in, the answer is a TraceFile that adds up or one ReadError sentence."""

import gzip
import json

from hypothesis import example, given
from hypothesis import strategies as st

from scenarios.readers import FORMATS, REASONS, ReadError, convert_summary, read, scenario_requests
from tests.scenarios.readers.test_detection import FILES


def check(data: bytes, format: str = "auto") -> None:
    try:
        trace_file = read(data, format=format, qps=1.0)
    except ReadError as error:
        assert str(error) and "\n" not in str(error) and len(str(error)) < 1500
        return
    assert trace_file.num_rows == trace_file.num_accepted + len(trace_file.rejected)
    assert all(rejection.reason in REASONS for rejection in trace_file.rejected)
    assert len({request.request_id for request in trace_file.requests}) == len(trace_file.requests)
    convert_summary(trace_file)
    scenario_requests(trace_file)
    for request in trace_file.requests:
        request.request_id.encode()
        assert request.prompt.num_tokens > 0
        assert 0 <= request.arrival_time <= 1e9


@given(st.binary(max_size=300), st.sampled_from(["auto", *FORMATS]))
@example(b"\x1f\x8b", "auto")
@example(b"\xff\xfe", "auto")
def test_any_bytes(data, format):
    check(data, format)
    check(b"\x1f\x8b" + data, format)
    check(gzip.compress(data), format)


@given(st.text(max_size=300), st.sampled_from(["auto", *FORMATS]))
def test_any_text(text, format):
    check(text.encode("utf-8", "surrogatepass"), format)


@given(st.sampled_from(FORMATS), st.data())
def test_a_good_file_with_bytes_changed(name, data):
    content = bytearray((FILES[name] * 3).encode())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        piece = data.draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b",", b"\n", b"9" * 20, b"\\ud800", b"-", b"[["])
        )
        content[place : place + data.draw(st.integers(0, 3))] = piece
    check(bytes(content))
    check(bytes(content), name)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
KEYS = ["timestamp", "input_length", "output_length", "hash_ids", "chat_id", "input_toks", "output_toks"]
KEYS += ["arrival_time_ns", "arrival_time", "sub_requests", "session_id", "input_tok_ids", "queued_ts", "request_id"]


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), values), min_size=1, max_size=4))
def test_any_json_values_under_known_keys(records):
    check("\n".join(json.dumps(record) for record in records).encode())
