"""A trace file as JSON: the account that `convert` prints, and the requests of a scenario file.

The account shows the first and last five requests; a later round of a session has no arrival of its own, it says after
which request it comes and how long it waits. A scenario file made here loads to the same requests.
"""

from typing import Any

from engine.request import Request
from scenarios.readers.block_ids import block_ids
from scenarios.readers.trace_file import TraceFile
from scenarios.request_fields import dump_request

NUM_SHOWN = 5


def convert_summary(trace_file: TraceFile) -> dict[str, Any]:
    """The `input` object of the commands: format, account of the rows, rejected rows, first and last requests."""
    requests = trace_file.requests
    return {
        "format": trace_file.format,
        "rows": trace_file.num_rows,
        "accepted": trace_file.num_accepted,
        "left_out": trace_file.num_left_out,
        "requests": len(requests),
        "rejected": [
            {"line": rejection.line, "reason": rejection.reason, "text": rejection.text}
            for rejection in trace_file.rejected
        ],
        "blank_lines": trace_file.blank_lines,
        "ignored_columns": trace_file.ignored_columns,
        "notes": trace_file.notes,
        "first": [_shown(request, trace_file.block_size) for request in requests[:NUM_SHOWN]],
        "last": [_shown(request, trace_file.block_size) for request in requests[-NUM_SHOWN:]],
    }


def scenario_requests(trace_file: TraceFile) -> list[dict[str, Any]]:
    """The `requests` of a scenario file."""
    return [dump_request(request, index) for index, request in enumerate(trace_file.requests)]


def _shown(request: Request, block_size: int | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": request.request_id,
        "arrival_s": request.arrival_time if request.after is None else None,
        "prompt_len": request.prompt.num_tokens,
        "output_len": request.sampling.max_tokens,
    }
    if block_size is not None:
        shown["hash_ids"] = block_ids(request.prompt, block_size)
    if request.after is not None:
        shown |= {"after": request.after, "delay_s": request.delay}
    if request.measured:
        shown["measured"] = request.measured
    return shown
