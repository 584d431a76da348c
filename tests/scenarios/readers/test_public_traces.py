"""Extracts of the published traces and the cases about trace files, where they are at hand."""

import base64
import json
from pathlib import Path

import pytest

from scenarios.readers import convert_summary, read, scenario_requests
from scenarios.request_fields import read_requests
from scenarios.shared import SHARED

TRACES = {
    "azure_2023_code_head400.csv": ("azure_csv", 400),
    "azure_2023_code_tail150.csv": ("azure_csv", 150),
    "azure_2023_conv_head400.csv": ("azure_csv", 400),
    "inference_perf_azure_20.csv": ("azure_csv", 20),
    "mooncake_conversation_head400.jsonl": ("mooncake_jsonl", 400),
    "mooncake_synthetic_head300.jsonl": ("mooncake_jsonl", 300),
    "llmservingsim_mixed_608.jsonl": ("flat_jsonl", 608),
    "llmservingsim_example_10.jsonl": ("flat_jsonl", 10),
    "vllm_bench_rtx4090_requests.jsonl": ("vllm_bench_jsonl", 300),
    "vidur_splitwise_conv_head300.csv": ("vidur_csv", 300),
    "vidur_arxiv_lengths_head300.csv": ("lengths_csv", 300),
    "tracelab_multi_session_large.csv": ("tracelab_csv", 303),
    "tracelab_multi_session_example.csv": ("tracelab_csv", 8),
    "splitwise_sim_test_trace.csv": ("splitwise_csv", 3),
    "awkward/azure_extremes.csv": ("azure_csv", 11),
    "awkward/mooncake_28_at_once.jsonl": ("mooncake_jsonl", 28),
    "awkward/mooncake_bad_line.jsonl": ("mooncake_jsonl", 7),
    "awkward/mooncake_extremes.jsonl": ("mooncake_jsonl", 15),
    "awkward/mooncake_repeated_prompts.jsonl": ("mooncake_jsonl", 20),
    "shapes/azure_2024_shape.csv": ("azure_csv", 5),
    "shapes/azure_2025_multimodal_shape.csv": ("azure_csv", 4),
    "shapes/bailian_shape.jsonl": ("bailian", 3),
    "shapes/burstgpt_v1_shape.csv": ("burstgpt_csv", 6),
    "shapes/burstgpt_v3_shape.csv": ("burstgpt_csv", 5),
}
REJECTED = {
    "awkward/mooncake_bad_line.jsonl": [(4, "not_json")],
    "shapes/burstgpt_v1_shape.csv": [(5, "zero_output"), (6, "zero_prompt")],
    "shapes/burstgpt_v3_shape.csv": [(6, "zero_output")],
}
REASON_OF_SENTENCE = {
    "not a number": "not_finite",
    "not finite": "not_finite",
    "not an integer": "not_integer",
    "negative": "negative",
    "negative arrival": "negative",
    "zero output tokens": "zero_output",
    "zero prompt tokens": "zero_prompt",
    "no sub-requests": "no_sub_requests",
    "input_toks is text (may be accepted as 133 with a note)": "text",
    "input_toks is not an integer": "not_integer",
    "input_toks missing": "missing",
}


def found(place: str) -> Path:
    path = SHARED / place
    if not path.exists():
        pytest.skip(f"{place} is not at hand; KVSCOPE_SHARED names the folder that holds it")
    return path


@pytest.mark.parametrize("name", TRACES)
def test_every_row_of_a_published_trace_is_accounted_for(name):
    path = found(f"traces/{name}")
    trace_file = read(path, qps=2.0 if "lengths" in name else None)
    assert (trace_file.format, trace_file.num_rows) == TRACES[name]
    assert [(r.line, r.reason) for r in trace_file.rejected] == REJECTED.get(name, [])
    assert len(trace_file.requests) == trace_file.num_rows - len(trace_file.rejected)
    entries = json.loads(json.dumps(scenario_requests(trace_file)))
    assert [r.prompt for r in read_requests(entries)] == [r.prompt for r in trace_file.requests]


@pytest.mark.parametrize("name", [name for name, (kind, _) in TRACES.items() if kind in ("mooncake_jsonl", "bailian")])
def test_block_ids_come_out_as_they_went_in(name):
    lines = found(f"traces/{name}").read_text().splitlines()
    trace_file = read(SHARED / "traces" / name)
    first = convert_summary(trace_file)["first"]
    expected = [json.loads(lines[line - 1])["hash_ids"] for line in trace_file.lines[:5]]
    assert [request["hash_ids"] for request in first] == expected


@pytest.mark.parametrize("name", ["vllm_bench_rtx4090_requests.jsonl"])
def test_a_recorded_run_waits_from_0_17_to_137_8_seconds(name):
    trace_file = read(found(f"traces/{name}"))
    waits = [request.measured["ttft_s"] for request in trace_file.requests]
    assert (round(min(waits), 2), round(max(waits), 1)) == (0.17, 137.8)


@pytest.mark.parametrize(
    "name",
    [
        "byte-order-mark",
        "crlf-seven-digits-no-final-newline",
        "gzip-by-content",
        "millisecond-arrivals-stay-distinct",
        "more-requests-asked-than-rows",
        "not-a-number-and-thousands",
        "prefix-hits-from-block-ids",
        "two-clocks-in-one-row",
        "types-and-missing-fields",
        "unicode-and-quotes",
        "whole-and-fractional-seconds-mixed",
        "zero-token-rows",
    ],
)
def test_a_case_about_a_trace_file_comes_out(name):
    case = json.loads(found(f"cases/{name}.json").read_text())
    given, expected = case["input"], case["expected"]
    data = base64.b64decode(given["bytes_base64"]) if "bytes_base64" in given else given["text"].encode()
    for kind in (given["format"], "auto"):
        trace_file = read(data, format=kind, filter=given.get("filter"), first=given.get("limit"))
        wanted = expected.get("requests", expected.get("requests_sorted"))
        if wanted is not None:
            assert [r.arrival_time for r in trace_file.requests] == pytest.approx(
                [request["arrival_s"] for request in wanted], abs=expected.get("tolerance_s", 1e-9)
            )
            assert [(r.prompt.num_tokens, r.sampling.max_tokens) for r in trace_file.requests] == [
                (request["prompt_len"], request["output_len"]) for request in wanted
            ]
        for request, measured in zip(trace_file.requests, expected.get("measured", []), strict=False):
            assert {key: request.measured[key] for key in measured} == pytest.approx(measured, abs=1e-5)
        errors = [(error["line"], REASON_OF_SENTENCE[error["reason"]]) for error in expected.get("errors", [])]
        if "errors" in expected:
            assert [(r.line, r.reason) for r in trace_file.rejected] == errors
        num_ok = expected.get("rows_ok", expected.get("rows_ok_strict", expected.get("available_after_filter")))
        assert trace_file.num_accepted == num_ok
        assert trace_file.num_rows == expected.get("rows_total", trace_file.num_rows)
        assert trace_file.ignored_columns == expected.get("ignored_columns", trace_file.ignored_columns)
        assert trace_file.blank_lines == expected.get("blank_lines", [])
        assert [r.request_id for r in trace_file.requests] == expected.get(
            "ids", [r.request_id for r in trace_file.requests]
        )
