"""The acceptance list: every figure and behaviour that the source texts demand, beside our own.

One file a section, one `Row` an entry. `check` computes what is built with the real engine; the rest stays null until it
is built, and citations stay null for good. Section K has no rows.
"""

from collections.abc import Callable
from typing import Any

from scenarios.acceptance import a, b, c, d, e, f, g, h, i, j, l
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row

ROWS: tuple[Row, ...] = tuple(row for section in (a, b, c, d, e, f, g, h, i, j, l) for row in section.ROWS)
COMMAND = "python -m scenarios check"


def check(progress: Callable[[Row], None] | None = None) -> dict[str, Any]:
    """All rows with what we get, and how many passed and failed. `progress(row)` is called before each row.

    A row whose run is refused counts as failed and says why; the others are computed all the same.
    """
    lab = Lab()
    rows = []
    for row in ROWS:
        if progress is not None:
            progress(row)
        outcome = _outcome(row, lab)
        rows.append(
            {
                "id": row.id,
                "title": row.title,
                "class": row.cls,
                "expected": row.expected,
                "ours": outcome.ours,
                "passed": outcome.passed,
                "where": row.where or _computed_in(row),
            }
        )
    passed = [row["passed"] for row in rows]
    return {"rows": rows, "passed": passed.count(True), "failed": passed.count(False)}


def _computed_in(row: Row) -> str:
    """For a number that no page shows: the command that computes it, and the file of its formula."""
    if row.compute is None:
        return ""
    return f"{COMMAND}, computed in {row.compute.__module__.replace('.', '/')}.py"


def _outcome(row: Row, lab: Lab) -> Outcome:
    if row.compute is None:
        return Outcome("", None)
    try:
        ours, passed = row.compute(lab)
    except (AssertionError, ArithmeticError, LookupError, ValueError) as error:
        return Outcome(f"{type(error).__name__}: {error}", False)
    return Outcome(ours, None if passed is None else bool(passed))
