"""Azure LLM inference traces of 2023, 2024 and 2025 (Splitwise, ISCA 2024): time stamp, context and generated tokens.

The years differ in the spelling of their times; the multimodal file of 2025 has one more column, `NumImages`, which is
named and not used. Prompts share nothing that the file would know of.
"""

from collections.abc import Sequence

from scenarios.readers.date_stamp import NANOSECONDS, nanoseconds
from scenarios.readers.format import CsvFormat, Row
from scenarios.readers.numbers import check_lengths, count_of_text


class Azure(CsvFormat):
    name = "azure_csv"
    ticks = NANOSECONDS
    columns = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")

    def parse(self, values: Sequence[str], line: int, index: int) -> Row:
        stamp, context, generated = values
        time = nanoseconds(stamp, "TIMESTAMP")
        prompt_len, output_len = count_of_text(context, "ContextTokens"), count_of_text(generated, "GeneratedTokens")
        check_lengths(prompt_len, output_len, "ContextTokens", "GeneratedTokens")
        return Row(line, f"r{index}", prompt_len, output_len, time)
