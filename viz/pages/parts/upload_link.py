"""What a link to an uploaded file or into one of its runs says: `?file=...&run=static&first=500&p.num_blocks=300&f=12`.

It works where the file is: on the server that it was uploaded to, as long as it is kept there. It names the file by its
digest, so that nobody finds a file that he does not have. The visit of a session is remembered while other pages are open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import streamlit as st

from scenarios.source import Cut
from viz.pages.parts import address
from viz.pages.parts.links import PREFIX, changes_of, known, quoted, written

LIMITS: dict[str, tuple[float, float]] = {
    "first": (1, 1_000_000),
    "from": (0.0, 1e9),
    "to": (0.0, 1e9),
    "rate": (1e-3, 1e3),
    "qps": (1e-3, 1e6),
}
"""The numbers that choose a part of a file, with the range of each: requests, seconds, seconds, factor, per second."""
MAX_SECONDS = LIMITS["to"][1]


@dataclass(frozen=True)
class Visit:
    """Which file, which of its runs ("" for the file itself), which part of it, which settings are changed."""

    digest: str
    run: str
    cut: Cut
    changes: Mapping[str, Any] = field(default_factory=dict)

    def params(self) -> dict[str, str]:
        start, end = self.cut.window or (None, None)
        rate = None if self.cut.rate == 1 else self.cut.rate
        numbers = {"first": self.cut.first, "from": start, "to": end, "rate": rate, "qps": self.cut.qps}
        return {
            "file": self.digest,
            **({"run": self.run} if self.run else {}),
            **{name: str(value) for name, value in numbers.items() if value is not None},
            **{f"{PREFIX}{name}": written(value) for name, value in self.changes.items()},
        }


def read(params: Mapping[str, str]) -> Visit | None:
    """The visit that a link asks for, None when it names no file. Raises ValueError with one sentence for a bad link.

    Which runs a file has is known when it has been read, so that a run of any name is taken here.
    """
    if "file" not in params:
        if "run" in params or LIMITS.keys() & params.keys() or changes_of(params):
            raise ValueError("The link names no file; choose one here.")
        return None
    numbers = {name: _number(name, params[name]) for name in LIMITS if name in params}
    window = None
    if "from" in numbers or "to" in numbers:
        window = (numbers.get("from", 0.0), numbers.get("to", MAX_SECONDS))
        if window[0] >= window[1]:
            raise ValueError(f"The link asks for seconds {window[0]:g} to {window[1]:g}; the first has to be smaller.")
    first = int(numbers["first"]) if "first" in numbers else None
    cut = Cut(first, window, numbers.get("rate", 1.0), numbers.get("qps"))
    changes = changes_of(params)
    known(changes)
    return Visit(params["file"], params.get("run", ""), cut, changes)


def current() -> tuple[Visit | None, str | None]:
    """The visit of this page: that of an address that has not been taken up yet, else the last one of this session, also
    where its file is not kept here; and a sentence when the address is a bad link."""
    state = st.session_state
    visit: Visit | None = state.get("visit")
    params = {key: values[-1] for key, values in address.own().items()}
    problem = None
    if params and params != state.get("visited"):
        state["visited"] = params
        try:
            visit = read(params) or visit
        except ValueError as error:
            problem = str(error)
    state["visit"] = visit
    return visit, problem


def write(visit: Visit) -> None:
    """Take up another visit and put it into the address; a place in another run is dropped."""
    st.session_state.update(visit=visit, visited=visit.params())
    address.show(address.OWN, visit.params())


def _number(name: str, text: str) -> float:
    low, high = LIMITS[name]
    try:
        value = float(text)
    except ValueError:
        value = inf
    if not low <= value <= high:
        raise ValueError(
            f"The link gives {quoted(text)} for {name}; it has to be a number from {low:g} to {high:,.0f}."
        )
    return value
