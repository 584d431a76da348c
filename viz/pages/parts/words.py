"""Sentences of the readers and of the engine, told for the screen: they name options of the command line, a page has fields."""

import re

FIELDS = {
    "--first": "“At most this many requests”",
    "--window": "“From second” and “To second”",
    "--rate": "“Play arrivals n times as fast”",
    "--qps": "“Requests per second”",
    "--set": "“Settings”",
}
"""Option of the command line -> the field of the page that does the same."""

_OPTION = re.compile(rf"({'|'.join(FIELDS)})\b")
_ASIDE = re.compile(r", e\.g\. --\w+ \d+")


def on_screen(sentence: str) -> str:
    """The sentence with fields for options; without what helps only there."""
    return _OPTION.sub(lambda match: FIELDS[match[1]], _ASIDE.sub("", sentence))
