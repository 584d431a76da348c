"""Date stamps in all published spellings are one clock, to the last digit."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.readers import read
from scenarios.readers.date_stamp import nanoseconds
from scenarios.readers.errors import RowError


def test_seven_digits_are_kept():
    first, second = "2023-11-16 18:17:03.9799600", "2023-11-16 18:17:04.0319601"
    assert nanoseconds(second, "t") - nanoseconds(first, "t") == 52_000_100


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-12 00:00:01",
        "2024-05-12T00:00:01",
        "2024-05-12 00:00:01.0000000",
        "2024-05-12 00:00:01+00:00",
        "2024-05-12T00:00:01.000Z",
        "2024-05-12 02:00:01+02:00",
        "2024-05-11 18:30:01-0530",
        " 2024-05-12 00:00:01 ",
    ],
)
def test_all_spellings_of_one_second_are_equal(text):
    assert nanoseconds(text, "t") == nanoseconds("2024-05-12 00:00:01.000", "t")


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2024-02-30 00:00:00",
        "2024-05-12 24:00:00",
        "2024-05-12 00:60:00",
        "2024-05-12",
        "0000-01-01 00:00:00",
    ],
)
def test_a_time_that_no_calendar_has_is_a_bad_time(text):
    with pytest.raises(RowError) as error:
        nanoseconds(text, "TIMESTAMP")
    assert error.value.reason == "bad_time"


def test_an_empty_stamp_is_missing():
    with pytest.raises(RowError) as error:
        nanoseconds(" ", "TIMESTAMP")
    assert error.value.reason == "missing"


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)), st.integers(0, 10**6))
def test_differences_equal_those_of_the_calendar(start, microseconds):
    later = min(start + timedelta(microseconds=microseconds), datetime(9999, 12, 31))
    difference = nanoseconds(str(later), "t") - nanoseconds(str(start), "t")
    assert difference == (later - start) / timedelta(microseconds=1) * 1000


def test_arrivals_one_millisecond_apart_stay_apart():
    stamps = ["18:00:00.0010000", "18:00:00.0020000", "18:00:00.0090000", "18:00:01"]
    rows = "".join(f"2023-11-16 {stamp},10,5\n" for stamp in stamps)
    trace_file = read(f"TIMESTAMP,ContextTokens,GeneratedTokens\n{rows}".encode())
    assert [request.arrival_time for request in trace_file.requests] == [0.0, 0.001, 0.008, 0.999]
