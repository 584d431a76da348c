"""LLMServingSim workloads: JSON lines of single requests, or of sessions with one chained call after the other.

`{"input_toks", "output_toks", "arrival_time_ns"}` is a request; with `sub_requests` a line is a session: its first call
arrives at `arrival_time_ns`, each later one `tool_duration_ns` after the call before it has ended (closed loop). Both may
stand in one file. Optional `input_tok_ids` are the real tokens of a prompt; without them no prefix can be recognised.
"""

from collections.abc import Mapping
from typing import Any

from engine.request import Prompt
from scenarios.readers.date_stamp import NANOSECONDS
from scenarios.readers.errors import RowError, quoted
from scenarios.readers.format import JsonFormat, Row, id_or
from scenarios.readers.numbers import MAX_COUNT, MAX_WAIT, check_lengths, count_of_json, time_of_json


class LLMServingSim(JsonFormat):
    name = "flat_jsonl"
    ticks = NANOSECONDS
    keys = frozenset(
        {"input_toks", "output_toks", "arrival_time_ns", "input_tok_ids", "request_id", "session_id", "sub_requests"}
    )

    @classmethod
    def recognises(cls, record: Mapping[str, Any]) -> bool:
        return "sub_requests" in record or len(record.keys() & {"input_toks", "output_toks", "arrival_time_ns"}) >= 2

    def parse(self, record: Mapping[str, Any], line: int, index: int) -> Row:
        if "sub_requests" in record:
            return _session(record, line, index)
        time = time_of_json(record.get("arrival_time_ns"), "arrival_time_ns", self.ticks)
        return _call(record, line, id_or(record.get("request_id"), f"r{index}"), time=time)


def _session(record: Mapping[str, Any], line: int, index: int) -> Row:
    calls = record["sub_requests"]
    if not isinstance(calls, list) or not calls:
        raise RowError("no_sub_requests", f"sub_requests is {quoted(calls)}; a session needs at least one.")
    time = time_of_json(record.get("arrival_time_ns"), "arrival_time_ns", NANOSECONDS)
    session = id_or(record.get("session_id"), f"r{index}")
    rows: list[Row] = []
    wait = 0.0
    for number, call in enumerate(calls):
        where = f"sub_requests[{number}]."
        if not isinstance(call, Mapping):
            raise RowError("missing", f"sub_requests[{number}] is {quoted(call)}, not an object with input_toks.")
        rows.append(_call(call, line, f"{session}.{number}", where=where, time=time, delay=wait))
        duration = time_of_json(call.get("tool_duration_ns", 0), f"{where}tool_duration_ns", NANOSECONDS, MAX_WAIT)
        wait = float(duration) / NANOSECONDS
    rows[0].rounds = rows[1:]
    return rows[0]


def _call(record: Mapping[str, Any], line: int, request_id: str, where: str = "", **times: Any) -> Row:
    prompt_len = count_of_json(record.get("input_toks"), f"{where}input_toks")
    output_len = count_of_json(record.get("output_toks"), f"{where}output_toks")
    check_lengths(prompt_len, output_len, f"{where}input_toks", f"{where}output_toks")
    ids = record.get("input_tok_ids")
    prompt = prompt_len if ids is None else _prompt_of_ids(ids, prompt_len, f"{where}input_tok_ids")
    return Row(line, request_id, prompt, output_len, **times)


def _prompt_of_ids(ids: Any, prompt_len: int, name: str) -> Prompt:
    if not isinstance(ids, list):
        raise RowError("not_integer", f"{name} is {quoted(ids)}; it has to be a list of token ids.")
    if len(ids) != prompt_len:
        raise RowError("not_integer", f"{name} has {len(ids):,} ids for a prompt of {prompt_len:,} tokens.")
    return Prompt.of_ids(
        i if type(i) is int and 0 <= i <= MAX_COUNT else count_of_json(i, f"an id in {name}") for i in ids
    )
