"""Prose in `expected`, turned into checks: a table from sentence to predicate.

A sentence is matched as a whole, case and white space apart; numbers and names in it may be groups of the pattern, so
the same statement about another number needs no new entry. A sentence that no pattern knows is reported as unchecked:
such a case is skipped, never passed. A predicate returns None when the statement is true, else what contradicts it.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from tests.cases.verdict import Findings

Predicate = Callable[..., str | None]


class Sentences:
    """Patterns and their predicates. `predicate(facts, *groups)` gets what the runner found out about the run."""

    def __init__(self) -> None:
        self._table: list[tuple[re.Pattern[str], Predicate]] = []

    def says(self, *patterns: str) -> Callable[[Predicate], Predicate]:
        """Enter a predicate under one or more patterns."""

        def enter(predicate: Predicate) -> Predicate:
            self._table += [(re.compile(pattern, re.IGNORECASE), predicate) for pattern in patterns]
            return predicate

        return enter

    def check(self, findings: Findings, sentences: Iterable[Any], facts: Any) -> None:
        """Check every sentence; what no pattern knows goes to the unchecked ones, word for word."""
        for sentence in sentences:
            text = " ".join(str(sentence).split()).rstrip(".")
            for pattern, predicate in self._table:
                found = pattern.fullmatch(text)
                if found:
                    findings.add(f'"{text}"', predicate(facts, *found.groups()))
                    break
            else:
                findings.skip(f'no check for "{text}"')


def as_list(value: Any) -> list[Any]:
    """One sentence or several."""
    return value if isinstance(value, list) else [value]
