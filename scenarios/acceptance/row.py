"""A row of the acceptance list: what the source texts say, and how our own number is found.

Classes: D determined by the text, D* determined once an omitted input is fixed, S a shape with a band, P a claim of a
paper or slide that is only cited, B a behaviour. A row without `compute` is a citation or not built yet: its `passed`
is null.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from scenarios.acceptance.lab import Lab


class Outcome(NamedTuple):
    """Our number as text, and whether it is the expected one; None for a number beside a mere citation."""

    ours: str
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Row:
    """`where` names the page or command that shows the number."""

    id: str
    title: str
    cls: str
    expected: str
    compute: Callable[[Lab], Outcome] | None = None
    where: str = ""

    def on(self, where: str) -> "Row":
        """The same row, shown at `where`."""
        return replace(self, where=where)


def within(low: float, value: float, high: float) -> bool:
    """Whether a value lies inside a band, both ends included."""
    return low <= value <= high
