"""Arguments that several commands share: which part of a trace file, which settings; and opening the input."""

import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import replace

from scenarios.commands.progress import ProgressLine
from scenarios.fields import ScenarioError, shown
from scenarios.memory import FEWER_REQUESTS
from scenarios.source import Cut, Source, find


def add_cut(parser: ArgumentParser) -> None:
    """--first, --window, --rate, --qps: which requests of a trace file, and how fast."""
    group = parser.add_argument_group("trace files")
    group.add_argument("--first", type=_count, metavar="N", help="only the first N requests")
    group.add_argument("--window", type=_window, metavar="FROM:TO", help="only arrivals of these seconds of the file")
    group.add_argument("--rate", type=_positive, default=1.0, metavar="F", help="requests arrive F times as fast")
    group.add_argument(
        "--qps", type=_positive, metavar="Q", help="requests a second where the file has no arrival times"
    )


def add_set(parser: ArgumentParser) -> None:
    """--set key=value: settings for every run."""
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting for all runs; repeatable",
    )


def open_source(arguments: Namespace, line: ProgressLine) -> Source:
    """What the argument `source` names, as the options ask for it. Raises an error with one sentence."""
    cut = Cut(arguments.first, arguments.window, arguments.rate, arguments.qps)
    source = find(arguments.source, cut, line.reading(arguments.source))
    changes = dict(getattr(arguments, "set", ()))
    if not changes:
        return source
    if source.scenario is None:
        raise ScenarioError(f"{source.name} is a saved run and keeps its settings; --set needs something to run.")
    return replace(source, scenario=source.scenario.with_settings(changes))


def fewer_requests(source: Source) -> str:
    """What a user of this source can do about a run that is too large."""
    return "fewer (--first N) or shorter requests" if source.file is not None else FEWER_REQUESTS


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ArgumentTypeError(f"{shown(text)} is no KEY=VALUE")
    return key.strip(), value.strip()


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
    if number < 1:
        raise ArgumentTypeError(f"{shown(text)} is no whole number from 1 on")
    return number


def _positive(text: str) -> float:
    number = _number(text)
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{shown(text)} is no number above 0")
    return number


def _window(text: str) -> tuple[float, float]:
    start, colon, end = text.partition(":")
    low, high = _number(start or "0"), _number(end or "inf")
    if not colon or not 0 <= low < high:
        raise ArgumentTypeError(f"{shown(text)} is no FROM:TO in seconds from 0 on with FROM before TO")
    return low, high


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
