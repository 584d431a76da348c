"""The account of a file, and scenario files that load to the same requests."""

import json

import pytest

from scenarios.readers import FORMATS, convert_summary, read, scenario_requests
from scenarios.request_fields import read_requests
from tests.scenarios.readers.test_detection import FILES


def test_the_account_adds_up_and_shows_five_requests_at_either_end():
    rows = "".join(f"r{i},{i},{i % 7},2\n" for i in range(14))
    summary = convert_summary(read(f"id,arrival_s,prompt_len,output_len\n{rows}".encode(), first=10))
    assert (summary["format"], summary["rows"], summary["accepted"], summary["left_out"]) == ("generic_csv", 14, 10, 2)
    assert [(r["line"], r["reason"]) for r in summary["rejected"]] == [(2, "zero_prompt"), (9, "zero_prompt")]
    assert [request["id"] for request in summary["first"]] == ["r1", "r2", "r3", "r4", "r5"]
    assert summary["last"][-1] == {"id": "r11", "arrival_s": 10.0, "prompt_len": 4, "output_len": 2}
    assert json.loads(json.dumps(summary)) == summary


@pytest.mark.parametrize("name", FORMATS)
def test_a_scenario_file_loads_to_the_same_requests(name):
    header, row = FILES[name].splitlines() if name.endswith("csv") else ("", FILES[name].strip())
    data = "\n".join(([header] if header else []) + [row] * 3).encode()
    requests = read(data, qps=1.0).requests
    entries = json.loads(json.dumps(scenario_requests(read(data, qps=1.0))))
    loaded = read_requests(entries)
    for ours, theirs in zip(requests, loaded, strict=True):
        for part in ("request_id", "arrival_time", "prompt", "sampling", "after", "delay", "measured"):
            assert getattr(ours, part) == getattr(theirs, part)


def test_prompts_of_known_length_only_are_written_as_a_length():
    entries = scenario_requests(read(FILES["azure_csv"].encode()))
    assert entries == [{"id": "r0", "arrival_s": 0.0, "prompt": {"len": 48}, "output_len": 10}]
