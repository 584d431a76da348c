"""Words of others, told for the screen: sentences of the readers and of the engine name options of the command line, where
a page has fields; what somebody has typed may be long."""

import re
from collections.abc import Sequence

FIELDS = {
    "--first": "“At most this many requests”",
    "--window": "“From second” and “To second”",
    "--rate": "“Play arrivals n times as fast”",
    "--qps": "“Requests per second”",
    "--set": "“Settings”",
}
"""Option of the command line -> the field of the page that does the same."""

MAX_TYPED = 400
"""Characters of a prompt that are shown."""

MAX_NAMED = 3
_OPTION = re.compile(rf"({'|'.join(FIELDS)})\b")
_ASIDE = re.compile(r", e\.g\. --\w+ \d+")


def on_screen(sentence: str) -> str:
    """The sentence with fields for options; without what helps only there."""
    return _OPTION.sub(lambda match: FIELDS[match[1]], _ASIDE.sub("", sentence))


def counted(number: int, noun: str) -> str:
    """ "1 block", "2 blocks" """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def named(requests: Sequence[str], one: str, many: str) -> str:
    """Who does something: "D is", "D, E are", "4 requests are" with the words `is` and `are`."""
    who = ", ".join(requests) if len(requests) <= MAX_NAMED else counted(len(requests), "request")
    return f"{who} {one if len(requests) == 1 else many}"


def beginning(text: str) -> str:
    """The text, or what it begins with and a sign that it goes on."""
    return text if len(text) <= MAX_TYPED else f"{text[:MAX_TYPED]} …"
