"""The figures of runs as a table: one row a figure, one column a run, and what a file measured beside them.

A figure is formatted here and nowhere else, so that a number reads the same on every page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.request import Request

Row = tuple[str, Callable[[Mapping[str, Any]], Any], Callable[[float], str]]
NOTHING = "–"


def count(value: float) -> str:
    return f"{value:,.0f}"


def seconds(value: float) -> str:
    """Three significant digits in the unit that reads best."""
    if abs(value) < 1e-3:
        return f"{value * 1e6:.3g} µs"
    return f"{value * 1e3:.3g} ms" if abs(value) < 1 else f"{value:,.2f} s"


def share(value: float) -> str:
    return f"{value:.1%}"


ROWS: tuple[Row, ...] = (
    ("Requests", lambda f: f["requests"], count),
    ("Finished", lambda f: f["finished"], count),
    ("Refused", lambda f: f["rejected"], count),
    ("Iterations", lambda f: f["steps"], count),
    ("Duration", lambda f: f["duration_s"], seconds),
    ("Throughput, output tokens per second", lambda f: f["throughput_tok_s"], count),
    ("Time to first token, median", lambda f: f["ttft_s"]["p50"], seconds),
    ("Time to first token, 99th percentile", lambda f: f["ttft_s"]["p99"], seconds),
    ("Between two tokens, median", lambda f: f["itl_s"]["p50"], seconds),
    ("Between two tokens, 99th percentile", lambda f: f["itl_s"]["p99"], seconds),
    ("Latency per output token, mean", lambda f: f["normalized_latency_s"], seconds),
    ("Preemptions", lambda f: f["preemptions"], count),
    ("Copies on write", lambda f: f["cow_copies"], count),
    ("Seats in use", lambda f: f.get("seat_utilization"), share),
    ("KV memory holding tokens", lambda f: (f.get("kv") or {}).get("token"), share),
    ("KV memory reserved", lambda f: (f.get("kv") or {}).get("reserved"), share),
    ("KV memory wasted inside", lambda f: (f.get("kv") or {}).get("internal"), share),
    ("KV memory wasted between", lambda f: (f.get("kv") or {}).get("external"), share),
    ("KV memory free", lambda f: (f.get("kv") or {}).get("free"), share),
)


def table(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Columns for a data frame: `Figure`, then one column for each run name with its figures as text."""
    columns = {"Figure": [name for name, _, _ in ROWS]}
    for run, figures in runs.items():
        columns[run] = [_text(value(figures), form) for _, value, form in ROWS]
    return columns


def _text(value: float | None, form: Callable[[float], str]) -> str:
    return NOTHING if value is None else form(value)


def measured(requests: Sequence[Request]) -> dict[str, Any] | None:
    """What a file measured, in the shape of a run's figures; None when no request brought times along."""
    known = [request for request in requests if request.measured]
    if not known:
        return None
    nothing = dict.fromkeys(("rejected", "steps", "duration_s", "throughput_tok_s", "preemptions", "cow_copies"))
    latencies = [r.measured["latency_s"] / r.sampling.max_tokens for r in known if "latency_s" in r.measured]
    return {
        **nothing,
        "requests": len(known),
        "finished": len(known),
        "ttft_s": {"p50": _percentile(known, "ttft_s", 50), "p99": _percentile(known, "ttft_s", 99)},
        "itl_s": {"p50": _percentile(known, "tpot_s", 50), "p99": _percentile(known, "tpot_s", 99)},
        "normalized_latency_s": float(np.mean(latencies)) if latencies else None,
    }


def _percentile(requests: Sequence[Request], name: str, percent: float) -> float | None:
    values = [request.measured[name] for request in requests if name in request.measured]
    return float(np.percentile(values, percent)) if values else None
