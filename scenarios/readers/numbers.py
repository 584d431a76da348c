"""Token counts and clock readings, from CSV text or from JSON values, checked before anything is built from them.

A count is a whole number from 0 to 2**31 - 1; `1e3` and `12.0` are whole, `12.5` and `1,024` are not. A time is an int
or a Decimal in the units of its file, so that differences stay exact. Whatever is wrong is a `RowError`.
"""

import math
import re
from decimal import Decimal
from typing import Any

from scenarios.readers.errors import RowError, quoted

MAX_COUNT = 2**31 - 1
MAX_SECONDS = 10**10
MAX_WAIT = 10**9
MAX_DIGITS = 100
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)
_NOT_FINITE = {"nan", "inf", "infinity"}
_THOUSANDS = re.compile(r"[+-]?\d[\d,.'_ ]*\d", re.ASCII)


def count_of_text(text: str, name: str) -> int:
    """A count from a CSV field. Errors: missing, text, not_finite, negative, not_integer."""
    if len(text) <= 9 and text.isdigit() and text.isascii():
        return int(text)
    return _whole(_number(text, name, "text"), text, name)


def count_of_json(value: Any, name: str) -> int:
    """A count from a JSON value (floats parsed as Decimal). Errors: those of a CSV field; a number in quotes is text."""
    if type(value) is int and 0 <= value <= MAX_COUNT:
        return value
    if isinstance(value, str) and value.strip() and not _is_grouped(value):
        raise RowError("text", f"{name} is the text {quoted(value)}; write the number without quotes.")
    return _whole(_json_number(value, name), value, name)


def time_of_text(text: str, name: str, ticks: int, limit: int = MAX_SECONDS) -> int | Decimal:
    """A time of 0 to `limit` seconds from a CSV field, in ticks. Errors: missing, bad_time, not_finite, negative."""
    if len(text) <= 9 and text.isdigit() and text.isascii():
        return int(text)
    return _time(_number(text, name, "bad_time"), text, name, ticks, limit)


def time_of_json(value: Any, name: str, ticks: int, limit: int = MAX_SECONDS) -> int | Decimal:
    """A time of 0 to `limit` seconds from a JSON value, in ticks. Errors: as above, and text."""
    if isinstance(value, str) and value.strip():
        raise RowError("text", f"{name} is the text {quoted(value)}; write the number without quotes.")
    return _time(_json_number(value, name), value, name, ticks, limit)


def check_lengths(prompt_len: int, output_len: int, prompt_name: str, output_name: str) -> None:
    """Both lengths are at least 1; a failed call of a trace has no work to replay. Errors: zero_prompt, zero_output."""
    if prompt_len == 0:
        raise RowError("zero_prompt", f"{prompt_name} is 0; a request needs at least one prompt token.")
    if output_len == 0:
        raise RowError("zero_output", f"{output_name} is 0; a request without output tokens is a failed call.")
    if prompt_len > MAX_COUNT:
        raise RowError("not_integer", f"{prompt_name} is {prompt_len:,}, above the largest length {MAX_COUNT:,}.")


def _number(text: str, name: str, reason: str) -> Decimal:
    stripped = text.strip()
    if not stripped:
        raise RowError("missing", f"{name} is missing.")
    if _NUMBER.fullmatch(stripped):
        if len(stripped) <= MAX_DIGITS:
            return Decimal(stripped)
        raise _too_long(stripped, name, reason)
    if stripped.lstrip("+-").lower() in _NOT_FINITE:
        raise RowError("not_finite", f"{name} is {quoted(stripped)}, not a finite number.")
    if reason == "text" and _is_grouped(stripped):
        raise _grouped(stripped, name)
    raise RowError(reason, f"{name} is {quoted(text)}, not a number.")


def _too_long(text: str, name: str, reason: str) -> RowError:
    """A number with so many digits that it is not even read."""
    if text.startswith("-"):
        return RowError("negative", f"{name} is {quoted(text)}; it cannot be negative.")
    is_large = len(text.lstrip("+0").partition(".")[0]) > MAX_DIGITS
    what = "which is too large" if is_large else f"a number of more than {MAX_DIGITS} digits"
    return RowError("not_integer" if reason == "text" else reason, f"{name} is {quoted(text)}, {what}.")


def _json_number(value: Any, name: str) -> int | Decimal:
    if value is None:
        raise RowError("missing", f"{name} is missing.")
    if isinstance(value, float):
        raise RowError("not_finite", f"{name} is {value}, not a finite number.")
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        if isinstance(value, str):
            raise _grouped(value, name) if value.strip() else RowError("missing", f"{name} is an empty text.")
        raise RowError("not_integer", f"{name} is {quoted(value)}, not a number.")
    return value


def _is_grouped(text: str) -> bool:
    return len(text) <= 100 and bool(_THOUSANDS.fullmatch(text.strip())) and not _NUMBER.fullmatch(text.strip())


def _grouped(text: str, name: str) -> RowError:
    return RowError("not_integer", f"{name} is {quoted(text)}; write whole numbers without separators.")


def _whole(number: int | Decimal, shown: Any, name: str) -> int:
    if number < 0:
        raise RowError("negative", f"{name} is {quoted(shown)}; it cannot be negative.")
    if number > MAX_COUNT:
        raise RowError("not_integer", f"{name} is {quoted(shown)}, above the largest length {MAX_COUNT:,}.")
    whole = math.trunc(number)
    if whole != number:
        raise RowError("not_integer", f"{name} is {quoted(shown)}, not a whole number.")
    return whole


def _time(number: int | Decimal, shown: Any, name: str, ticks: int, limit: int) -> int | Decimal:
    if number < 0:
        raise RowError("negative", f"{name} is {quoted(shown)}; times count from 0.")
    if number > limit * ticks:
        raise RowError("bad_time", f"{name} is {quoted(shown)}, more than {limit:,} seconds.")
    return number
