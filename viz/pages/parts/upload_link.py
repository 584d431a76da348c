"""What a link into the runs of an uploaded file says: `?file=...&run=static&first=500&f=12`.

It works where the file is: on the server that it was uploaded to, as long as it is kept there. It names the file by its
digest, so that nobody finds a file that he does not have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import streamlit as st

from scenarios.source import Cut
from viz.pages.parts.links import quoted
from viz.player import LINK_KEYS

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
    """Which file, which part of it, which of its runs."""

    digest: str
    run: str
    cut: Cut

    def params(self) -> dict[str, str]:
        start, end = self.cut.window or (None, None)
        rate = None if self.cut.rate == 1 else self.cut.rate
        numbers = {"first": self.cut.first, "from": start, "to": end, "rate": rate, "qps": self.cut.qps}
        return {"file": self.digest, "run": self.run, **{k: str(v) for k, v in numbers.items() if v is not None}}


def read(params: Mapping[str, str], runs: tuple[str, ...]) -> Visit | None:
    """The visit that a link asks for, None when it names no file. Raises ValueError with one sentence for a bad link."""
    if "file" not in params:
        return None
    run = params.get("run", runs[0])
    if run not in runs:
        raise ValueError(f"The link names the run {quoted(run)}; the runs of a file are {', '.join(runs)}.")
    numbers = {name: _number(name, params[name]) for name in LIMITS if name in params}
    window = None
    if "from" in numbers or "to" in numbers:
        window = (numbers.get("from", 0.0), numbers.get("to", MAX_SECONDS))
    first = int(numbers["first"]) if "first" in numbers else None
    return Visit(params["file"], run, Cut(first, window, numbers.get("rate", 1.0), numbers.get("qps")))


def write(visit: Visit) -> None:
    """Put the visit into the address; a place in another run is dropped."""
    present = {key: value for key, value in st.query_params.to_dict().items() if key not in LINK_KEYS}
    if present != visit.params():
        st.query_params.from_dict(visit.params())


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
