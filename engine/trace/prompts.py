"""What the prompts of a trace hold, and the answers where their tokens have ids: as it is recorded and read again.

A token is its id, or a place in a content: (content, start, length) are `length` neighbours. A request publishes

    "prompt"      its content id when its prompt is one run from 0 on, else its runs one after another: [7, 0, 4, 9, 0, 2]
    "prompt_ids"  its token ids, in place of "prompt"
    "answer_ids"  for each sample the ids that it was going to produce, or that it has produced when it has ended

A trace keeps so many numbers at most; what comes after that is not published.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MAX_PUBLISHED = 2_000_000
"""Numbers of all prompts and answers of one trace together."""
PROMPT_FIELDS = ("prompt", "prompt_ids", "answer_ids")
ENDLESS = 2**31 - 1

Symbol = Any
"""A token id, or a run (content, start, length); the content of an unknown answer is ("output", sequence)."""


def published(request: Any, left: int) -> tuple[dict[str, Any], int]:
    """The fields of a request about its content, if they are at most `left` numbers, and how many are left then."""
    ids, runs, script = request.prompt.token_ids, request.prompt.runs, request.output_script
    fields: dict[str, Any] = {}
    if ids is not None:
        fields["prompt_ids"], size = ids, len(ids)
    elif len(runs) == 1 and runs[0][1] == 0:
        fields["prompt"], size = runs[0][0], 1
    else:
        fields["prompt"], size = tuple(number for run in runs for number in run), 3 * len(runs)
    if script is not None:
        fields["answer_ids"] = tuple(map(tuple, script))
        size += sum(map(len, script))
    return (fields, left - size) if size <= left else ({}, 0)


def checked(entry: Mapping[str, Any], prompt_len: int, num_samples: int) -> dict[str, Any]:
    """The fields of a request from a file, as `published` gave them. Raises ValueError with the name of a bad one."""
    fields: dict[str, Any] = {}
    for name in PROMPT_FIELDS:
        value = entry.get(name)
        if value is None:
            continue
        fields[name] = _frozen(value)
        if not _fits(name, fields[name], prompt_len, num_samples):
            raise ValueError(name)
    return fields


def is_published(request: Mapping[str, Any]) -> bool:
    return "prompt" in request or "prompt_ids" in request


def prompt_symbols(request: Mapping[str, Any]) -> list[Symbol]:
    """The prompt as symbols, runs joined where they continue each other; one that is not published equals no other."""
    if not is_published(request):
        return [(("prompt", request["first_sequence"]), 0, request["prompt_len"])] if request["prompt_len"] else []
    if "prompt_ids" in request:
        return list(request["prompt_ids"])
    prompt = request["prompt"]
    if isinstance(prompt, int):
        return [(prompt, 0, request["prompt_len"])] if request["prompt_len"] else []
    symbols: list[Symbol] = []
    for run in zip(prompt[::3], prompt[1::3], prompt[2::3], strict=True):
        last = symbols[-1] if symbols else None
        if last and last[0] == run[0] and last[1] + last[2] == run[1]:
            symbols[-1] = (run[0], last[1], last[2] + run[2])
        elif run[2]:
            symbols.append(run)
    return symbols


def sequence_symbols(request: Mapping[str, Any], sample: int) -> list[Symbol]:
    """Prompt and answer of one sample."""
    return [*prompt_symbols(request), *answer_symbols(request, sample)]


def answer_symbols(request: Mapping[str, Any], sample: int) -> list[Symbol]:
    """What one sample produces; beyond known ids it is its own content and has no end here."""
    answers = request.get("answer_ids")
    known = list(answers[sample]) if answers is not None else []
    own = ("output", request["first_sequence"] + sample)
    return [*known, (own, len(known), ENDLESS)]


def pages(symbols: Iterable[Symbol], size: int) -> Iterator[tuple[Symbol, ...]]:
    """The symbols of each whole page of `size` tokens: equal tokens give equal pages."""
    page: list[Symbol] = []
    missing = size
    for symbol in symbols:
        if isinstance(symbol, int):
            page.append(symbol)
            missing -= 1
            if not missing:
                yield tuple(page)
                page, missing = [], size
            continue
        content, start, length = symbol
        while length:
            taken = min(length, missing)
            page.append((content, start, taken))
            start, length, missing = start + taken, length - taken, missing - taken
            if not missing:
                yield tuple(page)
                page, missing = [], size


def are_ids(symbols: Iterable[Symbol]) -> bool:
    """Whether every one of them is a token by its id."""
    return set(map(type, symbols)) <= {int}


def parted(symbols: list[Symbol], num_tokens: int) -> tuple[list[Symbol], list[Symbol]]:
    """The first tokens of a content, all of them where it has no more, and what follows."""
    left = max(num_tokens, 0)
    if are_ids(symbols[:left]):
        return symbols[:left], symbols[left:]
    for place, symbol in enumerate(symbols):
        length = 1 if isinstance(symbol, int) else symbol[2]
        if left < length:
            head, rest = symbols[:place], symbols[place:]
            if left:
                content, start, _ = symbol
                head.append((content, start, left))
                rest[0] = (content, start + left, length - left)
            return head, rest
        left -= length
    return symbols, []


def first_tokens(symbols: list[Symbol], num_tokens: int) -> list[Symbol]:
    """The first tokens of a content, all of them where it has no more."""
    return parted(symbols, num_tokens)[0]


def without_first(symbols: list[Symbol], num_tokens: int) -> list[Symbol]:
    """What follows after the first tokens of a content."""
    return parted(symbols, num_tokens)[1]


def token_at(symbols: list[Symbol], position: int) -> Symbol | None:
    """The token at a position, a run of length 1 where it has no id; None beyond the end."""
    here = first_tokens(without_first(symbols, position), 1)
    return here[0] if here else None


def _frozen(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return tuple(tuple(part) if isinstance(part, list | tuple) else part for part in value)


def _fits(name: str, value: Any, prompt_len: int, num_samples: int) -> bool:
    if name == "answer_ids":
        return isinstance(value, tuple) and len(value) == num_samples and all(map(_is_of_numbers, value))
    if name == "prompt" and not isinstance(value, tuple):
        return type(value) is int
    if not _is_of_numbers(value):
        return False
    if name == "prompt_ids":
        return len(value) == prompt_len
    return len(value) % 3 == 0 and min(value[2::3], default=0) >= 0 and sum(value[2::3]) == prompt_len


def _is_of_numbers(value: Any) -> bool:
    return isinstance(value, tuple) and set(map(type, value)) <= {int}
