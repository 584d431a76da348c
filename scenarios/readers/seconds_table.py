"""CSV tables of one request a row with its arrival in seconds: BurstGPT, Vidur, splitwise-sim and our own plain one.

They differ in names only, so each is a few lines of data. Published values are taken as they are: BurstGPT counts from
midnight of its first day, Vidur from the first request; splitwise-sim does not state its unit, it is read as seconds.
"""

from collections.abc import Sequence
from typing import ClassVar

from scenarios.readers.format import CsvFormat, Row, id_or
from scenarios.readers.numbers import check_lengths, count_of_text, time_of_text


class SecondsTable(CsvFormat):
    """Columns are arrival, prompt and output; the optional one is the id."""

    columns: ClassVar[tuple[str, ...]]

    def parse(self, values: Sequence[str], line: int, index: int) -> Row:
        arrival_name, prompt_name, output_name = self.columns
        time = time_of_text(values[0], arrival_name, self.ticks)
        prompt_len, output_len = count_of_text(values[1], prompt_name), count_of_text(values[2], output_name)
        check_lengths(prompt_len, output_len, prompt_name, output_name)
        return Row(line, id_or(values[3] if self.optional else None, f"r{index}"), prompt_len, output_len, time)


class BurstGPT(SecondsTable):
    name = "burstgpt_csv"
    columns = ("Timestamp", "Request tokens", "Response tokens")


class Vidur(SecondsTable):
    name = "vidur_csv"
    columns = ("arrived_at", "num_prefill_tokens", "num_decode_tokens")


class Splitwise(SecondsTable):
    name = "splitwise_csv"
    columns = ("arrival_timestamp", "prompt_size", "token_size")
    optional = ("request_id",)


class Generic(SecondsTable):
    name = "generic_csv"
    columns = ("arrival_s", "prompt_len", "output_len")
    optional = ("id",)
