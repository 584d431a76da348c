"""Lengths without arrivals, as Vidur publishes them for several data sets (prefill and decode tokens of each row).

The arrival process is the user's choice: `read` draws it from a rate. Prompts share nothing.
"""

from collections.abc import Sequence

from scenarios.readers.format import CsvFormat, Row
from scenarios.readers.numbers import check_lengths, count_of_text


class Lengths(CsvFormat):
    name = "lengths_csv"
    columns = ("num_prefill_tokens", "num_decode_tokens")
    has_arrivals = False

    def parse(self, values: Sequence[str], line: int, index: int) -> Row:
        prompt_name, output_name = self.columns
        prompt_len, output_len = count_of_text(values[0], prompt_name), count_of_text(values[1], output_name)
        check_lengths(prompt_len, output_len, prompt_name, output_name)
        return Row(line, f"r{index}", prompt_len, output_len)
