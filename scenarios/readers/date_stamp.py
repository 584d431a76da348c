"""Date stamps as cloud logs write them, as whole nanoseconds of one clock (UTC).

One file may mix whole and fractional seconds, a blank or a T, a Z, an offset or nothing, which counts as UTC:
`2023-11-16 18:17:03.9799600`, `2024-05-12 00:00:01+00:00`, `2024-10-15T12:00:00.269Z`. Nothing is rounded.
"""

import re
from datetime import date
from functools import lru_cache

from scenarios.readers.errors import RowError, quoted

NANOSECONDS = 10**9
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII)


def nanoseconds(text: str, name: str) -> int:
    """Nanoseconds since the year 1. Errors: missing, bad_time."""
    match = _STAMP.fullmatch(text) or _STAMP.fullmatch(text.strip())
    if match is None:
        if not text.strip():
            raise RowError("missing", f"{name} is missing.")
        raise RowError("bad_time", f"{name} is {quoted(text)}, not a time like 2023-11-16 18:17:03.9799600.")
    day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    midnight = _midnight(day)
    if midnight is None or int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        raise RowError("bad_time", f"{name} is {quoted(text)}, a time that no calendar has.")
    if sign:
        offset = int(offset_hours) * 3600 + int(offset_minutes) * 60
        seconds -= offset if sign == "+" else -offset
    return (midnight + seconds) * NANOSECONDS + (int(fraction.ljust(9, "0")) if fraction else 0)


@lru_cache(maxsize=4096)
def _midnight(day: str) -> int | None:
    """Seconds since the year 1 at which the day begins, None for a day that does not exist."""
    try:
        return date.fromisoformat(day).toordinal() * 86_400
    except ValueError:
        return None
