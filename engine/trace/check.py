"""What has to hold in a trace before anybody computes with it.

Everything here is a vectorised pass or a walk over the requests; a violation is a `TraceFileError` whose one sentence
names the field, the value and the limit. Sizes are bounded before anything of that size is made.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine.trace.chunk import Answer, Word
from engine.trace.prompts import PROMPT_FIELDS, checked
from engine.trace.track import (
    ACTIONS,
    DECISION_COLUMNS,
    HAPPENING_COLUMNS,
    HAPPENINGS,
    REASONS,
    RESOURCES,
    SPECS,
    STEP_COLUMNS,
)

FORMAT = 1
MAX_KEYS = 1 << 25
"""Most blocks, sequences or table slots of one trace; a cut makes arrays of that length."""
MAX_INT = 2**31 - 1
MAX_WORD = 10_000
MAX_TOLD = 200
"""Characters of a title or a remark."""
TOLD = ("title", "remark")
"""Fields of a header that say what a run is called and ran on; they belong to no run, and a run may do without."""
COUNTS = {"two": 2, "three": 3}

REQUEST_FIELDS: dict[str, tuple[tuple[type, ...], Any]] = {
    "id": ((str,), ""),
    "prompt_len": ((int,), 0),
    "output_len": ((int,), 0),
    "n": ((int,), 1),
    "arrival_s": ((int, float, type(None)), None),
    "tenant": ((str,), ""),
    "priority": ((int,), 0),
    "first_sequence": ((int,), 0),
    "after": ((str, type(None)), None),
}
OPTIONAL_FIELDS = ("measured", *PROMPT_FIELDS)
"""Fields that a request has or has not."""


class TraceFileError(ValueError):
    """A trace that cannot be used; the message is one sentence for the user."""


def check_header(header: Any) -> dict[str, Any]:
    """The header of a trace, with unknown track names left out."""
    if not isinstance(header, Mapping):
        raise TraceFileError("The header of the trace is not an object.")
    if header.get("format") != FORMAT or isinstance(header.get("format"), bool):
        raise TraceFileError(f"The trace has format {show(header.get('format'))}; this version reads format {FORMAT}.")
    for name, kind in (("name", str), ("settings", dict), ("pools", list), ("tracks", list), ("time_unit", str)):
        if not isinstance(header.get(name), kind):
            raise TraceFileError(f"Header field {name!r} is {show(header.get(name))}; it has to be a {kind.__name__}.")
    _whole("Header field 'block_size'", header.get("block_size"), 1, MAX_INT)
    for pool in header["pools"]:
        if not isinstance(pool, Mapping) or not isinstance(pool.get("name"), str):
            raise TraceFileError("Header field 'pools' holds something that is not a pool with a name.")
        _whole("Header field 'pools' first", pool.get("first"), 0, MAX_INT)
        if pool.get("size") is not None:
            _whole("Header field 'pools' size", pool["size"], 0, MAX_INT - pool["first"])
    words = header.get("vocabulary", [])
    if not isinstance(words, list) or not all(isinstance(word, str) and len(word) <= MAX_WORD for word in words):
        raise TraceFileError(f"Header field 'vocabulary' is not a list of words of at most {MAX_WORD} characters.")
    for name in TOLD:
        text = header.get(name, "")
        if not isinstance(text, str) or len(text) > MAX_TOLD or not text.isprintable():
            raise TraceFileError(
                f"Header field {name!r} is {show(text)}; it has to be one line of at most {MAX_TOLD} characters."
            )
    if not all(isinstance(name, str) for name in header["tracks"]):
        raise TraceFileError("Header field 'tracks' holds something that is not a name.")
    return {**header, "tracks": [name for name in SPECS if name in header["tracks"]]}


def told(title: str, remark: str) -> dict[str, str]:
    """Fields for a header: what the run is called, and what it ran on where no setting says so. Of any text, what a header
    may hold."""
    plain = ("".join(letter if letter.isprintable() else " " for letter in text) for text in (title, remark))
    return dict(zip(TOLD, (text.strip()[:MAX_TOLD] for text in plain), strict=True))


def run_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header without what it is called."""
    return {name: value for name, value in header.items() if name not in TOLD}


def check_requests(entries: list[Any]) -> tuple[list[dict[str, Any]], int]:
    """The requests with their known fields only, and the number of sequences of all of them."""
    requests: list[dict[str, Any]] = []
    num_sequences = 0
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise TraceFileError(f"Request {index} is {show(entry)}; it has to be an object.")
        request = {name: entry.get(name, default) for name, (_, default) in REQUEST_FIELDS.items()}
        for name, (kinds, _) in REQUEST_FIELDS.items():
            value = request[name]
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise TraceFileError(f"Request {index} has {name} {show(value)}, which is of the wrong type.")
            if isinstance(value, int) and abs(value) > MAX_INT:
                raise TraceFileError(f"Request {index} has {name} {show(value)}; the limit is {MAX_INT}.")
        for name, low in (("prompt_len", 0), ("output_len", 0), ("n", 1), ("first_sequence", 0)):
            if request[name] < low:
                raise TraceFileError(f"Request {index} has {name} {request[name]}; the least is {low}.")
        if entry.get("measured"):
            request["measured"] = _measured(index, entry["measured"])
        try:
            request |= checked(entry, request["prompt_len"], request["n"])
        except ValueError as error:
            raise TraceFileError(
                f"Request {index} has {error} that does not fit its {request['prompt_len']} tokens."
            ) from None
        requests.append(request)
        num_sequences = max(num_sequences, request["first_sequence"] + request["n"])
    if num_sequences > MAX_KEYS:
        raise TraceFileError(f"The requests have {num_sequences} sequences; the limit is {MAX_KEYS}.")
    return requests, num_sequences


def check_answers(columns: Any) -> list[Answer]:
    """Answers from their two columns: request, ids of each sample."""
    return [Answer(*row) for row in _rows("answers", columns, "two")]


def add_answers(requests: list[dict[str, Any]], answers: list[Answer]) -> None:
    """Give each answer to its request, which has none so far."""
    for number, ids in answers:
        _whole("The request of an answer", number, 0, len(requests) - 1)
        request = requests[number]
        try:
            fields = checked({"answer_ids": ids or ()}, request["prompt_len"], request["n"])
        except ValueError:
            raise TraceFileError(
                f"The answer of request {number} is not a list of ids for each of {request['n']} samples."
            ) from None
        if "answer_ids" in request:
            raise TraceFileError(f"Request {number} has more than one answer.")
        request |= fields


def check_words(columns: Any) -> list[Word]:
    """Texts of tokens from their three columns: sequence, position, text."""
    words = [Word(*row) for row in _rows("words", columns, "three")]
    for sequence, position, text in words:
        _whole("The sequence of a word", sequence, 0, MAX_KEYS)
        _whole("The position of a word", position, 0, MAX_INT)
        if not isinstance(text, str) or len(text) > MAX_WORD:
            raise TraceFileError(f"A word is {show(text)}; it has to be a text of at most {MAX_WORD} characters.")
    return words


def _rows(what: str, columns: Any, count: str) -> Iterator[tuple[Any, ...]]:
    if not isinstance(columns, list) or not all(isinstance(column, list) for column in columns):
        raise TraceFileError(f"The {what} of a chunk are not a list of columns.")
    if columns and (len(columns) != COUNTS[count] or len({len(column) for column in columns}) > 1):
        raise TraceFileError(f"The {what} of a chunk are not {count} columns of one length.")
    return zip(*columns, strict=True)


def _measured(index: int, times: Any) -> dict[str, float]:
    if not isinstance(times, Mapping):
        raise TraceFileError(f"Request {index} has measured {show(times)}; it has to be an object of seconds.")
    for name, value in times.items():
        if not isinstance(name, str) or not isinstance(value, (int, float)) or not abs(value) <= MAX_INT:
            raise TraceFileError(f"Request {index} has measured {show(name)} {show(value)}; seconds are expected.")
    return dict(times)


def check_events(name: str, events: np.ndarray, num_events: int) -> None:
    """Events have to ascend and lie in 1..num_events."""
    if len(events) and (events[0] < 1 or events[-1] > num_events or np.any(events[1:] < events[:-1])):
        raise TraceFileError(f"The events of table {name!r} do not ascend within 1..{num_events}.")


def check_slots(slots: np.ndarray, num_keys: int) -> None:
    """Slots are numbered in order of first appearance, and each one appears."""
    seen = np.maximum.accumulate(np.concatenate((np.full(1, -1, np.int32), slots)))
    if np.any(slots > seen[:-1] + 1) or seen[-1] != num_keys - 1:
        raise TraceFileError(f"The slots of table 'tables' do not count its {num_keys} keys as they appear.")


def check_range(name: str, column: np.ndarray, low: int, size: int) -> None:
    """Values have to lie in low..size - 1."""
    if len(column) and (column.min() < low or column.max() >= size):
        worst = column.min() if column.min() < low else column.max()
        raise TraceFileError(f"Column {name!r} holds {worst}; it has to lie within {low}..{size - 1}.")


def check_steps(steps: np.ndarray, times: np.ndarray, num_events: int) -> None:
    """Ranges of a step lie in order, steps ascend, times are finite and do not run backwards."""
    if len(steps) != len(times):
        raise TraceFileError(f"There are {len(steps)} steps but {len(times)} times; each step needs one.")
    begin, scheduled, update_begin, updated = (steps[:, STEP_COLUMNS.index(name)] for name in STEP_COLUMNS[:4])
    check_range("steps.begin", begin, 0, num_events + 1)
    check_range("steps.updated", updated, 0, num_events + 1)
    inside = np.all((begin <= scheduled) & (scheduled <= update_begin) & (update_begin <= updated))
    if not inside or np.any(np.diff(scheduled) < 0) or np.any(np.diff(updated) < 0):
        raise TraceFileError("Table 'steps' has a step whose events are out of order.")
    if not np.all(np.isfinite(times)) or np.any(times[:, 0] > times[:, 1]) or np.any(np.diff(times[:, 0]) < 0):
        raise TraceFileError("Table 'times' has a time that is not finite or that runs backwards.")


def check_happenings(happenings: dict[str, np.ndarray], num_requests: int, num_sequences: int) -> None:
    limits = dict(zip(HAPPENING_COLUMNS[1:4], (len(HAPPENINGS), num_requests, num_sequences), strict=True))
    for name, size in limits.items():
        check_range(f"happenings.{name}", happenings[name], 0 if name == "kind" else -1, size)


def check_decisions(decisions: dict[str, np.ndarray], num_requests: int) -> None:
    sizes = (len(ACTIONS), len(REASONS), num_requests, len(RESOURCES))
    for name, size in zip(DECISION_COLUMNS[1:5], sizes, strict=True):
        check_range(f"decisions.{name}", decisions[name], -1 if name == "request" else 0, size)
    is_node = decisions["action"] == ACTIONS.index("evict")
    check_range("decisions.other", decisions["other"][~is_node], -1, num_requests)
    check_range("decisions.other", decisions["other"][is_node], 0, MAX_KEYS)


def check_tokens(tokens: np.ndarray, header: Mapping[str, Any]) -> None:
    """Slots lie in a block of a pool."""
    sizes = [None if pool.get("size") is None else pool["first"] + pool["size"] for pool in header["pools"]]
    num_blocks = MAX_KEYS if None in sizes else max((size for size in sizes if size is not None), default=0)
    check_range("tokens.slot", tokens[:, 1], 0, min(num_blocks * header["block_size"], MAX_INT + 1))


def check_nodes(rows: np.ndarray, num_keys: int, num_tokens: int) -> None:
    """Parents are nodes and never the node itself, tokens lie in the pool, nobody has fewer than no locks."""
    parent, first, length, locks = (rows[:, column] for column in (2, 3, 4, 5))
    check_range("nodes.key", rows[:, 1], 1, max(num_keys, 2))
    check_range("nodes.parent", parent, -1, num_keys)
    check_range("nodes.first", first, 0, num_tokens + 1)
    check_range("nodes.num_tokens", length, 0, num_tokens + 1)
    check_range("nodes.lock_ref", locks, 0, MAX_INT)
    if np.any(first.astype(np.int64) + length > num_tokens):
        raise TraceFileError(f"Track 'nodes' names tokens beyond the {num_tokens} of the trace.")
    if np.any(parent == rows[:, 1]):
        raise TraceFileError("Track 'nodes' has a node that is its own parent.")


def show(value: Any) -> str:
    """A value of unknown origin, short enough for a sentence and free of line breaks."""
    text = ascii(value) if not isinstance(value, int) or abs(value) < 10**20 else "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _whole(what: str, value: Any, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise TraceFileError(f"{what} is {show(value)}; it has to be a whole number from {low} to {high}.")
