"""Recorded runs of a real vLLM server: one JSON line a request, with the times that were measured.

Two clocks stand in one row: `arrival_time` is seconds since 1970, the `*_ts` stamps are a monotonic clock with an
arbitrary zero. Arrivals are compared with arrivals, stamps with stamps, never across; the results are kept in `measured`
beside what the simulator will say: `ttft_s`, `tpot_s`, `queue_s`, `latency_s`.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engine.trace.check import MAX_INT
from scenarios.readers.errors import RowError
from scenarios.readers.format import JsonFormat, Row, id_or
from scenarios.readers.numbers import check_lengths, count_of_json, time_of_json

STAMPS = ("queued_ts", "scheduled_ts", "first_token_ts", "last_token_ts")


class VllmBench(JsonFormat):
    name = "vllm_bench_jsonl"
    keys = frozenset({"request_id", "input_toks", "output_toks", "arrival_time", *STAMPS})

    def __init__(self) -> None:
        self.num_unusable = 0

    @classmethod
    def recognises(cls, record: Mapping[str, Any]) -> bool:
        return "arrival_time" in record and bool(record.keys() & {"input_toks", "output_toks"})

    def parse(self, record: Mapping[str, Any], line: int, index: int) -> Row:
        time = time_of_json(record.get("arrival_time"), "arrival_time", self.ticks)
        prompt_len = count_of_json(record.get("input_toks"), "input_toks")
        output_len = count_of_json(record.get("output_toks"), "output_toks")
        check_lengths(prompt_len, output_len, "input_toks", "output_toks")
        request_id = id_or(record.get("request_id"), f"r{index}")
        return Row(line, request_id, prompt_len, output_len, time, measured=self._measured(record, output_len))

    def notes(self) -> list[str]:
        if not self.num_unusable:
            return []
        return [f"Rows whose measured times are unreadable or run backwards, and are not shown: {self.num_unusable:,}."]

    def _measured(self, record: Mapping[str, Any], output_len: int) -> dict[str, float]:
        """Seconds between the stamps that are there; nothing at all if one of them is wrong."""
        stamps: dict[str, int | Decimal] = {}
        try:
            for name in STAMPS:
                if record.get(name) is not None:
                    stamps[name] = time_of_json(record[name], name, self.ticks)
        except RowError:
            self.num_unusable += 1
            return {}
        times = list(stamps.values())
        if times != sorted(times) or (times and times[-1] - times[0] > MAX_INT):
            self.num_unusable += 1
            return {}
        measured = {
            "queue_s": _between(stamps, "queued_ts", "scheduled_ts"),
            "ttft_s": _between(stamps, "queued_ts", "first_token_ts"),
            "latency_s": _between(stamps, "queued_ts", "last_token_ts"),
        }
        decoding = _between(stamps, "first_token_ts", "last_token_ts")
        if decoding is not None and output_len > 1:
            measured["tpot_s"] = decoding / (output_len - 1)
        return {name: seconds for name, seconds in measured.items() if seconds is not None}


def _between(stamps: Mapping[str, int | Decimal], first: str, last: str) -> float | None:
    return float(stamps[last] - stamps[first]) if first in stamps and last in stamps else None
