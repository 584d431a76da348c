"""TraceLab replays: sessions of several rounds, one CSV row a round, closed loop.

The first round arrives at `arrival_time` (ms); each later one `tool_wait_after_ms` after the round before it has ended.
A prompt is `prefix_len` tokens of what the session has seen plus `input_len` new ones. As long as the prefix is the whole
past, the session is one growing content: 100 in, 20 out, 30 more in gives the prompts (c, 0, 100) and (c, 0, 150). A
shorter prefix branches off: it keeps the old tokens and goes on with new ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from engine.request import Prompt, TokenRun
from scenarios.readers.format import CsvFormat, Row
from scenarios.readers.numbers import MAX_WAIT, check_lengths, count_of_text, time_of_text

MAX_RUNS = 16
"""Runs that one prompt may have; a session that branches more often starts afresh and shares nothing older."""


@dataclass(slots=True)
class Round:
    line: int
    time: int | Decimal
    number: int
    prefix_len: int
    input_len: int
    output_len: int
    wait: float


class TraceLab(CsvFormat):
    name = "tracelab_csv"
    ticks = 1000
    columns = (
        "session_id",
        "arrival_time",
        "round_idx",
        "prefix_len",
        "input_len",
        "output_len",
        "tool_wait_after_ms",
    )

    def __init__(self) -> None:
        self.sessions: dict[str, list[Round]] = {}
        self.num_contents = 0

    def parse(self, values: Sequence[str], line: int, index: int) -> None:
        session, arrival, number, prefix, new, output, wait = values
        prefix_len, input_len = count_of_text(prefix, "prefix_len"), count_of_text(new, "input_len")
        round_ = Round(
            line,
            time_of_text(arrival, "arrival_time", self.ticks),
            count_of_text(number, "round_idx"),
            prefix_len,
            input_len,
            count_of_text(output, "output_len"),
            float(time_of_text(wait or "0", "tool_wait_after_ms", self.ticks, MAX_WAIT)) / self.ticks,
        )
        check_lengths(prefix_len + input_len, round_.output_len, "prefix_len + input_len", "output_len")
        self.sessions.setdefault(session or f"r{index}", []).append(round_)

    def finish(self) -> Iterable[Row]:
        """One row a session, its later rounds inside, in order of `round_idx`."""
        for session, rounds in self.sessions.items():
            rounds.sort(key=lambda round_: round_.number)
            yield self._linked(session, rounds)

    def _linked(self, session: str, rounds: Sequence[Round]) -> Row:
        rows: list[Row] = []
        ends: dict[int, int] = {}
        past: tuple[TokenRun, ...] = ()
        wait = 0.0
        for round_ in rounds:
            kept = _first(past, round_.prefix_len)
            num_new = round_.prefix_len + round_.input_len - sum(length for _, _, length in kept)
            runs = self._grown(kept, num_new, ends)
            request_id = f"{session}.{round_.number}"
            rows.append(Row(round_.line, request_id, Prompt(runs), round_.output_len, rounds[0].time, delay=wait))
            past = self._grown(runs, round_.output_len, ends)
            wait = round_.wait
        rows[0].rounds = rows[1:]
        return rows[0]

    def _grown(self, runs: tuple[TokenRun, ...], num_new: int, ends: dict[int, int]) -> tuple[TokenRun, ...]:
        """The runs and `num_new` tokens never seen before; `ends` tells how much of each content is used up."""
        if num_new == 0:
            return runs
        content, start, length = runs[-1] if runs else (0, 0, 0)
        if runs and start + length == ends[content]:
            ends[content] += num_new
            return (*runs[:-1], (content, start, length + num_new))
        self.num_contents += 1
        ends[self.num_contents] = num_new
        return (*runs, (self.num_contents, 0, num_new))


def _first(runs: Iterable[TokenRun], num_tokens: int) -> tuple[TokenRun, ...]:
    """The runs of the first tokens, nothing where that would be too many runs."""
    kept: list[TokenRun] = []
    for content, start, length in runs:
        if num_tokens == 0:
            break
        kept.append((content, start, min(length, num_tokens)))
        num_tokens -= kept[-1][2]
    return tuple(kept) if len(kept) < MAX_RUNS else ()
