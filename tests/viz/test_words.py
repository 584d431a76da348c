"""Sentences that name options of the command line, as the app shows them."""

import pytest

from viz.pages.parts.words import on_screen


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (
            "5 of them are left out by --window or --first.",
            "5 of them are left out by “From second” and “To second” or “At most this many requests”.",
        ),
        (
            "say how many requests arrive per second with --qps, e.g. --qps 2.",
            "say how many requests arrive per second with “Requests per second”.",
        ),
        ("block_size is 0; it has to be between 1 and 65536.", "block_size is 0; it has to be between 1 and 65536."),
    ],
)
def test_a_field_of_the_page_stands_for_an_option(sentence: str, shown: str) -> None:
    assert on_screen(sentence) == shown
