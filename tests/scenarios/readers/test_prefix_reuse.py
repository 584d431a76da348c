"""Block ids of a file become prefix identities: what the simulator finds is counted here again, from the file alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.loop import simulate
from engine.request import SamplingParams
from engine.settings import Settings
from engine.workload import ListWorkload
from scenarios.__main__ import main
from scenarios.acceptance.hits import hits_of
from scenarios.readers import read
from scenarios.shared import SHARED

MOONCAKE = 512
BAILIAN = 16
EXTRACTS = ("mooncake_conversation_head400.jsonl", "mooncake_synthetic_head300.jsonl")
CHAT = [(1_100, [1, 2, 3]), (1_600, [1, 2, 4, 5]), (1_024, [1, 2]), (600, [7, 8]), (2_100, [1, 2, 4, 6, 9])]
"""(input_length, hash_ids) with blocks of 512. Known before: nothing; 1, 2; 1, 2 but the last token is computed, so one
block; nothing; 1, 2, 4."""


def lines(rows: list[tuple[int, list[int]]], **more: object) -> bytes:
    keys = ("timestamp", "input_length", "hash_ids", "output_length")
    records = [dict(zip(keys, (1_000 * i, length, ids, 3), strict=True)) | more for i, (length, ids) in enumerate(rows)]
    return "\n".join(map(json.dumps, records)).encode()


def counted(text: str, block_size: int) -> list[int]:
    """Blocks that each row finds if all rows before it are remembered for ever: its leading ids that are known, and one
    token at least is left to compute. Only ids of full blocks are remembered."""
    known: set[int] = set()
    found = []
    for record in map(json.loads, text.splitlines()):
        ids, length = record["hash_ids"], record["input_length"]
        num_leading = next((place for place, block in enumerate(ids) if block not in known), len(ids))
        found.append(min(num_leading, (length - 1) // block_size))
        known.update(ids[: length // block_size])
    return found


def simulated(content: bytes, block_size: int, output_len: int | None = None) -> list[int]:
    """The same from a run of the file: unlimited memory, one request at a time in file order."""
    requests = [replace(request, arrival_time=0.0) for request in read(content).requests]
    if output_len is not None:
        requests = [replace(request, sampling=SamplingParams(max_tokens=output_len)) for request in requests]
    settings = Settings(prefix_caching=True, block_size=block_size, max_num_seqs=1, step_time=1.0)
    trace = simulate(settings, ListWorkload(requests))
    assert trace.num_steps == sum(request.sampling.max_tokens for request in requests), "one at a time"
    hits, rest = np.divmod(hits_of(trace), block_size)
    assert not rest.any()
    return hits.tolist()


def rates(capsys: pytest.CaptureFixture[str], path: Path, *more: str) -> dict[str, float]:
    """The hit rate of each run that the command prints."""
    assert main(["run", str(path), "--json", "--set", "prefix_caching=true", *more]) == 0
    return {run["name"]: run["hit_rate"] for run in json.loads(capsys.readouterr().out)["runs"]}


def test_leading_known_blocks_are_found():
    assert counted(lines(CHAT).decode(), MOONCAKE) == [0, 2, 1, 0, 3]
    assert simulated(lines(CHAT), MOONCAKE) == [0, 2, 1, 0, 3]


def test_a_known_block_behind_an_unknown_one_is_not_found():
    rows = [(1_024, [1, 2]), (1_536, [9, 2, 3]), (1_536, [1, 5, 2])]
    assert counted(lines(rows).decode(), MOONCAKE) == simulated(lines(rows), MOONCAKE) == [0, 0, 1]


def test_bailian_blocks_have_16_tokens():
    rows = [(40, [0, 1, 2]), (50, [0, 1, 3, 4]), (64, [0, 1, 3, 5]), (64, [0, 1, 3, 5])]
    content = lines(rows, chat_id=7, parent_chat_id=-1)
    assert read(content).block_size == BAILIAN
    assert counted(content.decode(), BAILIAN) == simulated(content, BAILIAN) == [0, 2, 3, 3]


@pytest.mark.parametrize("name", EXTRACTS)
def test_an_extract_is_found_as_its_ids_say(name: str):
    path = SHARED / "traces" / name
    if not path.is_file():
        pytest.skip(f"the trace extract {name} is not at hand")
    found = counted(path.read_text(), MOONCAKE)
    assert simulated(path.read_bytes(), MOONCAKE, output_len=1) == found
    assert sum(found) > len(found)


def test_every_run_of_a_file_with_ids_finds_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "chat.jsonl"
    path.write_bytes(lines(CHAT))
    """The runs have blocks of 16, so of the third prompt all but the last 16 tokens are found."""
    found = (1_024 + 1_008 + 1_536) / sum(length for length, _ in CHAT)
    assert rates(capsys, path) == pytest.approx(dict.fromkeys(("static", "continuous", "chunked"), found))


@pytest.mark.parametrize("name", EXTRACTS)
def test_every_run_of_an_extract_finds_something(name: str, capsys: pytest.CaptureFixture[str]):
    path = SHARED / "traces" / name
    if not path.is_file():
        pytest.skip(f"the trace extract {name} is not at hand")
    found = rates(capsys, path, "--first", "60")
    assert set(found) == {"static", "continuous", "chunked"}
    assert min(found.values()) > 0
