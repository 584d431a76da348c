"""What changed and why, as one sentence for every event that has something to say.

A sentence is a code and up to six numbers; the words are in `messages`, what is said when is in `narration`. The player
puts names and numbers into the templates itself; `sentence_text` does the same in Python, for exports and tests.
"""

import re
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from engine.trace.owners import owners
from engine.trace.trace import Trace
from viz.player.messages import MESSAGES
from viz.player.narration import narrate
from viz.player.nodes import node_text

MAX_LISTED = 4
"""Sequences that a list names when there are more: one less, and the number of the others."""
_FIELD = re.compile(r"\{([bsrnSw])([0-9])(?:\|([^|}]*)\|([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Sentences:
    """rows   int32 [n, 8]: event (each at most once, ascending), code, six operands
    lists   int32: an operand of a list field is a position in here, where the length and then the sequences stand
    owner   int64 [num_sequences]: request of each sequence
    """

    rows: np.ndarray
    lists: np.ndarray
    owner: np.ndarray

    @classmethod
    def of(cls, trace: Trace) -> "Sentences":
        """All sentences of a run; asked for again, the same object."""
        if trace not in _KNOWN:
            _KNOWN[trace] = cls(*narrate(trace), owners(trace))
        return _KNOWN[trace]

    def at(self, event: int) -> np.ndarray | None:
        """Code and operands for `event`, None where it has nothing to say."""
        i = int(np.searchsorted(self.rows[:, 0], event))
        return self.rows[i, 1:] if i < len(self.rows) and self.rows[i, 0] == event else None


_KNOWN: "WeakKeyDictionary[Trace, Sentences]" = WeakKeyDictionary()


def sentence_text(trace: Trace, event: int, lang: str = "en") -> str:
    """The sentence of an event as plain text, "" where it has none. Names from files are copied as they are."""
    row = Sentences.of(trace).at(event)
    if row is None:
        return ""
    template = list(MESSAGES[lang].values())[row[0]].text.replace("**", "")
    return _FIELD.sub(lambda match: _filled(trace, match, int(row[1 + int(match[2])]), event), template)


def sequence_name(trace: Trace, sequence: int) -> str:
    """The id of the request; where it has several samples with the number of the sample: A2, but r7.2."""
    owner = Sentences.of(trace).owner
    if not 0 <= sequence < len(owner):
        return "?"
    request = trace.requests[owner[sequence]]
    if request["n"] == 1:
        return str(request["id"])
    sample = sequence - request["first_sequence"] + 1
    return f"{request['id']}{'.' if request['id'][-1:].isdigit() else ''}{sample}"


def _filled(trace: Trace, match: re.Match[str], value: int, event: int) -> str:
    kind = match[1]
    if kind == "w":
        return node_text(trace, value, event)
    if kind == "s":
        return sequence_name(trace, value)
    if kind == "r":
        return str(trace.requests[value]["id"]) if 0 <= value < len(trace.requests) else "?"
    if kind == "S":
        lists = Sentences.of(trace).lists
        return _listed([sequence_name(trace, int(s)) for s in lists[value + 1 : value + 1 + lists[value]]])
    if match[3] is not None:
        return f"{value:,} {match[3] if value == 1 else match[4]}"
    return f"{value:,}" if kind == "n" else str(value)


def _listed(names: list[str]) -> str:
    """A3 · A3 and A4 · A3, A4 and A5 · A3, A4, A5 and 7 more."""
    if len(names) > MAX_LISTED:
        names = [*names[: MAX_LISTED - 1], f"{len(names) - MAX_LISTED + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
