"""Where each run of a comparison parts from the others, as the player gets it: a place, and what differs in words.

The second and third run are held against the first one; the first run itself tells where the first of them leaves it.
What differs is found by `engine.trace.difference`; here it becomes one sentence: who does something, and why the other
does not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.trace.difference import CLOCKS, Difference, Part, first_difference
from engine.trace.owners import owners
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, DECISION_COLUMNS, HAPPENINGS, REASONS
from viz.player.messages import DIFFERENCES

FIRST_CLOCK = "time"
"""The clock that a comparison begins with."""
MAX_LISTED = 3
MAX_ID = 24
MAX_MARKED = 100
_REASONS = {"no_token": "no_token_left"}


def pane_differences(traces: Sequence[Trace], names: Sequence[str], lang: str = "en") -> list[dict[str, Any]]:
    """For each run {"steps": difference or None, "time": difference or None}.

    A difference is {"step", "event", "time", "text", "requests"}: the place in this run (see `Place`), the sentence, and
    the indices of the first requests that differ, in this run's list.
    """
    panes: list[dict[str, Any]] = [{} for _ in traces]
    for clock in CLOCKS:
        found = [first_difference((traces[0], other), clock) for other in traces[1:]]
        told = [
            None if difference is None else Told(difference, (traces[0], other), (names[0], name), lang)
            for difference, other, name in zip(found, traces[1:], names[1:], strict=True)
        ]
        first = min((one for one in told if one), key=lambda one: one.moment, default=None)
        panes[0][clock] = first and first.pane(0)
        for pane, one in zip(panes[1:], told, strict=True):
            pane[clock] = one and one.pane(1)
    return panes


class Told:
    """One difference of two runs, in words. `names` are those of the runs."""

    def __init__(
        self, difference: Difference, traces: tuple[Trace, Trace], names: tuple[str, str], lang: str = "en"
    ) -> None:
        self.difference, self.traces, self.names = difference, traces, names
        self._texts = DIFFERENCES[lang]

    @property
    def moment(self) -> float:
        return self.difference.time if self.difference.clock == "time" else self.difference.step

    def pane(self, run: int) -> dict[str, Any]:
        place = self.difference.places[run]
        wanted = {part.request for part in self.difference.parts}
        marked = [i for i, request in enumerate(self.traces[run].requests) if request["id"] in wanted]
        return {
            "step": place.step,
            "event": place.event,
            "time": place.time,
            "text": self.text,
            "requests": marked[:MAX_MARKED],
        }

    @property
    def text(self) -> str:
        """Two clauses: what one of the runs does and the other does not, and why."""
        leading = self.difference.parts[0]
        doer = _doer(leading)
        alike = [p for p in self.difference.parts if p.kind == leading.kind and _doer(p) == doer]
        if leading.kind == "scheduled":
            does = self._say("scheduled", doer, requests=self._list([leading]), tokens=self._tokens(leading, doer))
            return self._say("both", doer, first=does, second=self._meanwhile(leading, 1 - doer))
        before = self._before(leading, doer) if leading.kind == "admitted" and len(alike) == 1 else None
        code = leading.kind if before is None else "admitted_in_place"
        does = self._say(code, doer, requests=self._list(alike), before=before)
        return self._say("both", doer, first=does, second=self._say(self._excuse(leading, 1 - doer), 1 - doer))

    def _say(self, code: str, run: int, **operands: Any) -> str:
        return self._texts[code].format(run=self.names[run], **operands)

    def _list(self, parts: Sequence[Part]) -> str:
        """ "A", "A and B", "A, B, C and 4 more"."""
        names = [_short(part.request) for part in parts]
        if len(names) > MAX_LISTED + 1:
            names = [*names[:MAX_LISTED], self._texts["list_more"].format(count=len(names) - MAX_LISTED)]
        if len(names) == 1:
            return names[0]
        return self._texts["list_last"].format(items=", ".join(names[:-1]), last=names[-1])

    def _tokens(self, part: Part, run: int) -> str:
        count = part.amounts[run]
        return self._texts["token" if count == 1 else "tokens" if count else "no_token"].format(count=count)

    def _meanwhile(self, part: Part, run: int) -> str:
        if self._has_ended(run):
            return self._say("has_ended", run)
        return self._say("computes", run, tokens=self._tokens(part, run))

    def _has_ended(self, run: int) -> bool:
        return self.difference.places[run].step == self.traces[run].num_steps

    def _excuse(self, part: Part, run: int) -> str:
        """Why this run does not do it: the code of a message."""
        if self._has_ended(run):
            return "has_ended"
        if part.kind != "admitted":
            return "does_not"
        trace, place = self.traces[run], self.difference.places[run]
        request = _index(trace, part.request)
        # a run that idles at the place decides about its queue when its next step begins
        upto = place.event
        if place.step + 1 < trace.num_steps and place.event != _scheduled(trace, place.step):
            upto = _scheduled(trace, place.step + 1)
        if request is None or _first_happening(trace, "arrived", request) > upto:
            return "not_arrived"
        action, reason = _last_refusal(trace, request, upto)
        if action == "reject":
            return "rejected"
        code = _REASONS.get(reason, reason)
        return code if code in self._texts else "does_not"

    def _before(self, part: Part, run: int) -> str | None:
        """Who had the seat in the step before: the admitted request steps in its place."""
        trace, place = self.traces[run], self.difference.places[run]
        request = _index(trace, part.request)
        if request is None or place.step < 1 or "sequences" not in trace.tracks:
            return None
        sequence = trace.requests[request]["first_sequence"]
        seat = int(trace.cut(event=place.event).tracks["sequences"]["seat"][sequence])
        earlier = trace.cut(step=place.step - 1, at="scheduled").tracks["sequences"]["seat"]
        sitting = np.flatnonzero((earlier == seat) & (seat >= 0) & (np.arange(len(earlier)) != sequence))
        return _short(trace.requests[owners(trace)[sitting[0]]]["id"]) if len(sitting) else None


def _doer(part: Part) -> int:
    return int(part.amounts[1] > part.amounts[0])


def _short(request_id: str) -> str:
    line = " ".join(request_id.split())
    return line if len(line) <= MAX_ID else line[: MAX_ID - 1] + "…"


def _index(trace: Trace, request_id: str) -> int | None:
    return next((i for i, request in enumerate(trace.requests) if request["id"] == request_id), None)


def _scheduled(trace: Trace, step: int) -> int:
    return int(trace.steps["scheduled"][step]) if step >= 0 else -1


def _first_happening(trace: Trace, kind: str, request: int) -> int:
    """The event of the first one, beyond the end of the run where there is none."""
    happenings = trace.happenings
    found = np.flatnonzero((happenings["kind"] == HAPPENINGS.index(kind)) & (happenings["request"] == request))
    return int(happenings["event"][found[0]]) if len(found) else trace.num_events + 1


def _last_refusal(trace: Trace, request: int, upto: int) -> tuple[str, str]:
    """Action and reason of the last skip or reject of a request up to an event; empty where there is none."""
    event, action, reason, about = (trace.decisions[name] for name in DECISION_COLUMNS[:4])
    refuses = np.isin(action, [ACTIONS.index("skip"), ACTIONS.index("reject")])
    found = np.flatnonzero(refuses & (about == request) & (event <= upto))
    return (ACTIONS[action[found[-1]]], REASONS[reason[found[-1]]]) if len(found) else ("", "")
