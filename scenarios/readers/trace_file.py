"""What a reader hands out: the requests of a file, and where every other row of it went.

Every data row is accepted, rejected or left out: `num_rows = num_accepted + len(rejected) + num_left_out`. Left out are
rows that a filter, a window or a limit of the user excludes. Header and blank lines are no rows.
"""

from dataclasses import dataclass, field

from engine.request import Request


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that cannot be used: its line (from 1, header included), a code of `REASONS` and one sentence."""

    line: int
    reason: str
    text: str


@dataclass(slots=True)
class TraceFile:
    """Requests in order of arrival, later rounds of a conversation directly after their first one.

    `lines[i]` is the line of `requests[i]`. `arrival_time` is in seconds from the first request in use; a later round has
    `after` and `delay` instead. `block_size` is the size of the prompt blocks that the format names by id, if it does.
    """

    name: str
    format: str
    requests: list[Request] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    num_rows: int = 0
    ignored_columns: list[str] = field(default_factory=list)
    blank_lines: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    block_size: int | None = None

    @property
    def num_accepted(self) -> int:
        """Rows in use; one row may hold a whole session of requests."""
        return len(set(self.lines))

    @property
    def num_left_out(self) -> int:
        """Readable rows that a filter, a window or a limit excludes."""
        return self.num_rows - self.num_accepted - len(self.rejected)
