"""Counts are whole, finite, not negative and not huge; times stay exact; each failure has its own code."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.readers.errors import REASONS, RowError
from scenarios.readers.numbers import MAX_COUNT, count_of_json, count_of_text, time_of_json, time_of_text


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("12", 12), (" 12 ", 12), ("+12", 12), ("12.0", 12), ("1e3", 1000), ("1.5E1", 15)]
)
def test_whole_numbers_count_however_they_are_written(text, value):
    assert count_of_text(text, "n") == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing"),
        ("  ", "missing"),
        ("12.5", "not_integer"),
        ("1,024", "not_integer"),
        ("1_024", "not_integer"),
        ("1 024", "not_integer"),
        ("2147483648", "not_integer"),
        ("1e999999999", "not_integer"),
        ("1e-999999999", "not_integer"),
        ("nan", "not_finite"),
        ("-Infinity", "not_finite"),
        ("-3", "negative"),
        ("-1e999999999", "negative"),
        ("abc", "text"),
        ("٣", "text"),
        ("0x10", "text"),
        ("9" * 100_000, "not_integer"),
        ("1" + "0" * 400, "not_integer"),
        ("-1" + "0" * 400, "negative"),
        ("1" + "0" * 400 + ".5", "not_integer"),
        ("0." + "3" * 400, "not_integer"),
        ("9" * 100_000 + "x", "text"),
    ],
)
def test_what_is_no_count_has_a_code(text, reason):
    with pytest.raises(RowError) as error:
        count_of_text(text, "ContextTokens")
    assert error.value.reason == reason
    assert error.value.text.startswith("ContextTokens is ")
    assert len(error.value.text) < 200


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "missing"),
        ("", "missing"),
        ("133", "text"),
        ("many", "text"),
        ("1,024", "not_integer"),
        (Decimal("13.7"), "not_integer"),
        (10**400, "not_integer"),
        (True, "not_integer"),
        ({"a": 1}, "not_integer"),
        (float("nan"), "not_finite"),
        (-3, "negative"),
    ],
)
def test_json_values_are_judged_by_their_type(value, reason):
    with pytest.raises(RowError) as error:
        count_of_json(value, "n")
    assert error.value.reason == reason


def test_json_numbers_with_a_fraction_of_zero_are_whole():
    assert count_of_json(Decimal("1E+3"), "n") == 1000


def test_the_largest_length_is_named():
    assert count_of_text("2147483647", "n") == MAX_COUNT
    with pytest.raises(RowError, match="2147483648', above the largest length 2,147,483,647"):
        count_of_text("2147483648", "n")


def test_times_keep_every_digit():
    difference = time_of_text("1787267980.3478317", "t", 1) - time_of_text("1787267980.0827403", "t", 1)
    assert difference == Decimal("0.2650914")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "missing"), ("noon", "bad_time"), ("-1", "negative"), ("inf", "not_finite"), ("1e11", "bad_time")],
)
def test_what_is_no_time_has_a_code(text, reason):
    with pytest.raises(RowError) as error:
        time_of_text(text, "t", 1)
    assert error.value.reason == reason


@given(st.one_of(st.text(), st.from_regex(r"[+-]?[0-9.,e_ ]{1,20}"), st.floats().map(str), st.integers().map(str)))
def test_any_text_is_a_value_in_range_or_a_row_error(text):
    for parse in (lambda: count_of_text(text, "n"), lambda: time_of_text(text, "t", 1000)):
        try:
            assert 0 <= parse() <= 10**13
        except RowError as error:
            assert error.reason in REASONS


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=False), st.lists))
def test_any_json_value_is_a_value_in_range_or_a_row_error(value):
    for parse in (lambda: count_of_json(value, "n"), lambda: time_of_json(value, "t", 1000)):
        try:
            assert 0 <= parse() <= 10**13
        except RowError as error:
            assert error.reason in REASONS
