"""Readers of public workload traces: a file comes in, requests and a full account of every row come out.

`read` detects the format by content, unpacks gzip, streams, rejects bad rows one by one and uses the rest. One file holds
one published format or a family of them; `detection.py` lists them. What becomes of the requests is not known here.
"""

from scenarios.readers.conversion import convert_summary, scenario_requests
from scenarios.readers.detection import FORMATS
from scenarios.readers.errors import REASONS, ReadError
from scenarios.readers.reading import MAX_ROWS, read
from scenarios.readers.trace_file import Rejection, TraceFile

__all__ = [
    "FORMATS",
    "MAX_ROWS",
    "REASONS",
    "ReadError",
    "Rejection",
    "TraceFile",
    "convert_summary",
    "read",
    "scenario_requests",
]
